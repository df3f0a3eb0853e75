"""Runs in Forge's engine: queue, journal, and an event for each change."""

import sys

from tests.support.engine import AnyInput, kind, open_engine

from benchmarks.contenders.plan import Plan
from benchmarks.loop import run
from benchmarks.stopwatch import Stopwatch
from forge.runs.attempt import StepInfo
from forge.runs.context import RunContext
from forge.store.database import Store
from forge.store.schema import migrate


async def main(url: str) -> None:
    took: list[tuple[float, float]] = []

    async def noop(_: StepInfo, number: int) -> int:
        return number

    async def chain(context: RunContext, given: AnyInput) -> None:
        watch = Stopwatch()
        for i in range((given.model_extra or {})["steps"]):
            await context.step("noop", noop, i)
        took.append(watch.read())

    store = Store(url)
    await migrate(store)
    async with open_engine(store, kind("chain", chain)) as engine:
        await Plan(url, lambda steps: engine.start("chain", steps=steps), took).follow()
    await store.close()


if __name__ == "__main__":
    run(main(sys.argv[1]))
