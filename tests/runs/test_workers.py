"""Worker leases during outages and clock changes of the database."""

import asyncio
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from tests.conftest import NewDatabase
from tests.support.engine import open_engine
from tests.support.timeouts import PATIENCE_S

from forge.runs import store as runs_store
from forge.runs.tables import workers
from forge.store.database import Store

pytestmark = pytest.mark.anyio

HOURS = timedelta(hours=3)


@pytest.fixture
def url(new_database: NewDatabase, tmp_path: Path) -> str:
    return new_database("postgresql", tmp_path)


async def add_worker(store: Store, name: str) -> None:
    async with store.begin() as tx:
        await runs_store.insert_worker(tx, name, "elsewhere", 1)


async def set_clock(store: Store, by: timedelta, *names: str) -> None:
    """Move the clock forward as workers see it: make stored times older by this much."""
    update = sa.update(workers).values(seen_at=workers.c.seen_at - sa.literal(by, sa.Interval()))
    async with store.begin() as tx:
        await tx.execute(update.where(workers.c.id.in_(names)) if names else update)


async def last_seen(store: Store) -> dict[str, datetime]:
    async with store.read() as tx:
        return {worker.id: worker.seen_at for worker in await runs_store.list_workers(tx)}


async def wait_for_heartbeats(store: Store, times: int) -> None:
    """Wait until the worker under test has renewed its lease this many times."""
    for _ in range(times):
        before = await last_seen(store)
        async with asyncio.timeout(PATIENCE_S):
            while all(before.get(name) == at for name, at in (await last_seen(store)).items()):
                await asyncio.sleep(0.05)


async def test_clock_set_forward_removes_no_live_worker(url: str):
    store = Store(url)
    async with open_engine(store):
        await wait_for_heartbeats(store, 8)  # until the grace period after the start has passed
        await add_worker(store, "other")
        await set_clock(store, HOURS)
        await wait_for_heartbeats(store, 2)
        async with store.begin() as tx:
            assert await runs_store.touch_worker(tx, "other") is not None
    await store.close()


async def test_dead_worker_is_found_after_clock_set_back(url: str):
    store = Store(url)
    async with open_engine(store):
        await add_worker(store, "dead")
        await set_clock(store, -HOURS, "dead")
        async with asyncio.timeout(PATIENCE_S):
            while "dead" in await last_seen(store):
                await asyncio.sleep(0.05)
    await store.close()


async def test_outage_is_logged_once_and_lease_continues(url: str, caplog: pytest.LogCaptureFixture):
    def fail(_connection: sa.Connection, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("UPDATE workers"):
            failed.append(statement)
            raise OperationalError(statement, None, psycopg.OperationalError("the connection is closed"))

    failed: list[str] = []
    store = Store(url)
    async with open_engine(store):
        event.listen(store._writer.sync_engine, "before_cursor_execute", fail)
        async with asyncio.timeout(PATIENCE_S):
            while len(failed) < 4:
                await asyncio.sleep(0.05)
        event.remove(store._writer.sync_engine, "before_cursor_execute", fail)
        await wait_for_heartbeats(store, 1)
    await store.close()
    [record] = [one for one in caplog.records if "renew the lease" in one.getMessage()]
    assert (record.name, record.levelname, record.exc_info) == ("forge.runs.workers", "WARNING", None)
