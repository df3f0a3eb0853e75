"""How much a workspace may hold, and how much it holds: counted rarely, kept up to date by every write."""

import math
import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from forge.workspace.beneath import Beneath
from forge.workspace.entries import TEMPORARY
from forge.workspace.errors import FileTooLarge, QuotaExceeded
from forge.workspace.paths import Parts, ProtectedNames

FRESH_S = 60.0
RECOUNT_AFTER_S = 5.0
COST_SHARE = 100
"""Counting may take one part of this many of the time."""
ABANDONED_S = 3600.0


@dataclass(frozen=True, slots=True)
class Quota:
    """The first two are `math.inf` where nobody counts."""

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
    """A running account. Commands change files too, so it is counted anew when old, and before anyone is refused."""

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
                f"{path[:200]!r} would have {size:,} bytes; a file may have {self._quota.file_bytes:,}."
            )

    def check(self, *, files: int, size: int) -> None:
        """Whether so much more fits."""
        if self._quota.files == self._quota.total_bytes == math.inf:
            return
        count = self._fresh(FRESH_S)
        if self._fits(count, files, size):
            return
        if not self._fits(self._fresh(RECOUNT_AFTER_S), files, size):
            raise QuotaExceeded(
                f"The workspace is full: it may hold {self._quota.files:,} files "
                f"and {self._quota.total_bytes:,} bytes.",
                hint="Delete what is not needed, such as build results.",
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
        if count is None or self._clock() - count.at > max(age_s, COST_SHARE * count.took_s):
            count = self._count = self._count_all()
        return count

    def _count_all(self) -> _Count:
        """All there is except what is protected; stops early when it is too much anyway."""
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
