"""Looks at a tree of processes through /proc: who belongs to it, what it takes, and how to end it."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
MEMORY_LINES = ("RssAnon:", "RssShmem:", "VmSwap:")
KIB = 1024


@dataclass(frozen=True)
class Usage:
    memory_bytes: int
    tasks: int


def tree(pid: int) -> Iterator[int]:
    """The process and all its descendants, as far as they can be seen."""
    todo = [pid]
    while todo:
        one = todo.pop()
        yield one
        todo += _children(one)


def usage(pid: int, enough: int) -> Usage:
    """Stops looking when there are too many anyway: those who multiply are quicker than those who count."""
    memory = tasks = 0
    for one in tree(pid):
        used = _usage_of(one)
        memory += used.memory_bytes
        tasks += used.tasks
        if tasks > enough:
            break
    return Usage(memory, tasks)


def kill_tree(pid: int) -> None:
    """Stops everybody first, so that nobody forks while the others are killed."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for one in list(tree(pid)):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(one, number)


def deleted_bytes(pid: int) -> int:
    """The size of files that have no name any more but are held open."""
    total = 0
    for one in tree(pid):
        with suppress(OSError):
            for name in os.listdir(PROC / f"{one}/fd"):  # noqa: PTH208  # names only, and fast
                total += _deleted_size(PROC / f"{one}/fd/{name}")
    return total


def count_tasks_of(uid: int) -> int:
    total = 0
    for folder in PROC.glob("[0-9]*/task"):
        with suppress(OSError):
            if folder.stat().st_uid == uid:
                total += folder.stat().st_nlink - 2
    return total


def _deleted_size(link: Path) -> int:
    with suppress(OSError):
        found = link.stat()
        if found.st_nlink == 0:
            return found.st_blocks * 512
    return 0


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with suppress(OSError):
        for task in os.listdir(PROC / f"{pid}/task"):  # noqa: PTH208
            with suppress(OSError):
                found += map(int, (PROC / f"{pid}/task/{task}/children").read_bytes().split())
    return found


def _usage_of(pid: int) -> Usage:
    memory, tasks = 0, 0
    with suppress(OSError):
        for line in (PROC / f"{pid}/status").read_text().splitlines():
            if line.startswith(MEMORY_LINES):
                memory += int(line.split()[1]) * KIB
            elif line.startswith("Threads:"):
                tasks = int(line.split()[1])
    return Usage(memory, tasks)
