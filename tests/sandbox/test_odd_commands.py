"""Unusual commands, names and folders, up to the limits of the kernel."""

import os
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.sandbox.conftest import ISOLATING, PYTHON, QUICK, Run, make

from forge.errors import Invalid
from forge.sandbox.backends.backend import Backend
from forge.sandbox.models import Command, End

AS_USER = pytest.mark.skipif(os.getuid() == 0, reason="root may enter and write everything")


@contextmanager
def closed(folder: Path, mode: int) -> Iterator[None]:
    folder.chmod(mode)
    yield
    folder.chmod(0o700)


@pytest.mark.parametrize(
    "argv", [("echo", "x" * 200_000), ("echo", *["y" * 1000] * 3000)], ids=["one", "many"]
)
async def test_too_long_arguments_are_reported(run: Run, argv: tuple[str, ...]):
    outcome = await run(*argv)
    assert (outcome.end, outcome.exit_code) == (End.NOT_STARTED, None)
    assert "Argument list too long" in outcome.stderr.text


async def test_non_utf8_arguments_reach_the_program(sandbox: Backend, tmp_path: Path):
    workdir = tmp_path / os.fsdecode(b"\xff\xfe")
    workdir.mkdir()
    argv = ("sh", "-c", 'printf "%s" "$1$GIVEN" > out', "sh", "\udc80")
    outcome = await sandbox.run(Command(argv, workdir, QUICK, env={"GIVEN": "\udc81"}))
    assert outcome.exit_code == 0, outcome
    assert (workdir / "out").read_bytes() == b"\x80\x81"


async def test_program_with_non_utf8_name_is_reported(run: Run):
    assert (await run("no-\udcff-program")).end is End.NOT_STARTED


@pytest.mark.parametrize("name", ["rechnungspruefüng.sh", "\udcff.sh", "a\rThreads: x.sh"])
async def test_process_with_non_utf8_name_is_supervised(run: Run, workdir: Path, name: str):
    """The kernel keeps its first 15 bytes, which in the first case end in the middle of a character."""
    (workdir / name).write_text("#!/bin/sh\nsleep 0.2\necho done\n")
    (workdir / name).chmod(0o755)
    outcome = await run(f"{workdir}/{name}")
    assert (outcome.exit_code, outcome.stdout.text) == (0, "done\n"), outcome


async def test_link_loop_is_refused(sandbox: Backend, tmp_path: Path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(Invalid):
        await sandbox.run(Command(("true",), tmp_path / "loop", QUICK))


@AS_USER
@pytest.mark.parametrize("mode", [0o000, 0o600])
async def test_inaccessible_folder_is_refused(sandbox: Backend, workdir: Path, mode: int):
    (workdir / "inside").mkdir()
    for folder in (workdir, workdir / "inside"):
        with closed(workdir, mode), pytest.raises(Invalid):
            await sandbox.run(Command(("true",), folder, QUICK))


@AS_USER
@pytest.mark.parametrize("backend", [name for name in ISOLATING if name == "bubblewrap"])
async def test_read_only_folder_is_refused(backend: str, workdir: Path):
    with closed(workdir, 0o500), pytest.raises(Invalid, match="cannot be written"):
        await make(backend).run(Command(("true",), workdir, QUICK))


async def test_temporary_home_is_removed(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    homes = tmp_path / "homes"
    homes.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(homes))
    script = """
        import os
        os.chdir(os.environ["HOME"])
        os.makedirs("closed/more")
        os.chmod("closed/more", 0)
        os.chmod("closed", 0)
        os.symlink("/", "link")
        for _ in range(1500):
            os.mkdir("d" * 100)
            os.chdir("d" * 100)
        open("file", "w").close()
        print("done")
    """
    outcome = await run(PYTHON, "-c", textwrap.dedent(script))
    assert outcome.stdout.text == "done\n", outcome
    assert list(homes.iterdir()) == []
