"""What processes have mapped into memory that has no name in any folder: /proc tells who, and root also how large."""

import os
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
    """At least; others than root see only as far as it is mapped."""
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
