"""Fifty people chat with a bot at once: time to the first word and to the last, and memory use.

The lower bound is the same scripted model called directly by a plain HTTP client: no bot, no journal, nothing stored.
"""

import asyncio
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import quantiles
from typing import Any

import httpx2
from tests.support.chat_client import connect_models, data
from tests.support.models import ModelServer, open_models
from tests.support.server import Server
from websockets.asyncio.client import connect

from benchmarks.bench import Bench, Numbers, pairs
from benchmarks.memory import memory_mb
from benchmarks.report import Result, compare

CHATS = 50
ROUNDS = 3
DIRECT = "the scripted model called directly"
LINES = (
    ("first word, p50", "ms"),
    ("first word, p95", "ms"),
    ("whole answer, p50", "ms"),
    ("whole answer, p95", "ms"),
)
SCRIPT: dict[str, Any] = {
    "scenes": {
        "titles": {"match": {"system": "Give the conversation"}, "turns": [{"text": "A talk"}]},
        "talk": {"turns": [{"text": "word " * 200}], "after": "repeat"},
    },
    "delay_s": 0.02,
    "piece_chars": 20,
}


@dataclass
class Times:
    """Milliseconds, by conversation."""

    first: list[float] = field(default_factory=list[float])
    whole: list[float] = field(default_factory=list[float])

    def numbers(self) -> Numbers:
        found: Numbers = {}
        for name, times in (("first word", self.first), ("whole answer", self.whole)):
            steps = quantiles(times, n=20)
            found |= {f"{name}, p50": steps[9], f"{name}, p95": steps[18]}
        return found


def measure(bench: Bench) -> Iterator[Result]:
    count = bench.size(CHATS, 10)
    with open_models(SCRIPT) as models:
        server = Server(bench.new_folder() / "data")
        server.start()
        try:
            asyncio.run(_prepare(server, models))
            asyncio.run(_talk(server, 2))  # the first call imports the providers' clients
            before = memory_mb(server.process.pid)
            contenders = {
                "forge": lambda: asyncio.run(_talk(server, count)).numbers(),
                "direct": lambda: asyncio.run(_ask(models, count)).numbers(),
            }
            rounds = bench.in_turns(contenders, rounds=ROUNDS)
            after = memory_mb(server.process.pid)
        finally:
            server.stop()
    for number, unit in LINES:
        compared = pairs(rounds, "forge", "direct", number)
        yield compare("chats", f"{count} chats at once, {number}", unit, "less", DIRECT, compared)
    yield compare(
        "chats",
        f"memory of the server after {count} chats at once",
        "MB",
        "less",
        "before",
        [(after, before)],
    )


async def _prepare(server: Server, models: ModelServer) -> None:
    async with _client(server) as client:
        await connect_models(client, models)
        data(await client.post("/api/v1/bots", json={"name": "Ada"}))


def _client(server: Server) -> httpx2.AsyncClient:
    headers = {"Authorization": f"Bearer {server.key}"}
    limits = httpx2.Limits(max_connections=200)
    return httpx2.AsyncClient(base_url=server.url, headers=headers, timeout=120, limits=limits)


async def _talk(server: Server, count: int) -> Times:
    times = Times()
    async with _client(server) as client:
        await asyncio.gather(*(_one_talk(server, client, times) for _ in range(count)))
    return times


async def _one_talk(server: Server, client: httpx2.AsyncClient, times: Times) -> None:
    address = server.url.replace("http://", "ws://") + "/ws"
    headers = {"Authorization": f"Bearer {server.key}"}
    async with connect(address, additional_headers=headers, max_size=None, open_timeout=120) as socket:
        began = time.perf_counter()
        turn = data(await client.post("/api/v1/bots/ada/chat", json={"text": "Talk to me."}))
        stream = f"session:{turn['session']['id']}"
        await socket.send(json.dumps({"type": "subscribe", "stream": stream, "after": 0}))
        is_first = True
        async for text in socket:
            kinds = [event["type"] for event in json.loads(text).get("events", [])]
            if is_first and ("chat.delta" in kinds or "chat.answered" in kinds):
                times.first.append((time.perf_counter() - began) * 1000)
                is_first = False
            if "chat.answered" in kinds:
                times.whole.append((time.perf_counter() - began) * 1000)
                return


async def _ask(models: ModelServer, count: int) -> Times:
    times = Times()
    async with httpx2.AsyncClient(timeout=120, limits=httpx2.Limits(max_connections=200)) as client:
        await asyncio.gather(*(_one_question(models, client, times) for _ in range(count)))
    return times


async def _one_question(models: ModelServer, client: httpx2.AsyncClient, times: Times) -> None:
    body = {
        "model": "scripted",
        "max_tokens": 4096,
        "stream": True,
        "messages": [{"role": "user", "content": "Talk to me."}],
    }
    began, is_first = time.perf_counter(), True
    async with client.stream("POST", f"{models.url}/v1/messages", json=body) as answer:
        async for line in answer.aiter_lines():
            if is_first and "text_delta" in line:
                times.first.append((time.perf_counter() - began) * 1000)
                is_first = False
    times.whole.append((time.perf_counter() - began) * 1000)
