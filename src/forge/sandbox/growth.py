"""How much the folders a command may write to have grown.

Asking the file system is cheap but sees everybody's writing, so it only raises the suspicion; then the folders are
looked through, for what changed since the command began; and now and then without it, since somebody else who deletes
hides what a command writes. Only when much more than the command may take is gone from the file system is that enough by
itself: files can be hidden from everybody, on their way from process to process.
"""

import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from forge.sandbox.models import End, Limits
from forge.sandbox.processes import deleted_files
from forge.sandbox.scanning import Steps
from forge.sandbox.walking import walk

CLOCK_SLACK_S = 2.0
"""File systems stamp coarsely."""
BEYOND_DOUBT = 4
"""Times the limit."""
ANYWAY_S = 4.0
"""Between two looks without a suspicion."""


class Growth:
    def __init__(self, folders: Iterable[Path], limits: Limits) -> None:
        self._folders = tuple(folders)
        self._limits = limits
        self._since = time.time() - CLOCK_SLACK_S
        self._before = self._free()
        self._anyway_at = time.monotonic() + ANYWAY_S

    def look(self, pid: int) -> Steps:
        gone_bytes, gone_files = self._gone()
        if gone_bytes > BEYOND_DOUBT * self._limits.disk_bytes:
            yield End.DISK
        is_suspect = gone_bytes > self._limits.disk_bytes or gone_files > self._limits.inodes
        if not is_suspect and time.monotonic() < self._anyway_at:
            return
        total = count = 0
        for seen in walk(self._folders, self._since):
            total += seen.bytes
            count += seen.files
            if seen.is_closed and is_suspect:
                yield End.DISK if gone_bytes > self._limits.disk_bytes else End.INODES
            yield self._verdict(total, count)
        for size in deleted_files(pid):
            total += size
            yield self._verdict(total, count)
        self._anyway_at = time.monotonic() + ANYWAY_S

    def _verdict(self, total: int, count: int) -> End | None:
        if count > self._limits.inodes:
            return End.INODES
        return End.DISK if total > self._limits.disk_bytes else None

    def _gone(self) -> tuple[int, int]:
        """Of the file system that lost most."""
        pairs = [*zip(self._before, self._free(), strict=True)]
        return max(then[0] - now[0] for then, now in pairs), max(then[1] - now[1] for then, now in pairs)

    def _free(self) -> list[tuple[int, int]]:
        return [_free_at(folder) for folder in self._folders]


def _free_at(folder: Path) -> tuple[int, int]:
    with suppress(FileNotFoundError, PermissionError):  # somebody outside took it away
        found = os.statvfs(folder)
        return found.f_bfree * found.f_frsize, found.f_ffree
    return sys.maxsize, sys.maxsize
