"""The driver needs one call in the connection's thread where SQLAlchemy and aiosqlite need four."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError, OperationalError

from forge.store import sqlite_driver
from forge.store.database import Store

COLORS = sa.Table(
    "colours",
    sa.MetaData(),
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.String, unique=True, nullable=False),
)


@pytest.fixture
async def file(tmp_path: Path) -> AsyncIterator[Store]:
    store = Store(f"sqlite:///{tmp_path / 'forge.db'}")
    await store.enable_wal()
    async with store.begin() as tx:
        await tx.connection.run_sync(COLORS.metadata.create_all)
        await tx.execute(COLORS.insert(), [{"name": "red"}, {"name": "green"}])
    await names(store)  # opens a connection for reading
    yield store
    await store.close()


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of functions called in the connection's thread."""
    calls_made: list[str] = []
    original = sqlite_driver.Connection.run

    async def counting_run(self: Any, function: Any, *arguments: Any) -> Any:
        calls_made.append(function.__name__)
        return await original(self, function, *arguments)

    monkeypatch.setattr(sqlite_driver.Connection, "run", counting_run)
    return calls_made


async def names(store: Store) -> list[str]:
    async with store.read() as tx:
        return list((await tx.execute(sa.select(COLORS.c.name).order_by(COLORS.c.id))).scalars())


async def test_read_takes_one_round_trip(file: Store, calls: list[str]):
    assert (await names(file), calls) == (["red", "green"], ["perform"])


async def test_write_takes_one_round_trip_per_statement_and_commit(file: Store, calls: list[str]):
    async with file.begin() as tx:
        await tx.execute(COLORS.update().where(COLORS.c.id == 1).values(name="crimson"))
        await tx.execute(COLORS.delete().where(COLORS.c.id == 2))
    assert calls == ["perform", "perform", "commit"]
    assert await names(file) == ["crimson"]


async def test_transaction_without_statements_does_nothing(file: Store, calls: list[str]):
    async with file.begin(), file.read():
        pass
    with pytest.raises(KeyError):
        async with file.begin():
            raise KeyError
    assert calls == []


async def test_results_equal_those_of_the_statement(file: Store):
    async with file.begin() as tx:
        changed = await tx.execute(COLORS.update().values(name=COLORS.c.name + "!"))
        added = await tx.execute(COLORS.insert().values(name="blue"))
        returned = await tx.execute(COLORS.insert().values(name="grey").returning(COLORS.c.id))
        assert (changed.rowcount, added.inserted_primary_key, returned.scalar_one()) == (2, (3,), 4)
        many = await tx.execute(COLORS.insert(), [{"name": "a"}, {"name": "b"}])
        assert many.rowcount == 2
        empty = await tx.execute(sa.select(COLORS).where(COLORS.c.id == 99))
        assert empty.one_or_none() is None


async def test_failed_transaction_is_rolled_back_and_connection_stays_usable(file: Store):
    with pytest.raises(IntegrityError):
        async with file.begin() as tx:
            await tx.execute(COLORS.insert().values(name="blue"))
            await tx.execute(COLORS.insert().values(name="red"))
    async with file.begin() as tx:
        await tx.execute(COLORS.insert().values(name="white"))
    assert await names(file) == ["red", "green", "white"]


async def test_failed_commit_leaves_no_open_transaction(file: Store):
    async with file.begin() as tx:
        await tx.connection.exec_driver_sql(
            "CREATE TABLE shades (of INTEGER REFERENCES colours (id) DEFERRABLE INITIALLY DEFERRED)"
        )
    with pytest.raises(IntegrityError):
        async with file.begin() as tx:
            await tx.execute(COLORS.insert().values(name="blue"))
            await tx.connection.exec_driver_sql("INSERT INTO shades VALUES (99)")
    async with file.begin() as tx:
        await tx.execute(COLORS.insert().values(name="white"))
    assert await names(file) == ["red", "green", "white"]


async def test_failed_begin_writes_nothing(file: Store):
    """The transaction continues after its first statement was rejected."""
    other_connection = sqlite3.connect(file.path or "", isolation_level=None)
    other_connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(KeyError):
        async with file.begin() as tx:
            driver: Any = (await tx.connection.get_raw_connection()).driver_connection
            await driver.run(driver._conn.execute, "PRAGMA busy_timeout=1")
            with pytest.raises(OperationalError, match="locked"):
                await tx.execute(COLORS.insert().values(name="blue"))
            other_connection.rollback()
            await tx.execute(COLORS.insert().values(name="white"))
            raise KeyError
    other_connection.close()
    assert await names(file) == ["red", "green"]


async def test_reader_sees_one_snapshot(file: Store):
    async with file.read() as tx:
        before = (await tx.execute(sa.select(sa.func.count()).select_from(COLORS))).scalar_one()
        async with file.begin() as writer:
            await writer.execute(COLORS.delete())
        after = (await tx.execute(sa.select(sa.func.count()).select_from(COLORS))).scalar_one()
    assert (before, after, await names(file)) == (2, 2, [])


async def test_idle_connection_holds_no_snapshot(file: Store):
    """A snapshot would prevent truncation of the write-ahead log."""
    await asyncio.gather(*(names(file) for _ in range(8)))
    async with file.begin() as tx:
        await tx.execute(COLORS.insert().values(name="white"))
    checkpoint_engine = sa.create_engine(file.url)
    with checkpoint_engine.connect() as connection:
        busy, pages, moved = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
    checkpoint_engine.dispose()
    assert (busy, pages, moved) == (0, 0, 0)


async def test_cancelled_statement_blocks_nothing(file: Store):
    """A slow query is cancelled on the writer connection."""
    slow = sa.text(
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000000) SELECT sum(i) FROM n"
    )
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05), file.begin() as tx:
            await tx.execute(COLORS.insert().values(name="blue"))
            await tx.execute(slow)
    async with file.begin() as tx:
        await tx.execute(COLORS.insert().values(name="white"))
    assert await names(file) == ["red", "green", "white"]
