"""Reading many files at once: each directory is opened beneath the root, its files relative to it.

Quicker than one path after the other, and just as closed: a link is never followed, so nothing from outside can be
among what is read, whatever is renamed meanwhile.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

from forge.workspace.beneath import READ, Beneath
from forge.workspace.entries import IGNORED, TEMPORARY, is_usable
from forge.workspace.paths import Parts, ProtectedNames

MAX_DEPTH = 32
_PIECE = 64
_USUAL_BYTES = 1 << 16
"""Few files are larger; the others need no question about their size."""


class ScannedFile(NamedTuple):
    path: str
    data: bytes


class Piece(NamedTuple):
    """Some files of a directory: what one thread reads at a time."""

    folder: Parts
    names: list[str]


def pieces(beneath: Beneath, start: Parts, hidden: ProtectedNames) -> Iterator[Piece]:
    """All regular files below a directory: those of a directory by name, then its directories by name."""
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
    """Those whose path is wanted, without the larger ones."""
    prefix = "".join(f"{part}/" for part in piece.folder)
    with suppress(OSError), beneath.directory(piece.folder) as directory:
        for name in piece.names:
            if wanted(path := prefix + name) and (data := _read(directory, name, max_bytes)) is not None:
                yield ScannedFile(path, data)


def _look(directory: int, hidden: ProtectedNames) -> tuple[list[str], list[str]]:
    """Files and directories by name."""
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
    """Nothing when it is too large, or meanwhile no file any more."""
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
