"""Memory that no process is charged for: shared, touched, and taken out of the page tables again.

How much of it there is on the whole machine is cheap to ask and raises the suspicion; then mappings are looked through.
"""

from contextlib import suppress
from pathlib import Path

from forge.sandbox.mappings import Inode, nameless_mappings
from forge.sandbox.models import End, Limits
from forge.sandbox.processes import KIB, private_bytes, tree
from forge.sandbox.scanning import Steps

MEMINFO = Path("/proc/meminfo")
BEYOND_DOUBT = 4
"""Times the limit, by which the machine's may grow while a command has any that cannot be measured."""


class SharedMemory:
    def __init__(self, limits: Limits) -> None:
        self._limit = limits.memory_bytes
        self._least = _on_the_machine()
        self._sizes: dict[Inode, int] = {}

    def look(self, pid: int) -> Steps:
        now = _on_the_machine()
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
        if sizes and grown > BEYOND_DOUBT * self._limit:
            yield End.MEMORY


def _on_the_machine() -> int:
    """In memory and swapped out. 0 where nobody knows."""
    known: dict[str, int] = {}
    with suppress(OSError):
        for line in MEMINFO.read_text().splitlines():
            name, value, *_ = line.split()
            known[name] = int(value) * KIB
    return known.get("Shmem:", 0) + known.get("SwapTotal:", 0) - known.get("SwapFree:", 0)
