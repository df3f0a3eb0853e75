"""The same runs, counted and timed in the same way for all engines."""

import asyncio
import sqlite3
import time
from collections.abc import Awaitable, Callable
from typing import Any

import psycopg

from benchmarks.contenders.turns import say, take_turns

RUNS = 40
STEPS = 10
CHAINS = 20
CHAINS_ALONE = 5
POLL_S = 0.005

Start = Callable[[int], Awaitable[object]]
"""Start a run with this many steps and return at once."""

COUNT = {
    "sqlite": "SELECT count(*) FROM workflow_status WHERE status = 'SUCCESS'",
    "postgresql": "SELECT count(*) FROM dbos.workflow_status WHERE status = 'SUCCESS'",
}


class Finished:
    """Counts finished runs in the table of DBOS, which both engines use."""

    def __init__(self, url: str) -> None:
        kind = "sqlite" if url.startswith("sqlite") else "postgresql"
        self._count = COUNT[kind]
        self._connection: Any = (
            sqlite3.connect(url.partition(":///")[2])
            if kind == "sqlite"
            else psycopg.connect(url, autocommit=True)
        )

    def count(self) -> int:
        return self._connection.execute(self._count).fetchone()[0]

    async def wait_for(self, target: int) -> None:
        while self.count() < target:  # noqa: ASYNC110  (the table is the only thing that both engines share)
            await asyncio.sleep(POLL_S)


class Plan:
    """`took` collects the (seconds, CPU seconds) measured inside each run, so that queueing is not part of a step."""

    def __init__(self, url: str, start: Start, took: list[tuple[float, float]]) -> None:
        self._finished = Finished(url)
        self._start = start
        self._took = took

    async def follow(self) -> None:
        await self._until_done(5, STEPS)  # warm up, so that no contender is measured cold
        say("ready")
        await take_turns(lambda request: getattr(self, f"_{request}")())

    async def _runs(self) -> dict[str, float]:
        return {"speed": RUNS / await self._until_done(RUNS, 1)}

    async def _chain(self) -> dict[str, float]:
        self._took.clear()
        for _ in range(CHAINS_ALONE):
            await self._until_done(1, STEPS)
        steps = STEPS * len(self._took)
        cpu_ms = sum(cpu for _, cpu in self._took) * 1000
        return {"speed": steps / sum(wall for wall, _ in self._took), "cpu": cpu_ms / steps}

    async def _chains(self) -> dict[str, float]:
        return {"speed": CHAINS * STEPS / await self._until_done(CHAINS, STEPS)}

    async def _until_done(self, runs: int, steps: int) -> float:
        """Start this many runs, wait until they are finished, and return the seconds."""
        target, began = self._finished.count() + runs, time.perf_counter()
        for _ in range(runs):
            await self._start(steps)
        await self._finished.wait_for(target)
        return time.perf_counter() - began
