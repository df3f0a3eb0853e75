"""Read whole skills from disk, and cache them until their folders change."""

import os
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from forge.errors import TooLarge
from forge.skills.format.contents import (
    IGNORED_FOLDERS,
    MAX_ANY_BYTES,
    MAX_FILES,
    MAX_TOTAL_BYTES,
    Snapshot,
    file_too_large,
    snapshot_of,
)
from forge.workspace.filesystem.entries import Bounds, EntryKind
from forge.workspace.filesystem.files import Files

MAX_CACHE_BYTES = 64 << 20
MIN_AGE_S = 0.1
"""Files changed more recently are not cached: coarse file timestamps could hide another change."""

_EntryState = tuple[str, int, int, int, int, int]
_MAX_ENTRIES = 5 * MAX_FILES


@dataclass(frozen=True)
class _CacheEntry:
    state: list[_EntryState]
    snapshot: Snapshot
    size: int


class SnapshotCache:
    """A cache of the snapshots of one library. Thread-safe; all methods block."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _CacheEntry] = OrderedDict()
        self._size = 0
        self._changing = Lock()

    def take(self, files: Files, name: str) -> Snapshot:
        """Return the snapshot of an existing folder."""
        folder = files.root / name
        begun_ns = time.time_ns()
        marks = _folder_state(folder, name)
        if kept := self._find(name, marks):
            return kept
        snapshot = snapshot_of(name, read_all(files, name))
        newest = max((max(mark[3], mark[4]) for mark in marks), default=begun_ns)
        if newest < begun_ns - MIN_AGE_S * 1e9 and _folder_state(folder, name) == marks:
            self._keep(_CacheEntry(marks, snapshot, sum(map(len, snapshot.files.values()))))
        return snapshot

    def _find(self, name: str, marks: list[_EntryState]) -> Snapshot | None:
        with self._changing:
            kept = self._kept.get(name)
            if kept is None or kept.state != marks:
                return None
            self._kept.move_to_end(name)
            return kept.snapshot

    def _keep(self, kept: _CacheEntry) -> None:
        with self._changing:
            if old := self._kept.pop(kept.snapshot.name, None):
                self._size -= old.size
            self._kept[kept.snapshot.name] = kept
            self._size += kept.size
            while self._size > MAX_CACHE_BYTES:
                _, oldest = self._kept.popitem(last=False)
                self._size -= oldest.size


def read_all(files: Files, name: str) -> dict[str, bytes]:
    """Read all regular files of a skill; links are ignored."""
    found: dict[str, bytes] = {}
    total = 0
    for path in paths(files, name):
        content = files.read(f"{name}/{path}", limit=MAX_ANY_BYTES, follow=False)
        if content.hash is None:
            raise file_too_large(path, MAX_ANY_BYTES)
        found[path] = content.data
        total += content.size
        if total > MAX_TOTAL_BYTES:
            raise TooLarge(f"The skill {name} has more than {MAX_TOTAL_BYTES >> 20} MB of files.")
    return found


def paths(files: Files, name: str) -> list[str]:
    """List the files of a skill, relative to its folder."""
    found: list[str] = []
    for entry in files.walk(name, bounds=Bounds(ignored=IGNORED_FOLDERS)):
        if entry.kind is EntryKind.FILE:
            found.append(entry.path.removeprefix(f"{name}/"))
        if len(found) > MAX_FILES:
            raise TooLarge(f"The skill {name} has more than {MAX_FILES} files.")
    return sorted(found)


def _folder_state(folder: Path, name: str) -> list[_EntryState]:
    """Return the state of all entries in a folder, to detect changes."""
    found: list[_EntryState] = []
    waiting = [""]
    while waiting:
        below = waiting.pop()
        with os.scandir(folder / below) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                path = f"{below}{entry.name}"
                times = (status.st_mtime_ns, status.st_ctime_ns)
                found.append((path, status.st_mode, status.st_size, *times, status.st_ino))
                if entry.is_dir(follow_symlinks=False) and entry.name not in IGNORED_FOLDERS:
                    waiting.append(f"{path}/")
        if len(found) > _MAX_ENTRIES:
            raise TooLarge(f"The skill {name} has more than {MAX_FILES} files.")
    return sorted(found)
