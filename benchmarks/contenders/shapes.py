"""The same workflows, counted and timed in the same way for Forge and for DBOS alone."""

import time
from collections.abc import Awaitable, Callable
from typing import Literal

from benchmarks.contenders.plan import Finished
from benchmarks.contenders.turns import say, take_turns

STEPS = 10
BRANCHES = 50
CHAINS = 100
ALONE = 5

Shape = Literal["chain", "fan"]
"""Sequential or parallel steps."""
SIZES: dict[Shape, int] = {"chain": STEPS, "fan": BRANCHES}

Start = Callable[[Shape], Awaitable[object]]
"""Start a run and return at once."""
Took = Callable[[], Awaitable[float]]
"""Return the seconds of the last run from the start of its first step to the end of its last one, without queueing."""


class Shapes:
    def __init__(self, url: str, start: Start, took: Took) -> None:
        self._finished = Finished(url)
        self._start = start
        self._took = took

    async def follow(self) -> None:
        for shape in SIZES:
            await self._alone(shape)  # warm up, so that no contender is measured cold
        say("ready")
        await take_turns(self._answer)

    async def _answer(self, request: str) -> dict[str, float]:
        match request:
            case "chain" | "fan":
                return await self._alone(request)
            case _:
                return await self._together()

    async def _alone(self, shape: Shape) -> dict[str, float]:
        seconds = 0.0
        for _ in range(ALONE):
            await self._until_done(shape, 1)
            seconds += await self._took()
        return {"speed": ALONE * SIZES[shape] / seconds, "step_ms": 1000 * seconds / (ALONE * SIZES[shape])}

    async def _together(self) -> dict[str, float]:
        began = time.perf_counter()
        await self._until_done("chain", CHAINS)
        return {"speed": CHAINS * STEPS / (time.perf_counter() - began)}

    async def _until_done(self, shape: Shape, runs: int) -> None:
        target = self._finished.count() + runs
        for _ in range(runs):
            await self._start(shape)
        await self._finished.wait_for(target)
