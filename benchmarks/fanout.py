"""The latency of events for 500 clients: from the commit to each client's socket, compared with a bare broadcast."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from statistics import quantiles

from tests.support.server import Server

from benchmarks.bench import Bench, Numbers, pairs
from benchmarks.contender import Contender, module, started
from benchmarks.listener import Place, listen
from benchmarks.loop import run
from benchmarks.report import Result, compare

ROUNDS = 3
CLIENTS = 500
FLOOR = "bare uvicorn broadcast"
PATIENCE_S = 60

Turn = Callable[[], Numbers]


def measure(bench: Bench) -> Iterator[Result]:
    events = bench.size(40, 15)
    with ExitStack() as stack:
        contenders = {
            "floor": stack.enter_context(_floor(bench, events)),
            "sqlite": stack.enter_context(_sqlite(bench, events)),
            "postgresql": stack.enter_context(_postgresql(bench, events)),
        }
        rounds = bench.in_turns(contenders, rounds=ROUNDS)
    for database in ("sqlite", "postgresql"):
        for number in ("p50", "p99"):
            what = f"{CLIENTS} clients, {number}, on {database}"
            compared = pairs(rounds, database, "floor", number)
            yield compare("fanout", what, "ms", "less", FLOOR, compared)


@contextmanager
def _floor(bench: Bench, events: int) -> Iterator[Turn]:
    with started(bench.new_folder(), module("broadcast")) as source:
        place = Place(**source.hear())
        yield lambda: _turn(source, place, events)


@contextmanager
def _sqlite(bench: Bench, events: int) -> Iterator[Turn]:
    """SQLite: one process serves and writes."""
    with started(bench.new_folder(), module("live_writer"), bench.new_folder()) as source:
        place = Place(**source.hear())
        yield lambda: _turn(source, place, events)


@contextmanager
def _postgresql(bench: Bench, events: int) -> Iterator[Turn]:
    """PostgreSQL: a server, and a writer in another process; events arrive through NOTIFY."""
    url = bench.new_database("postgresql")
    server = Server(bench.new_folder() / "data", FORGE_DATABASE_URL=url)
    server.start()
    try:
        account = server.call("GET", "/api/v1/me")["account"]["id"]
        place = Place(server.url, server.key, f"account:{account}")
        with started(bench.new_folder(), module("writer"), url, place.stream) as source:
            source.hear()
            yield lambda: _turn(source, place, events)
    finally:
        server.stop()


def _turn(source: Contender, place: Place, events: int) -> Numbers:
    received = run(_receive(source, place, events))
    sent: dict[str, float] = source.hear()
    late_ms = [(at - sent[str(seq)]) * 1000 for each in received for seq, at in each.items()]
    if len(late_ms) != CLIENTS * events:
        raise RuntimeError(f"{len(late_ms)} of {CLIENTS * events} events arrived")
    place.after += events
    cuts = quantiles(late_ms, n=100)
    return {"p50": cuts[49], "p99": cuts[98]}


async def _receive(source: Contender, place: Place, events: int) -> list[dict[int, float]]:
    """Return what each client received and when. `source` starts when all of them are subscribed."""
    async with asyncio.timeout(PATIENCE_S):
        listeners = await listen(place, CLIENTS, events)
        source.tell(str(events))
        await asyncio.gather(*(each.done for each in listeners))
    for each in listeners:
        each.close()
    await asyncio.sleep(0.2)
    return [each.received for each in listeners]
