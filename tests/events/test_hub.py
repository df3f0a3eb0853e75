"""Followers get every event after their cursor, in order and once, at any speed."""

import asyncio
from contextlib import aclosing

import anyio
import pytest
from tests.support.timeouts import PATIENCE_S

from forge.errors import Conflict, NotFound
from forge.events import hub
from forge.events.log import EventLog
from forge.runs.models import RunResumed
from forge.store.database import Store
from forge.telemetry import Metrics

STREAM = "run:followed"


@pytest.fixture
def log(store: Store) -> EventLog:
    return EventLog(store, Metrics(version="test"))


async def append(store: Store, log: EventLog, count: int) -> None:
    async with store.begin() as tx:
        await log.append(tx, STREAM, *[RunResumed()] * count)


async def collect(
    log: EventLog, *, after: int, until: int, pause_s: float = 0, connected: asyncio.Barrier | None = None
) -> list[int]:
    seen: list[int] = []
    async with aclosing(log.hub.follow(STREAM, after)) as follower:
        if connected:
            assert await anext(follower) == []
            await connected.wait()
        async for batch in follower:
            seen += [event.seq for event in batch if event.seq is not None]
            if seen and seen[-1] >= until:
                break
            await anyio.sleep(pause_s)
    return seen


async def test_follower_gets_history_then_live_events(store: Store, log: EventLog):
    await append(store, log, 3)
    connected = asyncio.Barrier(2)
    task = asyncio.create_task(collect(log, after=1, until=6, connected=connected))
    await connected.wait()
    await append(store, log, 3)
    assert await asyncio.wait_for(task, PATIENCE_S) == [2, 3, 4, 5, 6]


async def test_first_batch_of_an_unchanged_stream_is_empty(log: EventLog):
    async with aclosing(log.hub.follow(STREAM, 0)) as follower:
        assert await anext(follower) == []
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(anext(follower), 0.1)


async def test_slow_and_fast_followers_get_the_same_events(
    store: Store, log: EventLog, monkeypatch: pytest.MonkeyPatch
):
    # Fewer than are written, so the slow follower must read from the database.
    monkeypatch.setattr(hub, "MAX_RECENT", 20)
    fast = asyncio.create_task(collect(log, after=0, until=200))
    slow = asyncio.create_task(collect(log, after=0, until=200, pause_s=0.05))
    for _ in range(20):
        await append(store, log, 10)
    expected = list(range(1, 201))
    assert await asyncio.wait_for(fast, PATIENCE_S) == expected
    assert await asyncio.wait_for(slow, PATIENCE_S) == expected


async def test_followers_joining_and_leaving_miss_nothing(store: Store, log: EventLog):
    async def reconnect_repeatedly() -> list[int]:
        seen: list[int] = []
        while not seen or seen[-1] < 300:
            after = seen[-1] if seen else 0
            seen += await collect(log, after=after, until=after + 1)
        return seen

    clients = [asyncio.create_task(reconnect_repeatedly()) for _ in range(5)]
    for _ in range(100):
        await append(store, log, 3)
    for client in clients:
        assert await asyncio.wait_for(client, PATIENCE_S) == list(range(1, 301))


async def test_future_cursor_is_rejected(store: Store, log: EventLog):
    await append(store, log, 2)
    with pytest.raises(Conflict, match="has no event 9 yet"):
        await anext(log.hub.follow(STREAM, 9))


async def test_following_a_deleted_stream_ends(store: Store, log: EventLog):
    await append(store, log, 3)
    async with aclosing(log.hub.follow(STREAM, 0)) as follower:
        assert await anext(follower) == []
        async with store.begin() as tx:
            await log.delete(tx, STREAM)
        with pytest.raises(NotFound, match="was deleted"):
            async with asyncio.timeout(PATIENCE_S):
                async for _ in follower:
                    pass


async def test_one_read_serves_all_followers(store: Store, log: EventLog, monkeypatch: pytest.MonkeyPatch):
    reads = 0
    read = log.hub._read

    async def counted(stream: str, after: int, limit: int):
        nonlocal reads
        reads += 1
        return await read(stream, after, limit)

    monkeypatch.setattr(log.hub, "_read", counted)
    connected = asyncio.Barrier(101)
    followers = [
        asyncio.create_task(collect(log, after=0, until=50, connected=connected)) for _ in range(100)
    ]
    await connected.wait()
    reads = 0
    for _ in range(50):
        await append(store, log, 1)
    assert all(await asyncio.gather(*followers))
    assert reads <= 2 * 50 + 10
