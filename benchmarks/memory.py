"""Memory and CPU of an idle Forge, alone and with 1,000 runs waiting for an answer."""

import os
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2

from benchmarks.bench import Bench, Numbers, pairs
from benchmarks.report import Result, compare
from benchmarks.startup import answering, server_file, wait_for

ROUNDS = 3
TICKS = os.sysconf("SC_CLK_TCK")
LINES = (("memory", "MB"), ("CPU", "% of a core"))
PEER = "FastAPI + DBOS alone"


def measure(bench: Bench) -> Iterator[Result]:
    """Watch all four idle processes over the same seconds."""
    waiting, window_s = bench.size(1000, 100), bench.size(10, 4)
    with ExitStack() as stack:
        processes = {
            "forge idle": stack.enter_context(_forge(bench, 0)),
            "peer idle": stack.enter_context(_peer(bench, 0)),
            "forge waiting": stack.enter_context(_forge(bench, waiting)),
            "peer waiting": stack.enter_context(_peer(bench, waiting)),
        }
        time.sleep(2)  # work left over from the start
        rounds = [_watch(processes, window_s) for _ in bench.rounds(ROUNDS)]
    for state, what in (("idle", "idle"), ("waiting", f"{waiting} runs waiting")):
        for number, unit in LINES:
            compared = pairs(rounds, f"forge {state}", f"peer {state}", number)
            yield compare("memory", f"{number}, {what}", unit, "less", PEER, compared)


@contextmanager
def _forge(bench: Bench, waiting: int) -> Iterator[int]:
    """Start `forge serve` on SQLite."""
    data_dir = bench.new_folder() / "data"
    with answering("benchmarks.contenders.asking_server", "serve", "--data-dir", str(data_dir)) as server:
        _start_waiting(data_dir, waiting)
        yield server.pid


def _start_waiting(data_dir: Path, count: int) -> None:
    found = server_file(data_dir)
    headers = {"Authorization": f"Bearer {found['key']}"}
    with httpx2.Client(base_url=f"{found['url']}/api/v1", headers=headers, timeout=60) as client:
        for _ in range(count):
            client.post("/runs", json={"kind": "self_test", "input": {"ask": True}}).raise_for_status()
        wait_for(
            lambda: client.get("/status").json()["data"]["runs"].get("waiting", 0) >= count, "waiting runs"
        )


@contextmanager
def _peer(bench: Bench, waiting: int) -> Iterator[int]:
    given = ("--dbos", bench.new_database("sqlite"), "--waiting", str(waiting))
    with answering("benchmarks.contenders.hello", *given) as server:
        yield server.pid


def _watch(processes: dict[str, int], window_s: int) -> dict[str, Numbers]:
    before = {name: cpu_s(pid) for name, pid in processes.items()}
    time.sleep(window_s)
    return {
        name: {"memory": memory_mb(pid), "CPU": (cpu_s(pid) - before[name]) / window_s * 100}
        for name, pid in processes.items()
    }


def memory_mb(pid: int) -> float:
    found = re.search(r"VmRSS:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    return int(found.group(1)) / 1024 if found else 0.0


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS
