"""The store behaves alike on both databases."""

import asyncio
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import anyio
import pytest
import sqlalchemy as sa
from sqlalchemy.exc import StatementError
from tests.support.timeouts import PATIENCE_S

from forge.store.database import Store
from forge.store.types import METADATA, Json, Utc

notes = sa.Table(
    "test_notes",
    sa.MetaData(),
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("at", Utc),
    sa.Column("data", Json),
)


@pytest.fixture
async def notes_store(store: Store) -> Store:
    async with store.begin() as tx:
        await tx.connection.run_sync(notes.metadata.create_all)
    return store


async def all_notes(store: Store) -> list[tuple[object, ...]]:
    async with store.read() as tx:
        return [tuple(row) for row in await tx.execute(sa.select(notes).order_by(notes.c.id))]


async def test_committed_values_are_read_with_their_types(notes_store: Store):
    at = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=timezone(timedelta(hours=2)))
    async with notes_store.begin() as tx:
        await tx.execute(sa.insert(notes).values(id=1, at=at, data={"a": [1, None, "ü"]}))
        await tx.execute(sa.insert(notes).values(id=2, at=None, data=None))
    assert await all_notes(notes_store) == [
        (1, at.astimezone(UTC), {"a": [1, None, "ü"]}),
        (2, None, None),
    ]


async def test_error_rolls_back_and_runs_no_callbacks(notes_store: Store):
    calls: list[str] = []
    with pytest.raises(ZeroDivisionError):
        async with notes_store.begin() as tx:
            tx.after_commit(lambda: calls.append("called"))
            await tx.execute(sa.insert(notes).values(id=1))
            raise ZeroDivisionError
    assert (await all_notes(notes_store), calls) == ([], [])


async def test_callbacks_run_before_and_after_the_commit(notes_store: Store):
    order: list[str] = []

    async def write_last() -> None:
        order.append("before")
        await tx.execute(sa.insert(notes).values(id=2))

    async with notes_store.begin() as tx:
        tx.before_commit(write_last)
        tx.after_commit(lambda: order.append("after"))
        await tx.execute(sa.insert(notes).values(id=1))
        order.append("body")
    assert order == ["body", "before", "after"]
    assert [note[0] for note in await all_notes(notes_store)] == [1, 2]


async def test_concurrent_writers_all_succeed(notes_store: Store):
    async def write(number: int) -> None:
        async with notes_store.begin() as tx:
            count = (await tx.execute(sa.select(sa.func.count()).select_from(notes))).scalar_one()
            await tx.execute(sa.insert(notes).values(id=number, data=count))

    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(write, number)
    assert len(await all_notes(notes_store)) == 50


async def test_writer_does_not_block_reader(notes_store: Store):
    async with notes_store.begin() as tx:
        await tx.execute(sa.insert(notes).values(id=1))
        with anyio.fail_after(PATIENCE_S):
            assert await all_notes(notes_store) == []


async def test_time_without_zone_is_rejected(notes_store: Store):
    with pytest.raises(StatementError, match="without a zone"):
        async with notes_store.begin() as tx:
            await tx.execute(sa.insert(notes).values(id=1, at=datetime(2026, 1, 1)))  # noqa: DTZ001


async def test_sqlite_settings_survive_power_loss(notes_store: Store):
    if not notes_store.is_sqlite:
        return
    async with notes_store.begin() as tx:
        mode = (await tx.execute(sa.text("PRAGMA journal_mode"))).scalar_one()
        synchronous = (await tx.execute(sa.text("PRAGMA synchronous"))).scalar_one()
    assert (mode, synchronous) == ("wal", 2)


def test_every_table_is_in_the_metadata():
    assert {"runs", "gates", "events", "event_streams", "accounts", "secrets"} <= set(METADATA.tables)


async def test_write_cancelled_twice_leaves_no_lock(tmp_path: Path):
    """SQLite does not really close a connection while one of its statements is referenced, as by a traceback."""
    store = Store(f"sqlite:///{tmp_path / 'notes.db'}")
    await store.enable_wal()
    async with store.begin() as tx:
        await tx.connection.run_sync(notes.metadata.create_all)
    long_statement = (
        "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000) "
        "INSERT INTO test_notes (id) SELECT i FROM n WHERE i % 1000 = 0 RETURNING id"
    )
    has_started = asyncio.Event()

    async def write() -> None:
        async with store.begin() as tx:
            await tx.execute(sa.insert(notes).values(id=1))
            has_started.set()
            await tx.execute(sa.text(long_statement))

    task = asyncio.create_task(write())
    await has_started.wait()
    await asyncio.sleep(0.1)  # until the long statement is running
    task.cancel()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError) as error:
        await task
    async with asyncio.timeout(PATIENCE_S), store.begin() as tx:
        await tx.execute(sa.insert(notes).values(id=2))
    assert [row[0] for row in await all_notes(store)] == [2]
    assert error.value is not None
    await store.close()
