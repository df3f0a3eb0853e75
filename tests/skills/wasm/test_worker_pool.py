"""The worker processes: reuse, cancellation, crashes and limits."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.skills.wasm.script_runner import LIMITS, MB, SHORT, Host, run
from tests.support.timeouts import PATIENCE_S

from forge.skills.execution import Language, RunEnd, RunLimits
from forge.skills.wasm.worker_pool import WorkerPool

JS, PY = Language.JS, Language.PY
LOOP = "function run() { for (;;); }"
ECHO = "function run(input) { return input }"
BEGIN_AND_LOOP = "function run() { kv.get('begun'); for (;;); }"
LONG = RunLimits(16 * MB, 10**15, PATIENCE_S)


def pids(pool: WorkerPool) -> list[int]:
    return [member.pid for member in pool._workers]


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


async def eventually(holds: Callable[[], bool], seconds: float = PATIENCE_S) -> bool:
    deadline = time.monotonic() + seconds
    while not holds() and time.monotonic() < deadline:
        await asyncio.sleep(0.02)
    return holds()


async def test_workers_start_on_demand(tmp_path: Path):
    async with WorkerPool(tmp_path / "cache") as pool:
        assert (pids(pool), pool.protections) == ([], None)
        await run(pool, ECHO)
        assert len(pids(pool)) == 1


async def test_workers_are_reused_up_to_the_pool_size(tmp_path: Path):
    async with WorkerPool(tmp_path / "cache", size=2) as pool:
        outcomes = await asyncio.gather(*(run(pool, ECHO) for _ in range(50)))
        assert {outcome.end for outcome in outcomes} == {RunEnd.DONE}
        assert len(pids(pool)) == 2


async def test_thousand_concurrent_calls_finish_with_bounded_memory(tmp_path: Path):
    sources = {
        JS: "function run(input) { return new Uint8Array(1 << 20).fill(1).length + input.n }",
        PY: "def run(input):\n    return (1 << 20) + input['n']\n",
    }
    async with WorkerPool(tmp_path / "cache", size=2) as pool:
        calls = [
            run(pool, sources[language], language, input_json=f'{{"n": {n}}}')
            for n in range(1000)
            for language in [PY if n % 10 == 0 else JS]
        ]
        outcomes = await asyncio.gather(*calls)
        assert [outcome.output for outcome in outcomes] == [(1 << 20) + n for n in range(1000)]
        assert len(pids(pool)) == 2
        assert all(resident_bytes(pid) < 400 * MB for pid in pids(pool))


def resident_bytes(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    raise AssertionError("no VmHWM")


async def test_waiting_for_a_worker_does_not_count_towards_the_time_limit(tmp_path: Path):
    async with WorkerPool(tmp_path / "cache", size=1) as pool:
        first, second = await asyncio.gather(run(pool, LOOP, limits=SHORT), run(pool, ECHO, limits=SHORT))
        assert (first.end, second.end) == (RunEnd.TIME, RunEnd.DONE)


async def test_cancelled_call_kills_its_worker(tmp_path: Path):
    async with WorkerPool(tmp_path / "cache", size=1) as pool:
        await run(pool, ECHO)
        (pid,) = pids(pool)
        task = asyncio.create_task(
            run(pool, BEGIN_AND_LOOP, limits=LONG, host=(host := Host({"kv.get": None})))
        )
        assert await eventually(lambda: len(host.calls) == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await eventually(lambda: not is_alive(pid))
        assert (await run(pool, ECHO)).end is RunEnd.DONE


async def test_cancelled_call_cancels_its_host_operation(tmp_path: Path):
    called, cancelled = asyncio.Event(), asyncio.Event()

    async def host(op: str, args: dict[str, Any]) -> None:
        called.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async with WorkerPool(tmp_path / "cache", size=1) as pool:
        task = asyncio.create_task(run(pool, "function run() { kv.get('a') }", limits=LONG, host=host))
        await called.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(cancelled.wait(), PATIENCE_S)
        assert (await run(pool, ECHO)).end is RunEnd.DONE


async def test_waiting_calls_can_be_cancelled(tmp_path: Path):
    async with WorkerPool(tmp_path / "cache", size=1) as pool:
        busy = asyncio.create_task(run(pool, LOOP, limits=SHORT))
        waiting = [asyncio.create_task(run(pool, ECHO)) for _ in range(20)]
        assert await eventually(lambda: bool(pids(pool)))
        for task in waiting[::2]:
            task.cancel()
        remaining = await asyncio.gather(*waiting[1::2])
        assert {outcome.end for outcome in remaining} == {RunEnd.DONE}
        assert (await busy).end is RunEnd.TIME


async def test_worker_killed_during_a_call_is_replaced(tmp_path: Path):
    async with WorkerPool(tmp_path / "cache", size=1) as pool:
        task = asyncio.create_task(
            run(pool, BEGIN_AND_LOOP, limits=LONG, host=(host := Host({"kv.get": None})))
        )
        assert await eventually(lambda: len(host.calls) == 1)
        os.kill(pids(pool)[0], signal.SIGKILL)
        outcome = await task
        assert (outcome.end, outcome.error) == (RunEnd.CRASHED, "Its worker process ended unexpectedly.")
        assert (await run(pool, ECHO)).end is RunEnd.DONE


async def test_worker_killed_while_idle_is_replaced(tmp_path: Path):
    async with WorkerPool(tmp_path / "cache", size=1) as pool:
        await run(pool, ECHO)
        (pid,) = pids(pool)
        os.kill(pid, signal.SIGKILL)
        assert (await run(pool, ECHO)).end is RunEnd.DONE
        assert await eventually(lambda: pid not in pids(pool))


async def test_every_call_ends_while_workers_are_killed(tmp_path: Path):
    async with WorkerPool(tmp_path / "cache", size=2) as pool:
        calls = asyncio.gather(*(run(pool, ECHO) for _ in range(300)))
        while not calls.done():
            for pid in pids(pool)[:1]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            await asyncio.sleep(0.3)
        outcomes = await calls
        assert len(outcomes) == 300
        assert {outcome.end for outcome in outcomes} <= {RunEnd.DONE, RunEnd.CRASHED}
        assert sum(outcome.end is RunEnd.DONE for outcome in outcomes) > 200


async def test_closing_the_pool_ends_running_calls(tmp_path: Path):
    pool = WorkerPool(tmp_path / "cache", size=2)
    async with pool:
        host = Host({"kv.get": None})
        tasks = [asyncio.create_task(run(pool, BEGIN_AND_LOOP, limits=LONG, host=host)) for _ in range(2)]
        assert await eventually(lambda: len(host.calls) == 2)
        workers = pids(pool)
    assert [outcome.end for outcome in await asyncio.gather(*tasks)] == [RunEnd.CRASHED] * 2
    assert not any(map(is_alive, workers))


KILLED_SERVER = """
import asyncio, os, sys
from pathlib import Path
from forge.skills.execution import Language, Program, RunLimits
from forge.skills.wasm.worker_pool import WorkerPool

async def host(op, args):
    print(*(member.pid for member in pool._workers), flush=True)

async def main():
    global pool
    pool = WorkerPool(Path(sys.argv[1]))
    limits = RunLimits(16 << 20, 10**15, 60.0)
    source = b"function run() { console.log('here'); for (;;); }"
    await pool.run(Program(Language.JS, source), "{}", limits, host, invocation="x")

asyncio.run(main())
"""


async def test_killed_server_leaves_no_workers(tmp_path: Path):
    server = await asyncio.create_subprocess_exec(
        sys.executable, "-c", KILLED_SERVER, str(tmp_path / "cache"), stdout=subprocess.PIPE
    )
    assert server.stdout is not None
    (pid,) = map(int, (await server.stdout.readline()).split())
    assert is_alive(pid)
    server.kill()
    await server.wait()
    assert await eventually(lambda: not is_alive(pid))


@pytest.mark.skipif(sys.platform != "linux", reason="requires Linux")
async def test_pool_lists_the_protections_of_its_workers(pool: WorkerPool):
    await run(pool, ECHO)
    assert pool.protections is not None
    assert pool.protections >= {"rlimits", "no_new_privs", "seccomp"}


async def test_worker_has_an_empty_environment(pool: WorkerPool):
    await run(pool, ECHO)
    for pid in pids(pool):
        check_process(Path(f"/proc/{pid}"))


def check_process(process: Path) -> None:
    status = (process / "status").read_text()
    assert "NoNewPrivs:\t1" in status
    assert "Seccomp:\t2" in status
    if os.geteuid() == 0:
        assert (process / "environ").read_bytes() == b""
        assert (process / "cwd").readlink() == Path("/")


async def test_limits_of_each_tier_fit_both_languages(pool: WorkerPool):
    source = {
        JS: "function run(input) { return new Uint8Array(input.mb << 20).fill(1).length >> 20 }",
        PY: "def run(input):\n    return len(bytearray(input['mb'] << 20)) >> 20\n",
    }
    for language, megabytes in ((JS, 200), (PY, 200)):
        limits = RunLimits(256 * MB, LIMITS.fuel, 30.0)
        outcome = await run(
            pool, source[language], language, input_json=f'{{"mb": {megabytes}}}', limits=limits
        )
        assert (outcome.end, outcome.output) == (RunEnd.DONE, megabytes)


async def test_host_call_contains_only_operation_and_arguments(pool: WorkerPool):
    host = Host({"kv.get": None})
    await run(pool, "function run() { kv.get('a') }", host=host)
    assert host.calls == [("kv.get", {"key": "a"})]
