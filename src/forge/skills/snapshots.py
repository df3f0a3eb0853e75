"""Whole skills read from disk, and kept as long as nothing about their folders is different."""

import os
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from forge.errors import TooLarge
from forge.skills.contents import (
    LEFT_OUT,
    MAX_ANY_BYTES,
    MAX_FILES,
    MAX_TOTAL_BYTES,
    Snapshot,
    snapshot_of,
    too_long,
)
from forge.workspace.entries import Bounds, EntryKind
from forge.workspace.files import Files

MAX_KEPT_BYTES = 64 << 20
SETTLED_S = 0.1
"""What changed less than this ago could change once more without looking different: clocks of disks tick slowly."""

_Mark = tuple[str, int, int, int, int, int]
_MAX_ENTRIES = 5 * MAX_FILES


@dataclass(frozen=True)
class _Kept:
    marks: list[_Mark]
    snapshot: Snapshot
    size: int


class Snapshots:
    """Of one library. Safe to use from several threads; all methods block."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._size = 0
        self._changing = Lock()

    def take(self, files: Files, name: str) -> Snapshot:
        """Of the folder of this name, which is there."""
        folder = files.root / name
        begun_ns = time.time_ns()
        marks = _marks(folder, name)
        if kept := self._find(name, marks):
            return kept
        snapshot = snapshot_of(name, read_all(files, name))
        newest = max((max(mark[3], mark[4]) for mark in marks), default=begun_ns)
        if newest < begun_ns - SETTLED_S * 1e9 and _marks(folder, name) == marks:
            self._keep(_Kept(marks, snapshot, sum(map(len, snapshot.files.values()))))
        return snapshot

    def _find(self, name: str, marks: list[_Mark]) -> Snapshot | None:
        with self._changing:
            kept = self._kept.get(name)
            if kept is None or kept.marks != marks:
                return None
            self._kept.move_to_end(name)
            return kept.snapshot

    def _keep(self, kept: _Kept) -> None:
        with self._changing:
            if old := self._kept.pop(kept.snapshot.name, None):
                self._size -= old.size
            self._kept[kept.snapshot.name] = kept
            self._size += kept.size
            while self._size > MAX_KEPT_BYTES:
                _, oldest = self._kept.popitem(last=False)
                self._size -= oldest.size


def read_all(files: Files, name: str) -> dict[str, bytes]:
    """Every regular file of a skill; links are no part of it."""
    found: dict[str, bytes] = {}
    total = 0
    for path in paths(files, name):
        content = files.read(f"{name}/{path}", limit=MAX_ANY_BYTES, follow=False)
        if content.hash is None:
            raise too_long(path, MAX_ANY_BYTES)
        found[path] = content.data
        total += content.size
        if total > MAX_TOTAL_BYTES:
            raise TooLarge(f"The skill {name} has more than {MAX_TOTAL_BYTES >> 20} MB of files.")
    return found


def paths(files: Files, name: str) -> list[str]:
    """Of its files, relative to its folder."""
    found: list[str] = []
    for entry in files.walk(name, bounds=Bounds(ignored=LEFT_OUT)):
        if entry.kind is EntryKind.FILE:
            found.append(entry.path.removeprefix(f"{name}/"))
        if len(found) > MAX_FILES:
            raise TooLarge(f"The skill {name} has more than {MAX_FILES} files.")
    return sorted(found)


def _marks(folder: Path, name: str) -> list[_Mark]:
    """What tells whether anything below a folder was touched."""
    found: list[_Mark] = []
    waiting = [""]
    while waiting:
        below = waiting.pop()
        with os.scandir(folder / below) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                path = f"{below}{entry.name}"
                times = (status.st_mtime_ns, status.st_ctime_ns)
                found.append((path, status.st_mode, status.st_size, *times, status.st_ino))
                if entry.is_dir(follow_symlinks=False) and entry.name not in LEFT_OUT:
                    waiting.append(f"{path}/")
        if len(found) > _MAX_ENTRIES:
            raise TooLarge(f"The skill {name} has more than {MAX_FILES} files.")
    return sorted(found)
