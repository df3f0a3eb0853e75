"""The tokens billed for a scripted build of 40 turns through the real loop, compared with a loop that resends
everything in each turn. Tokens are weighted by their price: written to the cache, read from it, or plain."""

import asyncio
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.agents import finish, open_agent
from tests.support.models import open_models

from benchmarks.bench import Bench
from benchmarks.report import Result, compare
from forge.agents import loop
from forge.agents.compaction import Compacted
from forge.demo.prompt_cache import Usage
from forge.store.database import Store
from forge.store.schema import migrate

TURNS = 40
ROUNDS = 5
"""Each is a build of its own."""
FILES = 24
WRITE = 1.25
READS = {"claude-opus-4-6": 0.1, "claude-opus-5-5": 0.05}
"""The price of a token read from the cache, relative to a plain one (from genai-prices)."""
NAIVE = "resending everything"


def measure(bench: Bench) -> Iterator[Result]:
    builds = [_both(bench.new_folder(), seed) for seed in bench.rounds(ROUNDS)]
    for model, read in READS.items():
        rounds = [(_billed(ours, read), float(_sent(naive))) for ours, naive in builds]
        what = f"input of a {TURNS}-turn build, at {model}'s prices"
        yield compare("tokens", what, "tokens", "less", NAIVE, rounds)


def _both(folder: Path, seed: int) -> tuple[list[Usage], list[Usage]]:
    ours = asyncio.run(build(folder / "ours", seed, compacting=True))
    return ours, asyncio.run(build(folder / "naive", seed, compacting=False))


def _billed(usages: list[Usage], read: float) -> float:
    plain = sum(usage.input_tokens for usage in usages)
    written = sum(usage.cache_creation_input_tokens for usage in usages)
    return plain + WRITE * written + read * sum(usage.cache_read_input_tokens for usage in usages)


def _sent(usages: list[Usage]) -> int:
    return sum(usage.prompt_tokens for usage in usages)


async def build(folder: Path, seed: int, *, compacting: bool) -> list[Usage]:
    """Run a build and return the usage of every request."""
    root = folder / "tree"
    root.mkdir(parents=True)
    make_project(root)
    compact = loop.compact
    if not compacting:
        loop.compact = _never
    try:
        with open_models(script(seed)) as server:
            store = Store(f"sqlite:///{folder / 'bench.db'}")
            await migrate(store)
            async with open_agent(store, server.url, root) as agent:
                run = await agent.work(DIRECTIVE)
            await store.close()
            requests = server.requests()
    finally:
        loop.compact = compact
    if len(requests) != TURNS:
        raise RuntimeError(f"the build took {len(requests)} turns and ended {run.status}: {run.output}")
    return [entry.usage for entry in requests if entry.usage]


def _never(*_: Any, **__: Any) -> Compacted | None:
    return None


def make_project(root: Path) -> None:
    """Create files of typical length, the same in every run."""
    chance = random.Random(1)
    for number in range(FILES):
        lines = [
            f"def step_{number}_{i}(value: int) -> int:\n    return value + {chance.random()}\n"
            for i in range(chance.randint(30, 220))
        ]
        (root / f"module_{number}.py").write_text("\n".join(lines))
    # `finish` is not accepted after a failing test run, and without tests unittest fails.
    (root / "test_nothing.py").write_text(
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test(self):\n        pass\n"
    )


def script(seed: int) -> dict[str, Any]:
    """Return a script that mostly reads, then changes what it read, and sometimes creates a file, as builds do."""
    chance = random.Random(seed)
    turns = [_turn(chance, number) for number in range(TURNS - 1)]
    return {
        "scenes": {
            "build": {"turns": [*turns, {"text": "It is built.", "tools": [finish()]}], "after": "stop"}
        }
    }


def _turn(chance: random.Random, number: int) -> dict[str, Any]:
    tools: list[dict[str, Any]] = [
        {"read_file": {"path": f"module_{chance.randrange(FILES)}.py"}}
        for _ in range(chance.choice([0, 1, 1, 2]))
    ]
    if number % 5 == 1:
        tools.append({"search_code": {"pattern": f"step_{chance.randrange(FILES)}_1"}})
    if number % 3 == 2 or not tools:
        body = "\n".join(f"VALUE_{i} = {chance.random()}" for i in range(chance.randint(40, 160)))
        tools.append({"write_file": {"path": f"new_{number}.py", "content": body + "\n"}})
    if number % 4 == 3:
        tools.append({"run_tests": {"command": "python3 -m unittest -v"}})
    return {"text": f"Step {number}: I look at what is there and go on. " * 2, "tools": tools}


DIRECTIVE = "Build what these contracts say.\n" + "\n".join(
    f"{number}. Module {number % FILES} keeps its functions pure, typed, tested and documented; callers are updated."
    for number in range(200)
)
