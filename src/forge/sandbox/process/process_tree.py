"""Inspect a process tree through /proc: members, resource usage, memory mappings; kill it."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
DELETED = b" (deleted)"
IN_MEMORY = (b"/dev/zero", b"/memfd:", b"/SYSV")
BLOCK = 512

Inode = tuple[int, int]


@dataclass(frozen=True)
class Mapping:
    inode: Inode
    bytes: int
    """Lower bound: only root sees the size of parts that are not mapped."""
    is_memory: bool


def nameless_mappings(pid: int) -> Iterator[Mapping]:
    with suppress(OSError):
        for line in (PROC / f"{pid}/maps").read_bytes().splitlines():
            if line.endswith(DELETED):
                yield _parse(pid, line)


def _parse(pid: int, line: bytes) -> Mapping:
    where, _, offset, device, inode, path = line.split(maxsplit=5)
    start, end = (int(each, 16) for each in where.split(b"-"))
    major, minor = (int(each, 16) for each in device.split(b":"))
    size = int(offset, 16) + end - start
    with suppress(OSError):
        size = (PROC / f"{pid}/map_files/{start:x}-{end:x}").stat().st_blocks * BLOCK
    return Mapping((os.makedev(major, minor), int(inode)), size, path.startswith(IN_MEMORY))


PRIVATE_LINES = (b"RssAnon:", b"VmSwap:")
MEMORY_LINES = (*PRIVATE_LINES, b"RssShmem:")
KIB = 1024


@dataclass(frozen=True)
class Usage:
    memory_bytes: int
    tasks: int


def tree(pid: int) -> Iterator[int]:
    """Iterate over the process and its visible descendants."""
    todo = [pid]
    while todo:
        one = todo.pop()
        yield one
        todo += _children(one)


def usage(pid: int, enough: int) -> Usage:
    """Sum up the usage of a tree; stop once there are more than `enough` tasks, since a fork bomb outpaces
    counting."""
    memory = tasks = 0
    for one in tree(pid):
        used = _usage_of(one)
        memory += used.memory_bytes
        tasks += used.tasks
        if tasks > enough:
            break
    return Usage(memory, tasks)


def kill_tree(pid: int) -> None:
    """Kill a tree. Stop all processes first, so that none forks meanwhile."""
    for number in (signal.SIGSTOP, signal.SIGKILL):
        for one in list(tree(pid)):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(one, number)


def deleted_files(pid: int) -> Iterator[int]:
    """Yield sizes of deleted files that are still open or mapped; 0 for everything else."""
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
    """List open and mapped files of all threads, which may have separate descriptors."""
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
    """Parse /proc/PID/status as bytes: the process name in it may be invalid UTF-8."""
    memory, tasks = 0, 0
    with suppress(OSError):
        for line in (PROC / f"{pid}/status").read_bytes().split(b"\n"):
            if line.startswith(lines):
                memory += int(line.split()[1]) * KIB
            elif line.startswith(b"Threads:"):
                tasks = int(line.split()[1])
    return Usage(memory, tasks)
