"""The processes themselves: taken, killed, replaced, bounded, and none of them left behind."""

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
from tests.skills.wasm.running import LIMITS, MB, SHORT, Host, run
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


def is_there(pid: int) -> bool:
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


async def test_nothing_is_started_before_it_is_needed(tmp_path: Path):
    async with WorkerPool(tmp_path / "cache") as pool:
        assert (pids(pool), pool.protections) == ([], None)
        await run(pool, ECHO)
        assert len(pids(pool)) == 1


async def test_workers_are_reused_up_to_the_pool_size(tmp_path: Path):
    async with WorkerPool(tmp_path / "cache", size=2) as pool:
        ends = await asyncio.gather(*(run(pool, ECHO) for _ in range(50)))
        assert {ended.end for ended in ends} == {RunEnd.DONE}
        assert len(pids(pool)) == 2


async def test_a_thousand_calls_at_once_all_end_and_memory_stays_bounded(tmp_path: Path):
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
        ends = await asyncio.gather(*calls)
        assert [ended.output for ended in ends] == [(1 << 20) + n for n in range(1000)]
        assert len(pids(pool)) == 2
        assert all(resident_bytes(pid) < 400 * MB for pid in pids(pool))


def resident_bytes(pid: int) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    raise AssertionError("no VmHWM")


async def test_waiting_for_a_worker_does_not_count(tmp_path: Path):
    async with WorkerPool(tmp_path / "cache", size=1) as pool:
        first, second = await asyncio.gather(run(pool, LOOP, limits=SHORT), run(pool, ECHO, limits=SHORT))
        assert (first.end, second.end) == (RunEnd.TIME, RunEnd.DONE)


async def test_a_cancelled_call_is_killed(tmp_path: Path):
    async with WorkerPool(tmp_path / "cache", size=1) as pool:
        await run(pool, ECHO)
        (pid,) = pids(pool)
        task = asyncio.create_task(
            run(pool, BEGIN_AND_LOOP, limits=LONG, host=(host := Host({"kv.get": None})))
        )
        assert await eventually(lambda: len(host.asked) == 1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await eventually(lambda: not is_there(pid))
        assert (await run(pool, ECHO)).end is RunEnd.DONE


async def test_a_call_cancelled_while_the_host_works_cancels_the_host(tmp_path: Path):
    asked, cancelled = asyncio.Event(), asyncio.Event()

    async def host(op: str, args: dict[str, Any]) -> None:
        asked.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    async with WorkerPool(tmp_path / "cache", size=1) as pool:
        task = asyncio.create_task(run(pool, "function run() { kv.get('a') }", limits=LONG, host=host))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(cancelled.wait(), PATIENCE_S)
        assert (await run(pool, ECHO)).end is RunEnd.DONE


async def test_calls_that_wait_can_be_cancelled_without_a_trace(tmp_path: Path):
    async with WorkerPool(tmp_path / "cache", size=1) as pool:
        busy = asyncio.create_task(run(pool, LOOP, limits=SHORT))
        waiting = [asyncio.create_task(run(pool, ECHO)) for _ in range(20)]
        assert await eventually(lambda: bool(pids(pool)))
        for task in waiting[::2]:
            task.cancel()
        left = await asyncio.gather(*waiting[1::2])
        assert {ended.end for ended in left} == {RunEnd.DONE}
        assert (await busy).end is RunEnd.TIME


async def test_worker_killed_during_a_call_is_replaced(tmp_path: Path):
    async with WorkerPool(tmp_path / "cache", size=1) as pool:
        task = asyncio.create_task(
            run(pool, BEGIN_AND_LOOP, limits=LONG, host=(host := Host({"kv.get": None})))
        )
        assert await eventually(lambda: len(host.asked) == 1)
        os.kill(pids(pool)[0], signal.SIGKILL)
        ended = await task
        assert (ended.end, ended.error) == (RunEnd.CRASHED, "Its worker process ended unexpectedly.")
        assert (await run(pool, ECHO)).end is RunEnd.DONE


async def test_worker_killed_while_idle_is_replaced(tmp_path: Path):
    async with WorkerPool(tmp_path / "cache", size=1) as pool:
        await run(pool, ECHO)
        (pid,) = pids(pool)
        os.kill(pid, signal.SIGKILL)
        assert (await run(pool, ECHO)).end is RunEnd.DONE
        assert await eventually(lambda: pid not in pids(pool))


async def test_workers_that_are_killed_all_the_time_lose_no_call(tmp_path: Path):
    async with WorkerPool(tmp_path / "cache", size=2) as pool:
        calls = asyncio.gather(*(run(pool, ECHO) for _ in range(300)))
        while not calls.done():
            for pid in pids(pool)[:1]:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            await asyncio.sleep(0.3)
        ends = await calls
        assert len(ends) == 300
        assert {ended.end for ended in ends} <= {RunEnd.DONE, RunEnd.CRASHED}
        assert sum(ended.end is RunEnd.DONE for ended in ends) > 200


async def test_closing_ends_all_that_is_at_work(tmp_path: Path):
    pool = WorkerPool(tmp_path / "cache", size=2)
    async with pool:
        host = Host({"kv.get": None})
        tasks = [asyncio.create_task(run(pool, BEGIN_AND_LOOP, limits=LONG, host=host)) for _ in range(2)]
        assert await eventually(lambda: len(host.asked) == 2)
        found = pids(pool)
    assert [ended.end for ended in await asyncio.gather(*tasks)] == [RunEnd.CRASHED] * 2
    assert not any(map(is_there, found))


DIES = """
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
        sys.executable, "-c", DIES, str(tmp_path / "cache"), stdout=subprocess.PIPE
    )
    assert server.stdout is not None
    (pid,) = map(int, (await server.stdout.readline()).split())
    assert is_there(pid)
    server.kill()
    await server.wait()
    assert await eventually(lambda: not is_there(pid))


@pytest.mark.skipif(sys.platform != "linux", reason="these are of Linux")
async def test_pool_lists_the_protections_of_its_workers(pool: WorkerPool):
    await run(pool, ECHO)
    assert pool.protections is not None
    assert pool.protections >= {"rlimits", "no_new_privs", "seccomp"}


async def test_a_worker_has_an_empty_environment_and_no_files_of_ours(pool: WorkerPool):
    await run(pool, ECHO)
    for pid in pids(pool):
        look_at(Path(f"/proc/{pid}"))


def look_at(process: Path) -> None:
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
        ended = await run(
            pool, source[language], language, input_json=f'{{"mb": {megabytes}}}', limits=limits
        )
        assert (ended.end, ended.output) == (RunEnd.DONE, megabytes)


async def test_what_is_asked_names_the_operation_and_nothing_of_the_worker(pool: WorkerPool):
    host = Host({"kv.get": None})
    await run(pool, "function run() { kv.get('a') }", host=host)
    assert host.asked == [("kv.get", {"key": "a"})]
