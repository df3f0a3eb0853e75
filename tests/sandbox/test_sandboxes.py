"""Selection of a backend, and refusal of commands when it is too weak."""

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
from forge.sandbox.backends.backend import Backend
from forge.sandbox.backends.launched_process import Plain
from forge.sandbox.isolation_check import check_isolation
from forge.sandbox.models import Command, End, Guarantee, Level, Outcome, Output, Refused
from forge.sandbox.process.stoppable_thread import Stop
from forge.sandbox.process.supervisor import ProcessEnd
from forge.sandbox.registry_gateway.access import Registries, RegistryAccess
from forge.sandbox.sandboxes import Candidate, Sandboxes


class Broken(Backend):
    name = "broken"

    def __init__(self) -> None:
        super().__init__(Level.NONE, Registries())

    async def run(self, command: Command) -> Outcome:
        nothing = Output("", 0, truncated=False)
        said = Output("no namespaces here", 18, truncated=False)
        return Outcome(1, End.EXITED, nothing, said, 1, self.level, self.name)

    def _run(self, command: Command, access: RegistryAccess | None, stop: Stop) -> ProcessEnd:
        raise NotImplementedError


class Missing(Broken):
    async def run(self, command: Command) -> Outcome:
        raise FileNotFoundError("it is gone")


def offer(monkeypatch: pytest.MonkeyPatch, *candidates: Candidate) -> None:
    def offered(_: Registries) -> Iterator[Candidate]:
        return iter(candidates)

    monkeypatch.setattr("forge.sandbox.sandboxes.candidates", offered)


def no_room(*_: object, **__: object) -> str:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


BROKEN = Candidate("broken", lambda _: Broken())
MISSING = Candidate("missing", lambda _: Missing())
PLAIN = Candidate("plain", lambda level: Plain(level, Registries()))


async def test_broken_backends_are_skipped_and_reported(monkeypatch: pytest.MonkeyPatch):
    offer(monkeypatch, BROKEN, MISSING, PLAIN)
    report = await Sandboxes(Level.NONE).open()
    assert (report.backend, report.level) == ("plain", Level.NONE)
    assert [(each.backend, each.why) for each in report.tried] == [
        ("broken", "no namespaces here"),
        ("missing", "it is gone"),
    ]
    assert report.guarantees[Guarantee.READS] is False
    assert report.guarantees[Guarantee.SURVIVORS] is True


async def test_non_utf8_process_arguments_do_not_confuse_probe():
    with subprocess.Popen([PYTHON, "-c", "input()", b"\xff"], stdin=subprocess.PIPE) as odd:  # noqa: ASYNC220
        observed = await check_isolation(PLAIN.make(Level.NONE))
        odd.kill()
    assert observed.guarantees[Guarantee.PROCESS_LIST] is False


async def test_command_below_required_level_is_refused(monkeypatch: pytest.MonkeyPatch, workdir: Path):
    offer(monkeypatch, PLAIN)
    with pytest.raises(SandboxTooWeak) as refused:
        await Sandboxes(Level.ISOLATED).run(Command(("touch", "ran"), workdir))
    assert refused.value.message == (
        "Commands can only be run without isolation here, and the settings require isolated."
    )
    assert "bubblewrap" in str(refused.value.hint)
    assert "FORGE_SANDBOX_REQUIRED=none" in str(refused.value.hint)
    assert not (workdir / "ran").exists()


async def test_weaker_level_can_be_accepted(monkeypatch: pytest.MonkeyPatch, workdir: Path):
    offer(monkeypatch, PLAIN)
    outcome = await Sandboxes(Level.NONE).run(Command(("true",), workdir))
    assert (outcome.exit_code, outcome.level, outcome.backend) == (0, Level.NONE, "plain")


async def test_backends_are_checked_once(monkeypatch: pytest.MonkeyPatch, workdir: Path):
    times = 0

    def offered(_: Registries) -> Iterator[Candidate]:
        nonlocal times
        times += 1
        yield PLAIN

    monkeypatch.setattr("forge.sandbox.sandboxes.candidates", offered)
    sandboxes = Sandboxes(Level.NONE)
    assert sandboxes.report is None
    await asyncio.gather(*(sandboxes.run(Command(("true",), workdir)) for _ in range(3)))
    assert times == 1
    assert sandboxes.report == await sandboxes.open()


async def test_failed_check_is_reported_and_not_cached(monkeypatch: pytest.MonkeyPatch, workdir: Path):
    sandboxes = Sandboxes(Level.ISOLATED)
    with monkeypatch.context() as full:
        full.setattr(tempfile, "mkdtemp", no_room)
        with pytest.raises(Unavailable) as refused:
            await sandboxes.run(Command(("true",), workdir))
        report = await sandboxes.open()
    assert refused.value.code == "unavailable"
    assert refused.value.message == "The sandbox is not available: [Errno 28] No space left on device"
    assert refused.value.hint == "Fix the problem and try again: the next command repeats the check."
    assert Refused(backend=report.backend, why="[Errno 28] No space left on device") in report.tried
    assert not any(report.guarantees[each] for each in Guarantee)
    assert sandboxes.report is None
    if "bubblewrap" in ISOLATING:
        assert (await sandboxes.run(Command(("true",), workdir))).level is Level.ISOLATED


async def test_unknown_machine_uses_weaker_backend(monkeypatch: pytest.MonkeyPatch, workdir: Path):
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    sandboxes = Sandboxes(Level.NONE)
    outcome = await sandboxes.run(Command(("true",), workdir))
    assert (outcome.exit_code, outcome.backend) == (0, "plain")
    report = await sandboxes.open()
    assert {each.why for each in report.tried} == {
        "system calls cannot be filtered on riscv64: their numbers are unknown"
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


def test_default_required_level_is_isolated():
    assert Level(Settings.model_fields["sandbox_required"].default) is Level.ISOLATED
