"""Measure how long work blocks the event loop."""

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import dataclass


@dataclass
class LoopUse:
    """Processor time, so that a busy machine does not change the answer."""

    longest_s: float = 0.0
    total_s: float = 0.0

    @property
    def share(self) -> float:
        """The longest turn on the loop, as a part of all work: near 1 when everything was done on the loop."""
        return self.longest_s / self.total_s


async def watch_loop(work: Awaitable[object]) -> LoopUse:
    use = LoopUse()
    ticking = asyncio.create_task(_tick(use))
    await asyncio.sleep(0)
    began = time.process_time()
    try:
        await work
    finally:
        use.total_s = time.process_time() - began
        await asyncio.sleep(0.002)
        ticking.cancel()
    return use


async def _tick(use: LoopUse) -> None:
    while True:
        before = time.thread_time()
        await asyncio.sleep(0.001)
        use.longest_s = max(use.longest_s, time.thread_time() - before)
