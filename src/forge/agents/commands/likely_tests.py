"""Guess the commands that run the tests of a project. People choose one; nothing is run here."""

import re
from fnmatch import fnmatch

from pydantic import BaseModel, ValidationError

from forge.errors import ForgeError
from forge.workspace.filesystem.files import Files

MAX_BYTES = 200_000
_PYTEST_FILES = ("pytest.ini", "conftest.py")
_MENTION_PYTEST = ("pyproject.toml", "setup.cfg", "tox.ini", "requirements*.txt")


class _Package(BaseModel):
    scripts: dict[str, str] = {}


def find_test_commands(files: Files) -> list[str]:
    """Return the likely test commands, the best guess first."""
    names = [entry.name for entry in files.list(".")]
    found = {
        "pytest": _uses_pytest(files, names),
        "python3 -m unittest": any(fnmatch(name, "test*.py") for name in names),
        "python3 -m unittest discover tests": "tests" in names and _has_tests(files, "tests"),
        "npm test": "package.json" in names and _has_test_script(_text(files, "package.json")),
        "cargo test": "Cargo.toml" in names,
        "go test ./...": "go.mod" in names,
        "make test": "Makefile" in names and bool(re.search(r"(?m)^test:", _text(files, "Makefile"))),
    }
    return [command for command, is_likely in found.items() if is_likely]


def _uses_pytest(files: Files, names: list[str]) -> bool:
    mentions = [name for name in names if any(fnmatch(name, pattern) for pattern in _MENTION_PYTEST)]
    return any(name in names for name in _PYTEST_FILES) or any(
        "pytest" in _text(files, name) for name in mentions
    )


def _has_tests(files: Files, folder: str) -> bool:
    try:
        return any(fnmatch(entry.name, "test*.py") for entry in files.list(folder))
    except ForgeError:  # not a directory
        return False


def _has_test_script(text: str) -> bool:
    try:
        return "test" in _Package.model_validate_json(text).scripts
    except ValidationError:
        return False


def _text(files: Files, path: str) -> str:
    """Return the text of a file; empty if it cannot be read, such as a directory of that name."""
    try:
        return files.read(path, limit=MAX_BYTES).data.decode(errors="replace")
    except ForgeError:
        return ""
