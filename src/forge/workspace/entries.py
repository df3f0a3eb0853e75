"""What a directory holds, told without following a link and without end."""

import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum

from forge.errors import ForgeError
from forge.workspace.beneath import Beneath
from forge.workspace.paths import Parts, ProtectedNames, parse

IGNORED: frozenset[str] = frozenset(
    {".git", ".hg", ".svn", "node_modules", "bower_components", "venv", ".venv", "dist", "build"}
    | {"__pycache__", ".cache", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox"}
    | {".next", ".parcel-cache", ".turbo", ".gradle"}
)
"""Directories whose content was made by a machine: not walked and not searched unless one of them is named."""

TEMPORARY = ".forge-writing-"
"""How the name of a file begins that is being written; a killed process may leave one."""


class EntryKind(StrEnum):
    FILE = "file"
    DIR = "dir"
    LINK = "link"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Entry:
    path: str
    """Relative to the workspace."""
    kind: EntryKind
    size: int

    @property
    def name(self) -> str:
        return self.path.rpartition("/")[2]


def entry_of(parts: Parts, status: os.stat_result) -> Entry:
    return Entry("/".join(parts) or ".", kind_of(status.st_mode), status.st_size)


def kind_of(mode: int) -> EntryKind:
    if stat.S_ISREG(mode):
        return EntryKind.FILE
    if stat.S_ISDIR(mode):
        return EntryKind.DIR
    return EntryKind.LINK if stat.S_ISLNK(mode) else EntryKind.OTHER


def list_entries(beneath: Beneath, parts: Parts, hidden: ProtectedNames) -> list[Entry]:
    """Sorted by name; without what is protected or still being written."""
    with beneath.directory(parts) as directory, os.scandir(directory) as found:
        entries = [
            _entry(parts, item)
            for item in found
            if item.name not in hidden and not item.name.startswith(TEMPORARY)
        ]
    return sorted((entry for entry in entries if entry), key=lambda entry: entry.path)


def _entry(parts: Parts, item: os.DirEntry[str]) -> Entry | None:
    try:
        entry = entry_of((*parts, item.name), item.stat(follow_symlinks=False))
    except FileNotFoundError:
        return None
    if is_usable(item.name):
        return entry
    shown = entry.path.encode("utf-8", "backslashreplace").decode()
    return Entry(shown, EntryKind.OTHER, entry.size)


def is_usable(name: str) -> bool:
    """Names that no path can spell are shown, but cannot be opened."""
    if name.isascii() and name.isprintable() and "\\" not in name:
        return True
    try:
        return len(parse(name)) == 1
    except ForgeError:
        return False


@dataclass(frozen=True, slots=True)
class Bounds:
    """Where a walk ends."""

    entries: int = 50_000
    depth: int = 32
    ignored: Collection[str] = IGNORED


def walk_entries(beneath: Beneath, start: Parts, hidden: ProtectedNames, bounds: Bounds) -> Iterator[Entry]:
    """Depth first, in the order of names; a directory comes before what it holds. What vanishes is left out."""
    left = bounds.entries
    waiting = list(reversed(list_entries(beneath, start, hidden)))
    while waiting and left:
        entry = waiting.pop()
        if entry.kind is EntryKind.DIR and entry.name in bounds.ignored:
            continue
        left -= 1
        yield entry
        parts = tuple(entry.path.split("/"))
        if entry.kind is EntryKind.DIR and len(parts) - len(start) < bounds.depth:
            waiting += reversed(_list_quietly(beneath, parts, hidden))


def _list_quietly(beneath: Beneath, parts: Parts, hidden: ProtectedNames) -> list[Entry]:
    try:
        return list_entries(beneath, parts, hidden)
    except (OSError, ForgeError):
        return []
