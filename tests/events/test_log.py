"""The event log: sequence numbers without gaps, also with concurrent writers and rollbacks."""

from datetime import UTC

import anyio
import anyio.lowlevel
import pytest
from tests.support.timeouts import PATIENCE_S

from forge.events.log import EventLog
from forge.runs.models import RunProgressed, RunResumed
from forge.store.database import Store
from forge.telemetry import Metrics


@pytest.fixture
def log(store: Store) -> EventLog:
    return EventLog(store, Metrics(version="test"))


async def append(store: Store, log: EventLog, stream: str, *numbers: int) -> int:
    async with store.begin() as tx:
        return await log.append(tx, stream, *(RunProgressed(done=n, total=1, note="") for n in numbers))


async def seqs(store: Store, log: EventLog, stream: str, *, after: int = 0, limit: int = 1000) -> list[int]:
    async with store.read() as tx:
        return [event.seq for event in await log.read(tx, stream, after=after, limit=limit)]


async def test_events_round_trip(store: Store, log: EventLog):
    async with store.begin() as tx:
        assert await log.append(tx, "run:a", RunProgressed(done=1, total=2, note="half"), RunResumed()) == 2
    async with store.read() as tx:
        first, second = await log.read(tx, "run:a")
    assert (first.stream, first.seq, first.type, first.data) == (
        "run:a",
        1,
        "run.progress",
        {"done": 1, "total": 2, "note": "half"},
    )
    assert (second.seq, second.type, second.data) == (2, "run.resumed", {})
    assert first.at.tzinfo is UTC


async def test_concurrent_appends_leave_no_gaps(store: Store, log: EventLog):
    async def write(number: int) -> None:
        for i in range(10):
            await append(store, log, "run:busy", number * 10 + i)

    async with anyio.create_task_group() as group:
        for number in range(10):
            group.start_soon(write, number)
    assert await seqs(store, log, "run:busy") == list(range(1, 101))


async def test_rolled_back_event_leaves_no_gap(store: Store, log: EventLog):
    await append(store, log, "run:a", 1)
    with pytest.raises(ZeroDivisionError):
        async with store.begin() as tx:
            await log.append(tx, "run:a", RunResumed())
            raise ZeroDivisionError
    await append(store, log, "run:a", 2)
    assert await seqs(store, log, "run:a") == [1, 2]


async def test_event_with_unpaired_surrogate_is_rejected(store: Store, log: EventLog):
    with pytest.raises(ValueError, match=r"run\.progress contains invalid text"):
        async with store.begin() as tx:
            await log.append(tx, "run:a", RunProgressed(done=1, total=2, note="half \ud83d"))
    assert await append(store, log, "run:a", 1) == 1
    assert await seqs(store, log, "run:a") == [1]


async def test_reader_never_sees_events_out_of_order(store: Store, log: EventLog):
    """A global serial would assign numbers before the commit, so a cursor could skip events committed late."""
    seen: list[int] = []

    async def write() -> None:
        for n in range(60):
            await append(store, log, "run:race", n)

    async def read() -> None:
        while len(seen) < 240:
            seen.extend(await seqs(store, log, "run:race", after=seen[-1] if seen else 0))
            await anyio.lowlevel.checkpoint()

    with anyio.fail_after(PATIENCE_S):
        async with anyio.create_task_group() as group:
            group.start_soon(read)
            for _ in range(4):
                group.start_soon(write)
    assert seen == list(range(1, 241))


async def test_reading_respects_cursor_and_limit(store: Store, log: EventLog):
    await append(store, log, "run:a", *range(10))
    assert await seqs(store, log, "run:a", after=3, limit=4) == [4, 5, 6, 7]
    assert await seqs(store, log, "run:other") == []


async def test_deleted_stream_is_gone(store: Store, log: EventLog):
    await append(store, log, "run:a", 1)
    await append(store, log, "run:b", 1)
    async with store.begin() as tx:
        await log.delete(tx, "run:a")
    assert (await log.last_seq("run:a"), await log.last_seq("run:b")) == (0, 1)
