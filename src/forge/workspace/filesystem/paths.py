"""Parse and validate workspace paths before they reach the operating system.

A path is relative, with `/` between its names. What another system might read differently (a backslash, a
control character, `..`, half a surrogate pair) is refused rather than interpreted.
"""

import unicodedata
from collections.abc import Collection

from forge.workspace.filesystem.errors import PathRefused

Parts = tuple[str, ...]

PROTECTED: frozenset[str] = frozenset({".git"})
"""Names whose content is never read, listed or written: git runs commands that are configured there."""

MAX_PATH_BYTES = 4096
MAX_NAME_BYTES = 255
MAX_DEPTH = 128

_HINT = "Give a path relative to the workspace, such as src/app.py."


def parse(path: str) -> Parts:
    """Split a path into its names; the workspace itself is an empty tuple."""
    _check_text(path)
    parts = tuple(name for name in path.split("/") if name not in ("", "."))
    if path.startswith("/"):
        raise _refused(path, "it is absolute")
    if ".." in parts:
        raise _refused(path, "it contains '..'")
    if len(parts) > MAX_DEPTH:
        raise _refused(path, f"it has more than {MAX_DEPTH} levels")
    if any(len(name.encode()) > MAX_NAME_BYTES for name in parts):
        raise _refused(path, f"a name in it is longer than {MAX_NAME_BYTES} bytes")
    return parts


def _check_text(path: str) -> None:
    if not path:
        raise _refused(path, "it is empty")
    if not path.isprintable() and (reason := _unprintable(path)):
        raise _refused(path, reason)
    if "\\" in path:
        raise _refused(path, "it contains a backslash")
    if len(path) > MAX_PATH_BYTES or len(path.encode()) > MAX_PATH_BYTES:
        raise _refused(path, f"it is longer than {MAX_PATH_BYTES} bytes")


def _unprintable(path: str) -> str | None:
    """Reject control characters only: blanks and joiners are not printable to Python but valid in names."""
    kinds = {unicodedata.category(character) for character in path}
    if "Cc" in kinds:
        return "it contains a control character"
    if "Cs" in kinds:
        return "it is not valid Unicode"
    return "it contains a line break" if kinds & {"Zl", "Zp"} else None


def _refused(path: str, reason: str) -> PathRefused:
    return PathRefused(f"The path {path[:100]!r} is refused: {reason}.", hint=_HINT)


class ProtectedNames:
    """Recognizes protected names in every spelling that a file system may treat as equal."""

    def __init__(self, names: Collection[str] = PROTECTED) -> None:
        folded = {fold(name) for name in names}
        short = {f"{name.lstrip('.')[:6]}~{number}" for name in folded for number in range(1, 10)}
        self._names = folded | short

    def __contains__(self, name: str) -> bool:
        return fold(name) in self._names

    def check(self, parts: Parts) -> None:
        for name in parts:
            if name in self:
                raise PathRefused(f"{name[:100]!r} is protected: it is not part of the workspace's files.")


def fold(name: str) -> str:
    """Normalize names that some file system treats as equal: case, Unicode forms, ignored characters,
    trailing dots and blanks, streams after a colon."""
    if name.isascii():
        return name.lower().partition(":")[0].rstrip(". ")
    visible = "".join(c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) != "Cf")
    return unicodedata.normalize("NFKC", visible.casefold()).partition(":")[0].rstrip(". ")
