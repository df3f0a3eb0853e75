"""The cost of running a command in the sandbox instead of directly, and the time until a cancelled one is dead."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median, quantiles

from benchmarks.bench import Bench
from benchmarks.report import Result, compare, missing
from forge.sandbox.models import Command, Level, Limits
from forge.sandbox.process.child_process import build_env
from forge.sandbox.sandboxes import Sandboxes
from forge.sandbox.toolchain import toolchain

ROUNDS = 15
CANCELS = 30
TEST = "def test_one():\n    assert 1 + 1 == 2\n"
LIMITS = Limits(memory_bytes=4 << 30)


def measure(bench: Bench) -> Iterator[Result]:
    workdir = bench.new_folder()
    (workdir / "test_one.py").write_text(TEST)
    with asyncio.Runner() as runner:
        sandboxes = Sandboxes(Level.PARTIAL)
        report = runner.run(sandboxes.open())
        if report.level is Level.NONE:
            yield missing("sandbox", "commands", "ms", "bare", "nothing here can lock a command in")
            return
        for what, argv in _commands().items():
            locked, bare = _contenders(runner, sandboxes, argv, workdir)
            rounds = [(locked(), bare()) for _ in bench.rounds(ROUNDS)]
            yield compare("sandbox", f"{what}, {report.backend}", "ms", "less", "bare", rounds)
        times = [runner.run(_cancel(sandboxes, workdir)) for _ in range(bench.size(CANCELS, 5))]
        p50, p95 = median(times), quantiles(times, n=20)[-1]
        yield compare(
            "sandbox", "cancel until all processes are dead, p95", "ms", "less", "p50", [(p95, p50)]
        )


def _commands() -> dict[str, tuple[str, ...]]:
    return {
        "true": ("/bin/true",),
        "python -c pass": (sys.executable, "-c", "pass"),
        "pytest, one test": (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_one.py"),
    }


def _contenders(
    runner: asyncio.Runner, sandboxes: Sandboxes, argv: tuple[str, ...], workdir: Path
) -> tuple[Callable[[], float], Callable[[], float]]:
    tools = toolchain()
    extra = {"PATH": tools.path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    venv = Path(sys.prefix)
    command = Command(argv, workdir, LIMITS, env=extra, read_only=(*tools.read_only, venv))
    env = build_env(extra, home=str(workdir), tmp=str(workdir))

    def locked() -> float:
        began = time.perf_counter()
        outcome = runner.run(sandboxes.run(command))
        if outcome.exit_code != 0:
            raise RuntimeError(f"{argv[0]} ended with {outcome}")
        return (time.perf_counter() - began) * 1000

    def bare() -> float:
        began = time.perf_counter()
        subprocess.run(argv, cwd=workdir, env=env, capture_output=True, check=True)
        return (time.perf_counter() - began) * 1000

    locked()
    bare()
    return locked, bare


async def _cancel(sandboxes: Sandboxes, workdir: Path) -> float:
    started = workdir / "started"
    started.unlink(missing_ok=True)
    argv = ("sh", "-c", "sleep 100 & touch started; sleep 100")
    task = asyncio.create_task(sandboxes.run(Command(argv, workdir)))
    while not started.exists():  # noqa: ASYNC110
        await asyncio.sleep(0.005)
    began = time.perf_counter()
    task.cancel()
    await asyncio.wait([task])
    return (time.perf_counter() - began) * 1000
