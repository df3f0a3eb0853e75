"""The cost of an event: appended in a transaction of its own, compared with the same row written by the bare driver."""

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any
from uuid import uuid4

import psycopg

from benchmarks.bench import Bench, Numbers, pairs
from benchmarks.loop import run
from benchmarks.report import Result, compare
from benchmarks.stopwatch import Stopwatch
from forge.events.log import EventLog
from forge.events.models import EventData
from forge.kernel.clock import now
from forge.store.database import Store, configure_sqlite
from forge.store.schema import migrate
from forge.telemetry import Metrics

ROUNDS = 5
STREAMS = 8
FLOOR = {"sqlite": "sqlite3, one commit each", "postgresql": "psycopg, one commit each"}


class Measured(EventData):
    """An event of typical size."""

    type = "bench.measured"

    number: int
    text: str = "x" * 200


def measure(bench: Bench) -> Iterator[Result]:
    for database in FLOOR:
        url = bench.new_database(database)
        run(_migrate(url))
        count = bench.size(400, 160)
        rounds = bench.in_turns(
            {
                "forge": lambda url=url, count=count: run(_forge(url, count)),
                "floor": partial(_floor, url, count),
            },
            rounds=ROUNDS,
        )
        for number, what in (("one", "1 stream"), ("many", f"{STREAMS} streams at once")):
            label = f"append, {what}, on {database}"
            compared = pairs(rounds, "forge", "floor", number)
            yield compare("events", label, "events/s", "more", FLOOR[database], compared)
        compared = pairs(rounds, "forge", "floor", "cpu")
        yield compare("events", f"CPU of an append on {database}", "ms", "less", FLOOR[database], compared)


async def _migrate(url: str) -> None:
    store = Store(url)
    await migrate(store)
    await store.close()


async def _forge(url: str, count: int) -> Numbers:
    store = Store(url)
    log = EventLog(store, Metrics(version="bench"))

    async def append(stream: str, count: int) -> None:
        for i in range(count):
            async with store.begin() as tx:
                await log.append(tx, stream, Measured(number=i))

    async def append_everywhere() -> None:
        await asyncio.gather(*(append(f"bench:{i}", count // STREAMS) for i in range(STREAMS)))

    await append("bench:warm", 20)
    watch = Stopwatch()
    await append("bench:one", count)
    one_s, cpu_s = watch.read()
    watch = Stopwatch()
    await append_everywhere()
    many_s, _ = watch.read()
    await store.close()
    return {"one": count / one_s, "many": count / many_s, "cpu": cpu_s / count * 1000}


def _floor(url: str, count: int) -> Numbers:
    """SQLite has one writer at a time, so 8 streams are the same work for it; PostgreSQL gets 8 connections."""
    connections = [_connect(url) for _ in range(1 if url.startswith("sqlite") else STREAMS)]
    watch = Stopwatch()
    _insert(connections[0], count)
    one_s, cpu_s = watch.read()
    watch = Stopwatch()
    with ThreadPoolExecutor(len(connections)) as pool:
        list(pool.map(_insert, connections, [count // len(connections)] * len(connections)))
    many_s, _ = watch.read()
    for connection in connections:
        connection.close()
    return {"one": count / one_s, "many": count / many_s, "cpu": cpu_s / count * 1000}


def _connect(url: str) -> Any:
    if not url.startswith("sqlite"):
        return psycopg.connect(url)
    connection = sqlite3.connect(url.partition(":///")[2], check_same_thread=False)
    configure_sqlite(connection, None)
    return connection


def _insert(connection: Any, count: int) -> None:
    marks = ", ".join(["?" if isinstance(connection, sqlite3.Connection) else "%s"] * 5)
    statement = f"INSERT INTO events (stream, seq, at, type, data) VALUES ({marks})"
    stream, data = f"floor:{uuid4()}", json.dumps(Measured(number=0).model_dump())
    for i in range(count):
        connection.execute(statement, (stream, i, now().isoformat(), Measured.type, data))
        connection.commit()
