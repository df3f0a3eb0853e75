"""Measure how long work blocks the event loop."""

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import dataclass


@dataclass
class LoopUsage:
    """CPU time spent on the event loop; unlike wall time, it does not depend on the load of the machine."""

    longest_s: float = 0.0
    total_s: float = 0.0

    @property
    def share(self) -> float:
        """Return the longest loop iteration as a fraction of all CPU time; near 1 if the work blocked the loop."""
        return self.longest_s / self.total_s


async def watch_loop(work: Awaitable[object]) -> LoopUsage:
    usage = LoopUsage()
    ticking = asyncio.create_task(_tick(usage))
    await asyncio.sleep(0)
    started = time.process_time()
    try:
        await work
    finally:
        usage.total_s = time.process_time() - started
        await asyncio.sleep(0.002)
        ticking.cancel()
    return usage


async def _tick(usage: LoopUsage) -> None:
    while True:
        before = time.thread_time()
        await asyncio.sleep(0.001)
        usage.longest_s = max(usage.longest_s, time.thread_time() - before)
