"""A project with a secret beside it; everything runs on both ways of opening files."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from forge.workspace.files import Files

SECRET = b"the secret that lies outside"


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
