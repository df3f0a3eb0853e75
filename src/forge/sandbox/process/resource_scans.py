"""Scan disk and shared memory for usage that kernel limits do not cover.

Scans can take long and run in slices, so that a command which makes them slow does not block its supervisor.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from forge.kernel.tree_removal import OPEN_FOLDER
from forge.sandbox.models import End, Limits
from forge.sandbox.process.process_tree import (
    BLOCK,
    KIB,
    Inode,
    deleted_files,
    nameless_mappings,
    private_bytes,
    tree,
)

SLICE_S = 0.03
PAUSE_S = 0.05
RESCAN_S = 0.5
"""Pause after a full scan. One without a reason for it is cheap and repeated sooner."""

ScanSteps = Iterator[End | None]
"""The small steps of a scan; the first value that is not None is the verdict."""


class SlicedScan:
    def __init__(self, begin: Callable[[], ScanSteps]) -> None:
        self._begin = begin
        self._steps: ScanSteps | None = None
        self._not_before = 0.0

    def resume(self) -> End | None:
        began = time.monotonic()
        if began < self._not_before:
            return None
        has_begun = self._steps is not None
        steps = self._steps = self._steps or self._begin()
        for verdict in steps:
            has_begun = True
            if verdict:
                return verdict
            if time.monotonic() - began > SLICE_S:
                self._not_before = time.monotonic() + PAUSE_S
                return None
        self._steps = None
        self._not_before = time.monotonic() + (RESCAN_S if has_begun else PAUSE_S)
        return None


MAX_RELATIVE_PATH = 900
"""Path length after which a folder is kept open as a new starting point; the kernel accepts 4096 bytes."""


@dataclass(frozen=True)
class FoundEntry:
    bytes: int = 0
    files: int = 0
    is_closed: bool = False
    """A changed folder that cannot be opened."""


UNCHANGED_ENTRY = FoundEntry()


class _Open:
    """An open folder, closed when nothing below it is left to visit."""

    def __init__(self, fd: int) -> None:
        self.fd = fd

    def __del__(self) -> None:
        os.close(self.fd)


@dataclass(frozen=True)
class _Todo:
    above: _Open | None
    path: str
    has_changed: bool

    def open(self) -> _Open:
        return _Open(os.open(self.path, OPEN_FOLDER, dir_fd=self.above.fd if self.above else None))

    def below(self, name: str, here: _Open, *, has_changed: bool) -> "_Todo":
        if len(self.path) > MAX_RELATIVE_PATH or self.above is None:
            return _Todo(here, name, has_changed)
        return _Todo(self.above, f"{self.path}/{name}", has_changed)


def walk(folders: Iterable[Path], since: float) -> Iterator[FoundEntry]:
    """Iterate over all entries below folders, with the size of those that changed since a time.

    Works relative to descriptors, because paths may be longer than the kernel accepts.
    """
    todo = [_Todo(None, str(folder), has_changed=False) for folder in folders]
    while todo:
        one = todo.pop()
        try:
            here = one.open()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError:
            yield FoundEntry(is_closed=one.has_changed)
            continue
        with suppress(OSError), os.scandir(here.fd) as entries:
            for entry in entries:
                entry_ = _look(entry, since)
                yield entry_
                if entry.is_dir(follow_symlinks=False):
                    todo.append(one.below(entry.name, here, has_changed=entry_ is not UNCHANGED_ENTRY))


def _look(entry: "os.DirEntry[str]", since: float) -> FoundEntry:
    with suppress(OSError):
        found = entry.stat(follow_symlinks=False)
        if found.st_ctime >= since:
            return FoundEntry(found.st_blocks * BLOCK, 1)
    return UNCHANGED_ENTRY


CLOCK_SLACK_S = 2.0
"""File systems have coarse timestamps."""
DISK_KILL_FACTOR = 4
"""A loss of this many times the limit counts without a scan."""
UNPROMPTED_SCAN_S = 4.0
"""Interval of scans that are not triggered by a loss of free space."""


class DiskGrowth:
    """Detects how much the writable folders of a command have grown.

    Free space of the file system is cheap to read but includes other writers, so a loss only triggers a scan
    of the folders. A scan also runs now and then, since concurrent deletions can hide growth. Only a loss far
    beyond the limit counts by itself: files can be hidden from a scan while they are passed between
    processes.
    """

    def __init__(self, folders: Iterable[Path], limits: Limits) -> None:
        self._folders = tuple(folders)
        self._limits = limits
        self._since = time.time() - CLOCK_SLACK_S
        self._before = self._free()
        self._anyway_at = time.monotonic() + UNPROMPTED_SCAN_S

    def look(self, pid: int) -> ScanSteps:
        gone_bytes, gone_files = self._lost_space()
        if gone_bytes > DISK_KILL_FACTOR * self._limits.disk_bytes:
            yield End.DISK
        is_suspect = gone_bytes > self._limits.disk_bytes or gone_files > self._limits.inodes
        if not is_suspect and time.monotonic() < self._anyway_at:
            return
        total = count = 0
        for entry_ in walk(self._folders, self._since):
            total += entry_.bytes
            count += entry_.files
            if entry_.is_closed and is_suspect:
                yield End.DISK if gone_bytes > self._limits.disk_bytes else End.INODES
            yield self._verdict(total, count)
        for size in deleted_files(pid):
            total += size
            yield self._verdict(total, count)
        self._anyway_at = time.monotonic() + UNPROMPTED_SCAN_S

    def _verdict(self, total: int, count: int) -> End | None:
        if count > self._limits.inodes:
            return End.INODES
        return End.DISK if total > self._limits.disk_bytes else None

    def _lost_space(self) -> tuple[int, int]:
        """Return the loss of bytes and inodes of the file system that lost most."""
        pairs = [*zip(self._before, self._free(), strict=True)]
        return max(then[0] - now[0] for then, now in pairs), max(then[1] - now[1] for then, now in pairs)

    def _free(self) -> list[tuple[int, int]]:
        return [_free_at(folder) for folder in self._folders]


def _free_at(folder: Path) -> tuple[int, int]:
    with suppress(FileNotFoundError, PermissionError):  # removed from outside
        found = os.statvfs(folder)
        return found.f_bfree * found.f_frsize, found.f_ffree
    return sys.maxsize, sys.maxsize


MEMINFO = Path("/proc/meminfo")
MEMORY_KILL_FACTOR = 4
"""Kill a command with unmeasurable shared memory when that of the machine grows by this many times the
limit."""


class SharedMemory:
    """Detects shared memory that is charged to no process.

    Shared memory of the whole machine is cheap to read; when it grows, the mappings of the command are
    inspected.
    """

    def __init__(self, limits: Limits) -> None:
        self._limit = limits.memory_bytes
        self._least = _machine_shared_memory()
        self._sizes: dict[Inode, int] = {}

    def look(self, pid: int) -> ScanSteps:
        now = _machine_shared_memory()
        self._least = min(self._least, now)
        grown = now - self._least
        if grown <= self._limit // 2:
            return
        private = 0
        sizes: dict[Inode, int] = {}
        for one in tree(pid):
            private += private_bytes(one)
            for each in nameless_mappings(one):
                if each.is_memory:
                    known = max(sizes.get(each.inode, 0), self._sizes.get(each.inode, 0))
                    sizes[each.inode] = max(known, each.bytes)
                yield None
        self._sizes = sizes
        if private + min(grown, sum(sizes.values())) > self._limit:
            yield End.MEMORY
        if sizes and grown > MEMORY_KILL_FACTOR * self._limit:
            yield End.MEMORY


def _machine_shared_memory() -> int:
    """Return shared memory of the machine, swapped memory included; 0 if unknown."""
    known: dict[str, int] = {}
    with suppress(OSError):
        for line in MEMINFO.read_text().splitlines():
            name, value, *_ = line.split()
            known[name] = int(value) * KIB
    return known.get("Shmem:", 0) + known.get("SwapTotal:", 0) - known.get("SwapFree:", 0)
