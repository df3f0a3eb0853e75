"""List, walk and scan directories with bounds and without following links."""

import os
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from forge.errors import ForgeError
from forge.workspace.filesystem.beneath import READ, Beneath
from forge.workspace.filesystem.paths import Parts, ProtectedNames, parse

IGNORED: frozenset[str] = frozenset(
    {".git", ".hg", ".svn", "node_modules", "bower_components", "venv", ".venv", "dist", "build"}
    | {"__pycache__", ".cache", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".tox", ".nox"}
    | {".next", ".parcel-cache", ".turbo", ".gradle"}
)
"""Generated directories: not walked and not searched unless one is named as the start."""

TEMPORARY = ".forge-writing-"
"""Prefix of temporary files during a write; a killed process may leave one."""


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
    """List a directory sorted by name, without protected and temporary files."""
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
    """Return whether a path can contain this name; other names are listed but cannot be opened."""
    if name.isascii() and name.isprintable() and "\\" not in name:
        return True
    try:
        return len(parse(name)) == 1
    except ForgeError:
        return False


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a walk."""

    entries: int = 50_000
    depth: int = 32
    ignored: Collection[str] = IGNORED


def walk_entries(beneath: Beneath, start: Parts, hidden: ProtectedNames, bounds: Bounds) -> Iterator[Entry]:
    """Walk depth first in name order, directories before their content. Skip entries that vanish."""
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


MAX_DEPTH = 32
_PIECE = 64
_USUAL_BYTES = 1 << 16
"""Most files are smaller and need no `fstat`."""


class ScannedFile(NamedTuple):
    path: str
    data: bytes


class Piece(NamedTuple):
    """A batch of files of one directory, read by one thread."""

    folder: Parts
    names: list[str]


def pieces(beneath: Beneath, start: Parts, hidden: ProtectedNames) -> Iterator[Piece]:
    """Iterate over regular files in batches: the files of a directory by name, then its subdirectories."""
    waiting: list[Parts] = [start]
    while waiting:
        folder = waiting.pop()
        with suppress(OSError):
            with beneath.directory(folder) as directory:
                names, folders = _look(directory, hidden)
            if len(folder) - len(start) < MAX_DEPTH:
                waiting += ((*folder, name) for name in reversed(folders))
            for first in range(0, len(names), _PIECE):
                yield Piece(folder, names[first : first + _PIECE])


def read_piece(
    beneath: Beneath, piece: Piece, wanted: Callable[[str], bool], max_bytes: int
) -> Iterator[ScannedFile]:
    """Read the wanted files of a batch, except those larger than `max_bytes`."""
    prefix = "".join(f"{part}/" for part in piece.folder)
    with suppress(OSError), beneath.directory(piece.folder) as directory:
        for name in piece.names:
            if wanted(path := prefix + name) and (data := _read(directory, name, max_bytes)) is not None:
                yield ScannedFile(path, data)


def _look(directory: int, hidden: ProtectedNames) -> tuple[list[str], list[str]]:
    """Return the file names and the directory names, sorted."""
    files: list[str] = []
    folders: list[str] = []
    with os.scandir(directory) as found:
        for item in found:
            if item.is_file(follow_symlinks=False):
                files.append(item.name)
            elif item.is_dir(follow_symlinks=False) and item.name not in IGNORED:
                folders.append(item.name)
    return _usable(files, hidden), _usable(folders, hidden)


def _usable(names: list[str], hidden: ProtectedNames) -> list[str]:
    return sorted(
        name for name in names if is_usable(name) and name not in hidden and not name.startswith(TEMPORARY)
    )


def _read(directory: int, name: str, max_bytes: int) -> bytes | None:
    """Return None if the file is too large or no longer a readable file."""
    try:
        descriptor = os.open(name, READ, dir_fd=directory)
    except OSError:
        return None
    try:
        data = os.read(descriptor, _USUAL_BYTES)
        if len(data) < _USUAL_BYTES:
            return data
        size = os.fstat(descriptor).st_size
        return data + os.read(descriptor, max(0, size - len(data))) if size <= max_bytes else None
    except OSError:
        return None
    finally:
        os.close(descriptor)
