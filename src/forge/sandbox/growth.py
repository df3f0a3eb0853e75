"""How much the folders a command may write to have grown.

Asking the file system is cheap but sees everybody's writing, so it only raises the suspicion; then the folders are
looked through, for what changed since the command began.
"""

import os
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from forge.sandbox.models import End, Limits
from forge.sandbox.processes import deleted_bytes

AGAIN_AFTER_S = 0.5
CLOCK_SLACK_S = 2.0
"""File systems stamp coarsely."""
BLOCK = 512


class Growth:
    def __init__(self, folders: Iterable[Path], limits: Limits) -> None:
        self._folders = tuple(folders)
        self._limits = limits
        self._since = time.time() - CLOCK_SLACK_S
        self._before = self._free()
        self._not_before = 0.0

    def exceeded(self, pid: int) -> End | None:
        if not self._suspicious() or time.monotonic() < self._not_before:
            return None
        grown, changed = self._changed()
        if changed > self._limits.inodes:
            return End.INODES
        if grown + deleted_bytes(pid) > self._limits.disk_bytes:
            return End.DISK
        self._not_before = time.monotonic() + AGAIN_AFTER_S
        return None

    def _suspicious(self) -> bool:
        now = self._free()
        pairs = zip(self._before, now, strict=True)
        return any(
            then_bytes - now_bytes > self._limits.disk_bytes or then_files - now_files > self._limits.inodes
            for (then_bytes, then_files), (now_bytes, now_files) in pairs
        )

    def _free(self) -> list[tuple[int, int]]:
        found = [os.statvfs(folder) for folder in self._folders]
        return [(each.f_bfree * each.f_frsize, each.f_ffree) for each in found]

    def _changed(self) -> tuple[int, int]:
        total = count = 0
        todo = [str(folder) for folder in self._folders]
        while todo and count <= self._limits.inodes:
            with suppress(OSError), os.scandir(todo.pop()) as entries:
                for entry in entries:
                    with suppress(OSError):
                        found = entry.stat(follow_symlinks=False)
                        if found.st_ctime >= self._since:
                            total += found.st_blocks * BLOCK
                            count += 1
                        if entry.is_dir(follow_symlinks=False):
                            todo.append(entry.path)
        return total, count
