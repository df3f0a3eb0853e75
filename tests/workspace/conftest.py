"""Fixtures: a project with a secret beside it, for both ways of opening files."""

import ctypes
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.repositories import Repository, make_repository

from forge.workspace.filesystem.files import Files

SECRET = b"the secret that lies outside"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return make_repository(tmp_path / "project", {"a.py": "a = 1\n", "src/b.py": "b = 1\n"})


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A directory next to the workspace; nothing in it may ever be seen or change."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_bytes(SECRET)
    return outside


@pytest.fixture
def root(tmp_path: Path, outside: Path) -> Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "app.py").write_text("print('hello')\n")
    (root / "README.md").write_text("# Project\n")
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("[core]\n")
    return root


@pytest.fixture(params=["kernel", "walk"])
def files(request: pytest.FixtureRequest, root: Path) -> Iterator[Files]:
    with Files(root, kernel=None if request.param == "kernel" else False) as files:
        yield files


EXCHANGE = """
import ctypes, sys
libc = ctypes.CDLL(None, use_errno=True)
one, two = sys.argv[1].encode(), sys.argv[2].encode()
print(libc.renameat2(-100, one, -100, two, 2), flush=True)
while True:
    libc.renameat2(-100, one, -100, two, 2)
"""


@pytest.fixture
def exchanged(root: Path, outside: Path) -> Iterator[None]:
    """A directory and a link to the outside that continuously swap names."""
    (root / "swap").mkdir()
    (root / "swap" / "secret.txt").write_text("inside")
    (root / "other").symlink_to("../outside")
    if not hasattr(ctypes.CDLL(None), "renameat2"):
        pytest.skip("needs renameat2")
    arguments = [sys.executable, "-c", EXCHANGE, str(root / "swap"), str(root / "other")]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as process:
        assert process.stdout
        works = process.stdout.readline() == b"0\n"
        yield
        process.send_signal(signal.SIGKILL)
    if not works:
        pytest.skip("this file system cannot exchange names")
