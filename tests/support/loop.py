"""How long the event loop stands still while something is done: nobody else is answered meanwhile."""

import asyncio
import time
from collections.abc import Awaitable
from dataclasses import dataclass


@dataclass
class Pauses:
    longest_s: float = 0.0
    whole_s: float = 0.0

    @property
    def share(self) -> float:
        """Of the whole time; near 1 when all of it was done on the loop."""
        return self.longest_s / self.whole_s


async def watch_loop(doing: Awaitable[object]) -> Pauses:
    pauses = Pauses()
    ticking = asyncio.create_task(_tick(pauses))
    await asyncio.sleep(0)
    began = time.monotonic()
    try:
        await doing
    finally:
        pauses.whole_s = time.monotonic() - began
        await asyncio.sleep(0.002)
        ticking.cancel()
    return pauses


async def _tick(pauses: Pauses) -> None:
    while True:
        before = time.monotonic()
        await asyncio.sleep(0.001)
        pauses.longest_s = max(pauses.longest_s, time.monotonic() - before)
