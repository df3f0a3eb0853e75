"""Ephemeral events: ordered among the durable ones, sent only to current followers, and never blocking."""

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


class TextDelta(EventData):
    """A part of a text that is published as a whole later."""

    type: ClassVar[str] = "test.delta"
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


async def publish(log: EventLog, text: str) -> None:
    await log.publish_ephemeral(STREAM, TextDelta(text=text))


async def receive(follower: Follower, until: object) -> list[Any]:
    """Return the numbers of durable events and the texts of ephemeral ones, in the order of arrival."""
    received: list[Any] = []
    async with asyncio.timeout(PATIENCE_S):
        while until not in received:
            batch = await anext(follower)
            received += [one.data["text"] if isinstance(one, EphemeralEvent) else one.seq for one in batch]
    return received


async def test_ephemeral_event_has_no_sequence_number(log: EventLog, follower: Follower):
    await publish(log, "héllo\x00")
    (event,) = await asyncio.wait_for(anext(follower), PATIENCE_S)
    assert json.loads(event.json) == {
        "stream": STREAM,
        "seq": None,
        "at": event.at.isoformat().replace("+00:00", "Z"),
        "type": "test.delta",
        "data": {"text": "héllo\x00"},
    }


async def test_ephemeral_event_is_ordered_among_committed_events(log: EventLog, follower: Follower):
    expected: list[Any] = []
    for n in range(1, 101):  # without pauses, so that events are read while later ones are written
        await append(log)
        await publish(log, f"after {n}")
        await publish(log, f"again after {n}")
        expected += [n, f"after {n}", f"again after {n}"]
    await append(log)
    assert await receive(follower, until=101) == [*expected, 101]


async def test_follower_that_keeps_up_gets_each_ephemeral_event_once(log: EventLog, follower: Follower):
    for n in range(1, 21):
        await publish(log, f"before {n}")
        assert await receive(follower, until=f"before {n}") == [f"before {n}"]
        await append(log)
        assert await receive(follower, until=n) == [n]


async def test_ephemeral_event_is_not_stored(store: Store, log: EventLog, follower: Follower):
    await publish(log, "gone")
    assert await receive(follower, until="gone") == ["gone"]
    async with store.read() as tx:
        assert await log.read(tx, STREAM) == []
    assert await log.last_seq(STREAM) == 0
    async with aclosing(log.hub.follow(STREAM, 0)) as late:
        assert await anext(late) == []
        await append(log)
        assert await receive(late, until=1) == [1]


async def test_ephemeral_events_reach_only_followers_of_their_stream(log: EventLog, follower: Follower):
    async with aclosing(log.hub.follow("run:other", 0)) as other:
        assert await anext(other) == []
        await log.publish_ephemeral("run:other", TextDelta(text="to the other"))
        await publish(log, "to the first")
        assert await receive(follower, until="to the first") == ["to the first"]
        assert await receive(other, until="to the other") == ["to the other"]


async def test_slow_follower_misses_oldest_ephemeral_events_but_no_durable_one(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(hub, "MAX_EPHEMERAL", 5)
    async with aclosing(log.hub.follow(STREAM, 0)) as slow:
        assert await anext(slow) == []
        await append(log)
        for n in range(20):
            await publish(log, f"w{n}")
        await append(log)
        assert await receive(slow, until=2) == [1, "w15", "w16", "w17", "w18", "w19", 2]


async def test_replaying_follower_gets_no_outdated_ephemeral_events(
    log: EventLog, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(hub, "MAX_RECENT", 10)
    async with aclosing(log.hub.follow(STREAM, 0)) as quick, aclosing(log.hub.follow(STREAM, 0)) as slow:
        assert (await anext(quick), await anext(slow)) == ([], [])
        await publish(log, "early")
        assert await receive(quick, until="early") == ["early"]
        await append(log, 30)
        assert await receive(quick, until=30) == list(range(1, 31))
        await publish(log, "late")
        # The recent events in memory begin at 21, so the slow follower is served from the database.
        assert await receive(slow, until="late") == [*range(1, 31), "late"]


async def test_large_or_invalid_ephemeral_event_is_dropped(
    log: EventLog, follower: Follower, caplog: pytest.LogCaptureFixture
):
    await publish(log, "x" * MAX_EPHEMERAL_BYTES)
    await publish(log, "half \ud83d")
    largest = "x" * (MAX_EPHEMERAL_BYTES - 200)
    await publish(log, largest)
    assert await receive(follower, until=largest) == [largest]
    assert [record.getMessage()[:50] for record in caplog.records if record.name == "forge.events.log"] == [
        "dropped an ephemeral event of type test.delta with",
        "dropped an ephemeral event of type test.delta that",
    ]


async def test_append_and_publish_reject_the_other_kind(store: Store, log: EventLog):
    with pytest.raises(TypeError, match=r"run\.resumed is durable"):
        await log.publish_ephemeral(STREAM, RunResumed())
    async with store.begin() as tx:
        with pytest.raises(TypeError, match="cannot be appended"):
            await log.append(tx, STREAM, RunResumed(), TextDelta(text=""))
    assert await log.last_seq(STREAM) == 0


async def test_ephemeral_event_without_followers_is_not_serialized(tmp_path, monkeypatch: pytest.MonkeyPatch):
    log = EventLog(Store(f"sqlite:///{tmp_path / 'unused.db'}"), Metrics(version="test"))
    monkeypatch.setattr(TextDelta, "model_dump", None)
    await publish(log, "unused")


async def test_unreachable_database_costs_the_publisher_one_attempt(
    log: EventLog, caplog: pytest.LogCaptureFixture
):
    unreachable = EventLog(Store("postgresql://nobody@127.0.0.1:1/none"), Metrics(version="test"))
    for n in range(1000):
        await publish(unreachable, f"w{n}")
    assert len([record for record in caplog.records if "do not reach" in record.getMessage()]) == 1


async def test_ephemeral_events_reach_other_processes_in_order(postgres: Postgres, postgres_template: str):
    url = postgres.new_database(postgres_template)
    async with AsyncExitStack() as stack:
        here, there = (EventLog(Store(url), Metrics(version="test")) for _ in range(2))
        for log in (here, there):
            stack.push_async_callback(log._database.close)
            await stack.enter_async_context(in_background(listen(url, log.hub), "listener"))
        await _wait_until_received(there, receiver=here)
        await _wait_until_received(here, receiver=there)
        follower_here = await stack.enter_async_context(aclosing(here.hub.follow(STREAM, 0)))
        follower_there = await stack.enter_async_context(aclosing(there.hub.follow(STREAM, 0)))
        assert (await anext(follower_here), await anext(follower_there)) == ([], [])
        expected: list[Any] = []
        for n in range(1, 51):
            await append(here)
            await publish(here, f"after {n}")
            expected += [n, f"after {n}"]
        assert await receive(follower_there, until="after 50") == expected
        await append(here)
        assert await receive(follower_here, until=51) == [*expected, 51]  # its own events, once


async def _wait_until_received(publisher: EventLog, receiver: EventLog) -> None:
    async with aclosing(receiver.hub.follow("run:hello", 0)) as follower:
        assert await anext(follower) == []
        receiving = asyncio.create_task(receive(follower, until="hello"))
        while not receiving.done():
            await publisher.publish_ephemeral("run:hello", TextDelta(text="hello"))
            await asyncio.sleep(0.01)


def test_wire_schema_has_null_seq_for_ephemeral_events():
    schema = wire_model([TextDelta]).model_json_schema()
    assert schema["properties"]["seq"] == {"title": "Seq", "type": "null"}
    assert wire_model([RunResumed]).model_json_schema()["properties"]["seq"]["type"] == "integer"
