"""The cost of a skill script in a fresh instance, compared with a bare process, and of a thousand at once."""

import asyncio
import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.bench import Bench
from benchmarks.report import Result, compare, missing
from forge.skills.execution import LIMITS, Language, Program, RunEnd, RunOutcome
from forge.skills.models import Tier
from forge.skills.wasm.worker_pool import WorkerPool

CALLS = 200
ROUNDS = 10
AT_ONCE = 1000
INPUT = json.dumps({"items": [{"price": 2.5, "quantity": 4}, {"price": 1, "quantity": 3}]})
OUTPUT = {"count": 2, "total": 13.0}
SOURCES = {
    Language.JS: """\
function run({ items }) {
  return { count: items.length, total: items.reduce((sum, one) => sum + one.price * one.quantity, 0) };
}
""",
    Language.PY: """\
def run(input):
    items = input["items"]
    return {"count": len(items), "total": sum(one["price"] * one["quantity"] for one in items)}
""",
}
BARE = {
    Language.JS: "\nconst fs = require('fs');\n"
    "process.stdout.write(JSON.stringify(run(JSON.parse(fs.readFileSync(0, 'utf8')))));\n",
    Language.PY: "\nimport json, sys\njson.dump(run(json.load(sys.stdin)), sys.stdout)\n",
}
NAMES = {Language.JS: "JavaScript", Language.PY: "Python"}


def measure(bench: Bench) -> Iterator[Result]:
    with asyncio.Runner() as runner:
        pool = runner.run(_open(bench.new_folder() / "cache"))
        try:
            for language in SOURCES:
                yield _beside_a_process(bench, runner, pool, language)
            yield from _at_once(bench, runner, pool)
        finally:
            runner.run(pool.__aexit__(None, None, None))


async def _open(folder: Path) -> WorkerPool:
    return await WorkerPool(folder).__aenter__()


def _beside_a_process(bench: Bench, runner: asyncio.Runner, pool: WorkerPool, language: Language) -> Result:
    what = f"{NAMES[language]}, one call in a fresh instance, p50"
    bare = _bare(bench.new_folder(), language)
    if bare is None:
        return missing("skills", what, "ms", "process", "there is no Node on this machine")
    calls = bench.size(CALLS, 20)
    runner.run(_call(pool, language))
    rounds: list[tuple[float, float]] = []
    for _ in bench.rounds(ROUNDS):
        ours = [_timed(lambda: runner.run(_call(pool, language))) for _ in range(calls)]
        theirs = [_timed(bare) for _ in range(max(3, calls // 20))]
        rounds.append((median(ours), median(theirs)))
    return compare("skills", what, "ms", "less", "process", rounds)


def _timed(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _bare(folder: Path, language: Language) -> Callable[[], None] | None:
    program = sys.executable if language is Language.PY else shutil.which("node")
    if program is None:
        return None
    file = folder / f"skill.{language}"
    file.write_text(SOURCES[language] + BARE[language])

    def bare() -> None:
        done = subprocess.run([program, file], input=INPUT, capture_output=True, text=True, check=True)
        if json.loads(done.stdout) != OUTPUT:
            raise RuntimeError(f"{program} gave {done.stdout}")

    return bare


async def _call(pool: WorkerPool, language: Language) -> RunOutcome:
    program = Program(language, SOURCES[language].encode())
    ended = await pool.run(program, INPUT, LIMITS[Tier.UNTRUSTED], _no_host, invocation="bench")
    if (ended.end, ended.output) != (RunEnd.DONE, OUTPUT):
        raise RuntimeError(f"the skill ended with {ended}")
    return ended


async def _no_host(op: str, args: dict[str, Any]) -> None:
    raise RuntimeError(f"nobody asked for {op}")


def _at_once(bench: Bench, runner: asyncio.Runner, pool: WorkerPool) -> Iterator[Result]:
    count = bench.size(AT_ONCE, 100)
    before = _resident_mb("self")
    for language in SOURCES:
        runner.run(_many(pool, language, 4 * pool.size))
        began = time.perf_counter()
        ends = runner.run(_many(pool, language, count))
        took = time.perf_counter() - began
        lost = count - sum(ended.end is RunEnd.DONE for ended in ends)
        what = f"{NAMES[language]}, {count} calls at once, {lost} lost"
        alone = median(_timed(lambda each=language: runner.run(_call(pool, each))) for _ in range(20))
        yield compare("skills", what, "calls/s", "more", "one by one", [(count / took, 1000 / alone)])
    peak = _resident_mb("self") + sum(_resident_mb(str(member.pid)) for member in pool._workers)
    yield compare("skills", "memory of all processes, peak", "MB", "less", "before", [(peak, before)])


async def _many(pool: WorkerPool, language: Language, count: int) -> list[RunOutcome]:
    return await asyncio.gather(*(_call(pool, language) for _ in range(count)))


def _resident_mb(pid: str) -> float:
    """Return the peak memory. Pages shared by processes are counted in each of them."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0
