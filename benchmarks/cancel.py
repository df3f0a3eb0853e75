"""How long parts of an agent survive a cancel: the stream of its model, and the command it runs."""

import asyncio
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import quantiles
from typing import Any

from tests.support.agents import open_agent
from tests.support.engine import ACCOUNT
from tests.support.models import open_models

from benchmarks.bench import Bench
from benchmarks.report import Result, compare
from forge.store.database import Store
from forge.store.schema import migrate

TARGET_MS = 1000.0
CANCELS = 40
SLOW = "test_slow_for_the_cancel_benchmark"
SLEEPER = "import time, unittest\nclass Slow(unittest.TestCase):\n    def test(self): time.sleep(600)\n"
TURNS: dict[str, dict[str, Any]] = {
    "a model's stream": {"text": " ".join(map(str, range(5000)))},
    "a command": {"tools": [{"run_tests": {"command": f"python3 -m unittest {SLOW}", "timeout": 300}}]},
}


def measure(bench: Bench) -> Iterator[Result]:
    for what, turn in TURNS.items():
        times = asyncio.run(_cancel_often(bench.new_folder(), turn, bench.size(CANCELS, 5)))
        p95 = quantiles(times, n=20)[-1]
        yield compare("cancel", f"until {what} is gone, p95", "ms", "less", "the target", [(p95, TARGET_MS)])


async def _cancel_often(folder: Path, turn: dict[str, Any], count: int) -> list[float]:
    root = folder / "tree"
    root.mkdir()
    (root / f"{SLOW}.py").write_text(SLEEPER)
    store = Store(f"sqlite:///{folder / 'bench.db'}")
    await migrate(store)
    times: list[float] = []
    with open_models({"scenes": {"only": {"turns": [turn]}}, "delay_s": 0.02}) as server:
        streams = _processes if "tools" in turn else lambda: server.stats().running
        async with open_agent(store, server.url, root) as agent:
            for _ in range(count):
                run = await agent.start("Begin.")
                await _until(lambda: streams() > 0)
                began = time.perf_counter()
                await agent.engine.runs.cancel(ACCOUNT, run.id, by="benchmark")
                await _until(lambda: streams() == 0)
                times.append((time.perf_counter() - began) * 1000)
    await store.close()
    return times


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110  (it waits for another process)
        await asyncio.sleep(0.002)


def _processes() -> int:
    """Return the number of processes that run the slow test, including the sandbox."""
    return sum(SLOW in _command(path) for path in Path("/proc").glob("[0-9]*/cmdline"))


def _command(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""  # the process has just ended
