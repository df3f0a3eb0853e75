"""Quota of a workspace and its usage, counted rarely and updated by every write."""

import math
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from forge.workspace.filesystem.beneath import Beneath
from forge.workspace.filesystem.entries import TEMPORARY
from forge.workspace.filesystem.errors import FileTooLarge, QuotaExceeded
from forge.workspace.filesystem.paths import Parts, ProtectedNames

MAX_COUNT_AGE_S = 60.0
RECOUNT_AFTER_S = 5.0
COUNT_COST_FACTOR = 100
"""Counting may take at most 1/N of the time."""
ABANDONED_S = 3600.0


@dataclass(frozen=True, slots=True)
class Quota:
    """Limits of a workspace. `math.inf` for `files` and `total_bytes` disables counting."""

    files: float = 200_000
    total_bytes: float = 4 << 30
    file_bytes: int = 16 << 20


@dataclass(slots=True)
class _Count:
    files: int = 0
    size: int = 0
    at: float = 0.0
    took_s: float = 0.0


class Usage:
    """Tracks usage. Commands change files too, so it recounts if the count is old and before it refuses a write."""

    def __init__(
        self,
        beneath: Beneath,
        quota: Quota,
        hidden: ProtectedNames,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._beneath = beneath
        self._quota = quota
        self._hidden = hidden
        self._clock = clock
        self._count: _Count | None = None

    def check_file(self, path: str, size: int) -> None:
        if size > self._quota.file_bytes:
            raise FileTooLarge(
                f"{path[:200]!r} would be {size:,} bytes; the limit is {self._quota.file_bytes:,} bytes per file."
            )

    def check(self, *, files: int, size: int) -> None:
        """Raise QuotaExceeded if that many more files and bytes do not fit."""
        if self._quota.files == self._quota.total_bytes == math.inf:
            return
        count = self._fresh(MAX_COUNT_AGE_S)
        if self._fits(count, files, size):
            return
        if not self._fits(self._fresh(RECOUNT_AFTER_S), files, size):
            raise QuotaExceeded(
                f"The workspace is full: the limit is {self._quota.files:,} files "
                f"and {self._quota.total_bytes:,} bytes.",
                hint="Delete files you do not need, such as build output.",
            )

    def add(self, *, files: int, size: int) -> None:
        if self._count is not None:
            self._count.files += files
            self._count.size += size

    def _fits(self, count: _Count, files: int, size: int) -> bool:
        fits_files = files <= 0 or count.files + files <= self._quota.files
        fits_bytes = size <= 0 or count.size + size <= self._quota.total_bytes
        return fits_files and fits_bytes

    def _fresh(self, age_s: float) -> _Count:
        count = self._count
        if count is None or self._clock() - count.at > max(age_s, COUNT_COST_FACTOR * count.took_s):
            count = self._count = self._count_all()
        return count

    def _count_all(self) -> _Count:
        """Count everything except protected names; stop early once the quota is exceeded."""
        started = self._clock()
        count = _Count()
        waiting: list[Parts] = [()]
        while waiting and count.files <= self._quota.files and count.size <= self._quota.total_bytes:
            with suppress(OSError):
                self._count_directory(waiting.pop(), count, waiting)
        count.at = self._clock()
        count.took_s = count.at - started
        return count

    def _count_directory(self, parts: Parts, count: _Count, waiting: list[Parts]) -> None:
        with self._beneath.directory(parts, follow=False) as directory, os.scandir(directory) as found:
            for item in found:
                if not item.is_dir(follow_symlinks=False):
                    with suppress(OSError):
                        self._count_file(item, directory, count)
                elif item.name not in self._hidden:
                    waiting.append((*parts, item.name))

    def _count_file(self, item: os.DirEntry[str], directory: int, count: _Count) -> None:
        status = item.stat(follow_symlinks=False)
        if item.name.startswith(TEMPORARY) and time.time() - status.st_mtime > ABANDONED_S:
            os.unlink(item.name, dir_fd=directory)
            return
        count.files += 1
        count.size += status.st_size
