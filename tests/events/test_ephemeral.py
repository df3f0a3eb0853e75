"""Whispers: heard by those who follow, at their place among the durable events, and never in anyone's way."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from typing import Any, ClassVar

import pytest
from tests.support.postgres import Postgres
from tests.support.timeouts import PATIENCE_S

from forge.events import hub
from forge.events.listener import listen
from forge.events.log import MAX_EPHEMERAL_BYTES, EventLog
from forge.events.models import EphemeralEvent, Event, EventData, wire_model
from forge.kernel.background import in_background
from forge.runs.models import RunResumed
from forge.store.database import Store
from forge.telemetry import Metrics

STREAM = "run:followed"

Follower = AsyncIterator[list[Event | EphemeralEvent]]


class Murmur(EventData):
    """A piece of a text that will come as a whole."""

    type: ClassVar[str] = "test.murmur"
    is_durable: ClassVar[bool] = False

    text: str


@pytest.fixture
def log(store: Store) -> EventLog:
    return EventLog(store, Metrics(version="test"))


@pytest.fixture
async def follower(log: EventLog) -> AsyncIterator[Follower]:
    async with aclosing(log.hub.follow(STREAM, 0)) as following:
        assert await anext(following) == []
        yield following


async def append(log: EventLog, count: int = 1) -> None:
    async with log._database.begin() as tx:
        await log.append(tx, STREAM, *[RunResumed()] * count)


async def whisper(log: EventLog, text: str) -> None:
    await log.publish_ephemeral(STREAM, Murmur(text=text))


async def heard(follower: Follower, until: object) -> list[Any]:
    """Numbers of durable events and texts of whispers, in the order they came."""
    seen: list[Any] = []
    async with asyncio.timeout(PATIENCE_S):
        while until not in seen:
            batch = await anext(follower)
            seen += [one.data["text"] if isinstance(one, EphemeralEvent) else one.seq for one in batch]
    return seen


async def test_ephemeral_event_has_no_sequence_number(log: EventLog, follower: Follower):
    await whisper(log, "héllo\x00")
    (told,) = await asyncio.wait_for(anext(follower), PATIENCE_S)
    assert json.loads(told.json) == {
        "stream": STREAM,
        "seq": None,
        "at": told.at.isoformat().replace("+00:00", "Z"),
        "type": "test.murmur",
        "data": {"text": "héllo\x00"},
    }


async def test_ephemeral_event_is_ordered_among_committed_events(log: EventLog, follower: Follower):
    expected: list[Any] = []
    for n in range(1, 101):  # without a pause: the events are read while later ones are written
        await append(log)
        await whisper(log, f"after {n}")
        await whisper(log, f"again after {n}")
        expected += [n, f"after {n}", f"again after {n}"]
    await append(log)
    assert await heard(follower, until=101) == [*expected, 101]


async def test_follower_that_keeps_up_gets_each_ephemeral_event_once(log: EventLog, follower: Follower):
    for n in range(1, 21):
        await whisper(log, f"before {n}")
        assert await heard(follower, until=f"before {n}") == [f"before {n}"]
        await append(log)
        assert await heard(follower, until=n) == [n]


async def test_ephemeral_event_is_not_stored(store: Store, log: EventLog, follower: Follower):
    await whisper(log, "gone")
    assert await heard(follower, until="gone") == ["gone"]
    async with store.read() as tx:
        assert await log.read(tx, STREAM) == []
    assert await log.last_seq(STREAM) == 0
    async with aclosing(log.hub.follow(STREAM, 0)) as late:
        assert await anext(late) == []
        await append(log)
        assert await heard(late, until=1) == [1]


async def test_ephemeral_events_reach_only_followers_of_their_stream(log: EventLog, follower: Follower):
    async with aclosing(log.hub.follow("run:other", 0)) as other:
        assert await anext(other) == []
        await log.publish_ephemeral("run:other", Murmur(text="to the other"))
        await whisper(log, "to the first")
        assert await heard(follower, until="to the first") == ["to the first"]
        assert await heard(other, until="to the other") == ["to the other"]


async def test_slow_follower_misses_oldest_ephemeral_events_but_no_durable_one(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(hub, "MAX_EPHEMERAL", 5)
    async with aclosing(log.hub.follow(STREAM, 0)) as slow:
        assert await anext(slow) == []
        await append(log)
        for n in range(20):
            await whisper(log, f"w{n}")
        await append(log)
        assert await heard(slow, until=2) == [1, "w15", "w16", "w17", "w18", "w19", 2]


async def test_replaying_follower_gets_no_outdated_ephemeral_events(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(hub, "MAX_RECENT", 10)
    async with aclosing(log.hub.follow(STREAM, 0)) as quick, aclosing(log.hub.follow(STREAM, 0)) as slow:
        assert (await anext(quick), await anext(slow)) == ([], [])
        await whisper(log, "early")
        assert await heard(quick, until="early") == ["early"]
        await append(log, 30)
        assert await heard(quick, until=30) == list(range(1, 31))
        await whisper(log, "late")
        # Memory begins at 21 by now, so the slow one is served from the database.
        assert await heard(slow, until="late") == [*range(1, 31), "late"]


async def test_large_or_invalid_ephemeral_event_is_dropped(
    log: EventLog, follower: Follower, caplog: pytest.LogCaptureFixture
):
    await whisper(log, "x" * MAX_EPHEMERAL_BYTES)
    await whisper(log, "half \ud83d")
    largest = "x" * (MAX_EPHEMERAL_BYTES - 200)
    await whisper(log, largest)
    assert await heard(follower, until=largest) == [largest]
    assert [record.getMessage()[:51] for record in caplog.records if record.name == "forge.events.log"] == [
        "dropped an ephemeral event of type test.murmur with",
        "dropped an ephemeral event of type test.murmur that",
    ]


async def test_append_and_publish_reject_the_other_kind(store: Store, log: EventLog):
    with pytest.raises(TypeError, match=r"run\.resumed is durable"):
        await log.publish_ephemeral(STREAM, RunResumed())
    async with store.begin() as tx:
        with pytest.raises(TypeError, match="cannot be appended"):
            await log.append(tx, STREAM, RunResumed(), Murmur(text=""))
    assert await log.last_seq(STREAM) == 0


async def test_ephemeral_event_without_followers_is_not_serialized(tmp_path, monkeypatch: pytest.MonkeyPatch):
    log = EventLog(Store(f"sqlite:///{tmp_path / 'none.db'}"), Metrics(version="test"))
    monkeypatch.setattr(Murmur, "model_dump", None)
    await whisper(log, "to nobody")


async def test_unreachable_database_costs_the_publisher_one_attempt(
    log: EventLog, caplog: pytest.LogCaptureFixture
):
    away = EventLog(Store("postgresql://nobody@127.0.0.1:1/none"), Metrics(version="test"))
    for n in range(1000):
        await whisper(away, f"w{n}")
    assert len([record for record in caplog.records if "do not reach" in record.getMessage()]) == 1


async def test_ephemeral_events_reach_other_processes_in_order(postgres: Postgres, postgres_template: str):
    url = postgres.new_database(postgres_template)
    async with AsyncExitStack() as stack:
        here, there = (EventLog(Store(url), Metrics(version="test")) for _ in range(2))
        for log in (here, there):
            stack.push_async_callback(log._database.close)
            await stack.enter_async_context(in_background(listen(url, log.hub), "listener"))
        await _until_heard(there, by=here)
        await _until_heard(here, by=there)
        listening_here = await stack.enter_async_context(aclosing(here.hub.follow(STREAM, 0)))
        listening_there = await stack.enter_async_context(aclosing(there.hub.follow(STREAM, 0)))
        assert (await anext(listening_here), await anext(listening_there)) == ([], [])
        expected: list[Any] = []
        for n in range(1, 51):
            await append(here)
            await whisper(here, f"after {n}")
            expected += [n, f"after {n}"]
        assert await heard(listening_there, until="after 50") == expected
        await append(here)
        assert await heard(listening_here, until=51) == [*expected, 51]  # its own, once


async def _until_heard(log: EventLog, by: EventLog) -> None:
    async with aclosing(by.hub.follow("run:hello", 0)) as follower:
        assert await anext(follower) == []
        hearing = asyncio.create_task(heard(follower, until="hello"))
        while not hearing.done():
            await log.publish_ephemeral("run:hello", Murmur(text="hello"))
            await asyncio.sleep(0.01)


def test_wire_schema_has_null_seq_for_ephemeral_events():
    schema = wire_model([Murmur]).model_json_schema()
    assert schema["properties"]["seq"] == {"title": "Seq", "type": "null"}
    assert wire_model([RunResumed]).model_json_schema()["properties"]["seq"]["type"] == "integer"
