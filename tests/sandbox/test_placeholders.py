"""Placeholders of missing protected names, with several processes in one folder of which one dies."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.sandbox.conftest import ISOLATING, QUICK, Run, make, runner
from tests.sandbox.test_running import files_in, until

from forge.sandbox.models import Command

pytestmark = pytest.mark.skipif("bubblewrap" not in ISOLATING, reason="needs bubblewrap")

ADD_HOOK = "mkdir -p .git/hooks && touch .git/hooks/pre-commit"
PLATFORM = """
    import asyncio, sys
    from pathlib import Path
    from forge.sandbox.sandboxes import candidates
    from forge.sandbox.models import Command, Level
    from forge.sandbox.registry_gateway.access import Registries
    [candidate, *_] = [each for each in candidates(Registries()) if each.name == "bubblewrap"]
    asyncio.run(candidate.make(Level.NONE).run(Command(("sh", "-c", sys.argv[2]), Path(sys.argv[1]))))
"""


def waiting_for(name: str, started: str) -> str:
    return f"touch {started}; until [ -e {name} ]; do sleep 0.02; done"


@pytest.fixture
def run(workdir: Path) -> Run:
    return runner(make("bubblewrap"), workdir)


@contextmanager
def another_platform(workdir: Path, script: str) -> Iterator["subprocess.Popen[bytes]"]:
    argv = [sys.executable, "-c", textwrap.dedent(PLATFORM), str(workdir), script]
    with subprocess.Popen(argv) as platform:
        try:
            yield platform
        finally:
            platform.kill()


async def test_placeholder_survives_end_of_first_process(run: Run, workdir: Path):
    with another_platform(workdir, waiting_for("end", "first")) as platform:
        await until((workdir / "first").exists)
        second = asyncio.create_task(run("sh", "-c", f"{waiting_for('go', 'second')}; {ADD_HOOK}"))  # type: ignore[arg-type]
        await until((workdir / "second").exists)
        (workdir / "end").touch()
        assert await asyncio.to_thread(platform.wait) == 0
    (workdir / "go").touch()
    outcome = await second
    assert "Read-only file system" in outcome.stderr.text, outcome
    assert not (workdir / ".git").exists()


async def test_placeholder_of_killed_process_is_removed(run: Run, workdir: Path):
    with another_platform(workdir, waiting_for("never", "started")) as platform:
        await until((workdir / "started").exists)
        os.kill(platform.pid, signal.SIGKILL)
        platform.wait()
    assert files_in(workdir / ".git") == []
    assert (await run("true")).exit_code == 0
    assert not (workdir / ".git").exists()


async def test_concurrent_commands_are_protected(run: Run, workdir: Path):
    outcomes = await asyncio.gather(*(run("sh", "-c", ADD_HOOK) for _ in range(10)))
    assert all("Read-only file system" in outcome.stderr.text for outcome in outcomes)
    assert not (workdir / ".git").exists()


async def test_concurrently_created_content_is_kept(run: Run, workdir: Path):
    command = asyncio.create_task(run("sh", "-c", waiting_for("end", "started")))  # type: ignore[arg-type]
    await until((workdir / "started").exists)
    (workdir / ".git/HEAD").touch()
    (workdir / "end").touch()
    await command
    assert files_in(workdir / ".git") == [workdir / ".git/HEAD"]


async def test_empty_folder_with_other_name_is_kept(workdir: Path):
    (workdir / "evidence").mkdir()
    command = Command(("touch", "evidence/forged"), workdir, QUICK, protected=(".git", "evidence", "none"))
    outcome = await make("bubblewrap").run(command)
    assert "Read-only file system" in outcome.stderr.text, outcome
    assert files_in(workdir) == [workdir / "evidence"]


async def test_git_file_is_kept(run: Run, workdir: Path):
    (workdir / ".git").write_text("gitdir: elsewhere\n")
    assert (await run("sh", "-c", "echo x > .git")).exit_code != 0
    assert (workdir / ".git").read_text() == "gitdir: elsewhere\n"
