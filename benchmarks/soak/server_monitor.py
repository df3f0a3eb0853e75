"""Measure a server from outside: memory, handles, threads, child processes and files; plus its own counts of tasks."""

import asyncio
import json
import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.memory import cpu_s, memory_mb

Numbers = dict[str, float]
MB = 2**20
PATIENCE_S = 60


@dataclass(frozen=True)
class Sample:
    at_s: float
    """Since the start of the load."""
    done: int
    """The number of finished pieces of work."""
    numbers: Numbers


@dataclass
class ServerMonitor:
    """A server to measure. `folder` contains the data directory `data`, the folder for temporary files `tmp`, and its
    counts."""

    pid: int
    folder: Path
    began: float = field(default_factory=time.monotonic)

    def sample(self, done: int) -> Sample:
        return Sample(time.monotonic() - self.began, done, self._numbers())

    def counts(self) -> dict[str, Any]:
        return json.loads((self.folder / "counts.json").read_text())

    async def collected(self) -> dict[str, Any]:
        """Return the server's counts, with types of objects, after a garbage collection."""
        asked = self.counts()["asked"]
        os.kill(self.pid, signal.SIGUSR1)
        async with asyncio.timeout(PATIENCE_S):
            while (found := self.counts())["asked"] == asked:  # noqa: ASYNC110  (it waits for another process)
                await asyncio.sleep(0.1)
        return found

    def _numbers(self) -> Numbers:
        children, counts, handles = _below(self.pid), self.counts(), _handles(self.pid)
        sockets = [each for each in handles if each.startswith("socket:")]
        data = self.folder / "data"
        return {
            "memory": memory_mb(self.pid),
            "memory of child processes": sum(_memory_of(child) for child in children),
            "child processes": len(children),
            "threads": _threads(self.pid),
            "open files": len(handles) - len(sockets),
            "sockets": len(sockets),
            "tasks": sum(counts["tasks"].values()),
            "objects": counts["objects"] / 1000,
            "temporary files": sum(len(files) for _, _, files in os.walk(self.folder / "tmp")),
            "write-ahead log": _size(data / "forge.db-wal"),
            "log files": sum(_size(path) for path in data.glob("logs/*")),
            "database": _size(data / "forge.db"),
            "CPU": cpu_s(self.pid),
        }


def _below(pid: int) -> list[int]:
    """Return its child processes, recursively."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # the process has just ended
        parents.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found: list[int] = []
    left = [pid]
    while left:
        below = parents.get(left.pop(), [])
        found += below
        left += below
    return found


def _memory_of(pid: int) -> float:
    try:
        return memory_mb(pid)
    except OSError:
        return 0.0


def _handles(pid: int) -> list[str]:
    found: list[str] = []
    for path in Path(f"/proc/{pid}/fd").iterdir():
        try:
            found.append(str(path.readlink()))
        except OSError:
            continue  # closed meanwhile
    return found


def _threads(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def _size(path: Path) -> float:
    try:
        return path.stat().st_size / MB
    except FileNotFoundError:
        return 0.0
