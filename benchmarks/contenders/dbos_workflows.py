"""The same workflows written by hand for DBOS alone, configured as in Forge: no definitions, events or gates."""

import asyncio
import sys
from typing import Any

from dbos import DBOS

from benchmarks.contenders.dbos_runs import QUEUE, dbos_config
from benchmarks.contenders.shapes import SIZES, Shape, Shapes
from benchmarks.loop import run
from benchmarks.stopwatch import Stopwatch
from forge.runs.dbos_patches import MAX_QUEUE_WAIT_S


async def main(url: str) -> None:
    took: list[float] = []
    DBOS(config=dbos_config(url))

    async def noop(number: int) -> int:
        return number

    def step(number: int) -> Any:
        return DBOS.run_step_async({"name": "noop"}, noop, number)

    @DBOS.workflow(name="chain")
    async def chain() -> None:
        watch = Stopwatch()
        for i in range(SIZES["chain"]):
            await step(i)
        took.append(watch.read()[0])

    @DBOS.workflow(name="fan")
    async def fan() -> None:
        watch = Stopwatch()
        await asyncio.gather(*map(step, range(SIZES["fan"])))
        took.append(watch.read()[0])

    shapes = {"chain": chain, "fan": fan}

    async def start(shape: Shape) -> object:
        return await DBOS.enqueue_workflow_async(QUEUE, shapes[shape])

    async def last_took() -> float:
        return took[-1]

    DBOS.launch()
    await DBOS.register_queue_async(QUEUE, polling_interval_sec=MAX_QUEUE_WAIT_S)
    await Shapes(url, start, last_took).follow()
    DBOS.destroy()


if __name__ == "__main__":
    run(main(sys.argv[1]))
