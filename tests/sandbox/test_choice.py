"""Which back end is taken, and what happens when it is too weak."""

import asyncio
import errno
import os
import platform
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.sandbox.conftest import ISOLATING, PYTHON

from forge.config import Settings
from forge.errors import SandboxTooWeak, Unavailable
from forge.sandbox import choice
from forge.sandbox.backends import Candidate
from forge.sandbox.models import Command, End, Guarantee, Level, Outcome, Output, Refused
from forge.sandbox.plain import Plain
from forge.sandbox.registry import Registries
from forge.sandbox.selftest import observe


class Broken:
    name = "broken"
    level = Level.NONE

    async def run(self, command: Command) -> Outcome:
        nothing = Output("", 0, truncated=False)
        said = Output("no namespaces here", 18, truncated=False)
        return Outcome(1, End.EXITED, nothing, said, 1, self.level, self.name)


class Missing(Broken):
    async def run(self, command: Command) -> Outcome:
        raise FileNotFoundError("it is gone")


def offer(monkeypatch: pytest.MonkeyPatch, *candidates: Candidate) -> None:
    def offered(_: Registries) -> Iterator[Candidate]:
        return iter(candidates)

    monkeypatch.setattr(choice, "candidates", offered)


def no_room(*_: object, **__: object) -> str:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


BROKEN = Candidate("broken", lambda _: Broken())
MISSING = Candidate("missing", lambda _: Missing())
PLAIN = Candidate("plain", lambda level: Plain(level, Registries()))


async def test_back_ends_that_do_not_work_are_passed_over_and_told(monkeypatch: pytest.MonkeyPatch):
    offer(monkeypatch, BROKEN, MISSING, PLAIN)
    report = await choice.Sandboxes(Level.NONE).open()
    assert (report.backend, report.level) == ("plain", Level.NONE)
    assert [(each.backend, each.why) for each in report.tried] == [
        ("broken", "no namespaces here"),
        ("missing", "it is gone"),
    ]
    assert report.guarantees[Guarantee.READS] is False
    assert report.guarantees[Guarantee.SURVIVORS] is True


async def test_a_process_with_arguments_that_are_no_text_hides_no_others_from_the_probe():
    with subprocess.Popen([PYTHON, "-c", "input()", b"\xff"], stdin=subprocess.PIPE) as odd:  # noqa: ASYNC220
        observed = await observe(PLAIN.make(Level.NONE))
        odd.kill()
    assert observed.guarantees[Guarantee.PROCESS_LIST] is False


async def test_a_command_is_refused_below_the_level_that_is_required(
    monkeypatch: pytest.MonkeyPatch, workdir: Path
):
    offer(monkeypatch, PLAIN)
    with pytest.raises(SandboxTooWeak) as refused:
        await choice.Sandboxes(Level.ISOLATED).run(Command(("touch", "ran"), workdir))
    assert refused.value.message == (
        "Commands can only be run without isolation here, and the settings require isolated."
    )
    assert "bubblewrap" in str(refused.value.hint)
    assert "FORGE_SANDBOX_REQUIRED=none" in str(refused.value.hint)
    assert not (workdir / "ran").exists()


async def test_a_weaker_level_can_be_accepted(monkeypatch: pytest.MonkeyPatch, workdir: Path):
    offer(monkeypatch, PLAIN)
    outcome = await choice.Sandboxes(Level.NONE).run(Command(("true",), workdir))
    assert (outcome.exit_code, outcome.level, outcome.backend) == (0, Level.NONE, "plain")


async def test_the_machine_is_tried_out_once(monkeypatch: pytest.MonkeyPatch, workdir: Path):
    times = 0

    def offered(_: Registries) -> Iterator[Candidate]:
        nonlocal times
        times += 1
        yield PLAIN

    monkeypatch.setattr(choice, "candidates", offered)
    sandboxes = choice.Sandboxes(Level.NONE)
    assert sandboxes.report is None
    await asyncio.gather(*(sandboxes.run(Command(("true",), workdir)) for _ in range(3)))
    assert times == 1
    assert sandboxes.report == await sandboxes.open()


async def test_what_keeps_all_of_them_from_being_tried_out_is_told_and_does_not_last(
    monkeypatch: pytest.MonkeyPatch, workdir: Path
):
    sandboxes = choice.Sandboxes(Level.ISOLATED)
    with monkeypatch.context() as full:
        full.setattr(tempfile, "mkdtemp", no_room)
        with pytest.raises(Unavailable) as refused:
            await sandboxes.run(Command(("true",), workdir))
        report = await sandboxes.open()
    assert refused.value.code == "unavailable"
    assert refused.value.message == "Commands cannot be locked in for now: [Errno 28] No space left on device"
    assert refused.value.hint == "Mend that, and do it again: the next command tries it out anew."
    assert Refused(backend=report.backend, why="[Errno 28] No space left on device") in report.tried
    assert not any(report.guarantees[each] for each in Guarantee)
    assert sandboxes.report is None
    if "bubblewrap" in ISOLATING:
        assert (await sandboxes.run(Command(("true",), workdir))).level is Level.ISOLATED


async def test_a_machine_whose_system_calls_are_unknown_has_a_weaker_back_end(
    monkeypatch: pytest.MonkeyPatch, workdir: Path
):
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    sandboxes = choice.Sandboxes(Level.NONE)
    outcome = await sandboxes.run(Command(("true",), workdir))
    assert (outcome.exit_code, outcome.backend) == (0, "plain")
    report = await sandboxes.open()
    assert {each.why for each in report.tried} == {
        "the system calls of riscv64 are not known, so they cannot be filtered"
    }


@pytest.mark.parametrize(
    ("has", "required", "enough"),
    [
        (Level.ISOLATED, Level.ISOLATED, True),
        (Level.ISOLATED, Level.NONE, True),
        (Level.PARTIAL, Level.ISOLATED, False),
        (Level.PARTIAL, Level.PARTIAL, True),
        (Level.NONE, Level.PARTIAL, False),
        (Level.NONE, Level.NONE, True),
    ],
)
def test_levels_are_ordered(has: Level, required: Level, enough: bool):
    assert has.satisfies(required) is enough


def test_the_setting_asks_for_isolation_by_default():
    assert Level(Settings.model_fields["sandbox_required"].default) is Level.ISOLATED
