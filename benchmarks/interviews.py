"""An interview without a model over the API: the time from an answer to the next question.

The lower bound is the smallest request to the same server that reads one row.
"""

import asyncio
import time
from collections.abc import Iterator
from statistics import quantiles

import httpx2
from tests.support.chat_client import data
from tests.support.interview_client import BUILDER, Interviewee
from tests.support.server import Server

from benchmarks.bench import Bench, Numbers, pairs
from benchmarks.report import Result, compare

INTERVIEWS = 40
ROUNDS = 3
FLOOR = "GET of one interview"
TARGET_MS = 50.0
DESCRIPTIONS = ("Analyze our sales data", "Write poems", "Review pull requests", "Remind me of birthdays")


def measure(bench: Bench) -> Iterator[Result]:
    count = bench.size(INTERVIEWS, 6)
    server = Server(bench.new_folder() / "data")
    server.start()
    try:
        asyncio.run(_walk(server, 1))  # the first one warms up the caches
        contenders = {
            "turn": lambda: _numbers(asyncio.run(_walk(server, count))),
            "floor": lambda: _numbers(asyncio.run(_look(server, count * 6))),
        }
        rounds = bench.in_turns(contenders, rounds=ROUNDS)
    finally:
        server.stop()
    for number in ("p50", "p95"):
        compared = pairs(rounds, "turn", "floor", number)
        yield compare("interviews", f"a turn without a model, {number}", "ms", "less", FLOOR, compared)
    slowest = [(turn, TARGET_MS) for turn, _ in pairs(rounds, "turn", "floor", "p95")]
    yield compare("interviews", "a turn without a model, p95", "ms", "less", "the target", slowest)


def _numbers(times: list[float]) -> Numbers:
    steps = quantiles(times, n=20)
    return {"p50": steps[9], "p95": steps[18]}


async def _walk(server: Server, count: int) -> list[float]:
    """Answer this many interviews one after the other, and return the milliseconds of each answer."""
    times: list[float] = []
    async with _client(server) as client:
        for number in range(count):
            person = Interviewee(client)
            await person.start(DESCRIPTIONS[number % len(DESCRIPTIONS)])
            while person.turn["action"] == "ask_question":
                began = time.perf_counter()
                await person.choose()
                times.append((time.perf_counter() - began) * 1000)
    return times


async def _look(server: Server, count: int) -> list[float]:
    times: list[float] = []
    async with _client(server) as client:
        person = Interviewee(client)
        await person.start(DESCRIPTIONS[0])
        path = f"{BUILDER}/sessions/{person.view['session_id']}"
        for _ in range(count):
            began = time.perf_counter()
            data(await client.get(path))
            times.append((time.perf_counter() - began) * 1000)
    return times


def _client(server: Server) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        base_url=server.url, headers={"Authorization": f"Bearer {server.key}"}, timeout=60
    )
