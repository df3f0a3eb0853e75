"""Looks at a tree of processes through /proc: who belongs to it, what it takes, and how to end it."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from forge.sandbox.mappings import BLOCK, PROC, Inode, nameless_mappings

PRIVATE_LINES = (b"RssAnon:", b"VmSwap:")
MEMORY_LINES = (*PRIVATE_LINES, b"RssShmem:")
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


def deleted_files(pid: int) -> Iterator[int]:
    """The sizes of files that have no name any more but are held, open or mapped; 0 for everything else."""
    known: set[Inode] = set()
    for one in tree(pid):
        for inode, size in _held(one):
            yield 0 if inode in known else size
            known.add(inode)


def private_bytes(pid: int) -> int:
    return _usage_of(pid, PRIVATE_LINES).memory_bytes


def count_tasks_of(uid: int) -> int:
    total = 0
    for folder in PROC.glob("[0-9]*/task"):
        with suppress(OSError):
            if folder.stat().st_uid == uid:
                total += folder.stat().st_nlink - 2
    return total


def _held(pid: int) -> Iterator[tuple[Inode, int]]:
    """Threads may have files of their own."""
    for task in _names(PROC / f"{pid}/task"):
        for name in _names(PROC / f"{pid}/task/{task}/fd"):
            with suppress(OSError):
                found = (PROC / f"{pid}/task/{task}/fd/{name}").stat()
                is_gone = found.st_nlink == 0
                yield (found.st_dev, found.st_ino), found.st_blocks * BLOCK if is_gone else 0
    for mapping in nameless_mappings(pid):
        yield mapping.inode, 0 if mapping.is_memory else mapping.bytes


def _names(folder: Path) -> list[str]:
    with suppress(OSError):
        return os.listdir(folder)  # noqa: PTH208  # names only, and fast
    return []


def _children(pid: int) -> list[int]:
    found: list[int] = []
    for task in _names(PROC / f"{pid}/task"):
        with suppress(OSError):
            found += map(int, (PROC / f"{pid}/task/{task}/children").read_bytes().split())
    return found


def _usage_of(pid: int, lines: tuple[bytes, ...] = MEMORY_LINES) -> Usage:
    """The name in there is any 15 bytes but a new line, and may end in the middle of a character."""
    memory, tasks = 0, 0
    with suppress(OSError):
        for line in (PROC / f"{pid}/status").read_bytes().split(b"\n"):
            if line.startswith(lines):
                memory += int(line.split()[1]) * KIB
            elif line.startswith(b"Threads:"):
                tasks = int(line.split()[1])
    return Usage(memory, tasks)
