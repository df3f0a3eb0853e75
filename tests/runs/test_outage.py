"""Outages of the database make runs wait and never fail."""

import asyncio
import errno
import os
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from dbos import DBOS
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from tests.support.engine import kind, open_engine
from tests.support.timeouts import PATIENCE_S

from forge.runs.attempt import Call, Retry, StepInfo
from forge.runs.context import RunContext
from forge.runs.journal import wait_for_end
from forge.runs.models import RunStatus
from forge.store import database
from forge.store.database import Store
from forge.store.schema import migrate

inside_a_run = ContextVar("inside_a_run", default=False)


@pytest.fixture
def failed_statements(store: Store, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Fail each statement of a run the first time it is executed, as if the connection was lost."""
    monkeypatch.setattr(database, "FIRST_RETRY_S", 0.001)
    failed: set[str] = set()

    def fail_once(_connection: sa.Connection, _cursor: Any, statement: str, *_: Any) -> None:
        if inside_a_run.get() and statement not in failed:
            failed.add(statement)
            raise OperationalError(statement, None, psycopg.OperationalError("the connection is closed"))

    for engine in {store._writer, store._reader}:
        event.listen(engine.sync_engine, "before_cursor_execute", fail_once)
    return failed


async def test_statements_are_retried_after_a_lost_connection(store: Store, failed_statements: set[str]):
    async def add(step: StepInfo, number: int) -> int:
        return number + 1

    async def parent(context: RunContext, given: Any) -> Any:
        inside_a_run.set(True)
        child = await context.child("small", {"number": await context.step("add", add, 1)})
        return child.output

    async def small(context: RunContext, given: Any) -> Any:
        inside_a_run.set(True)
        return await context.step("add", add, given.number)

    async with open_engine(store, kind("parent", parent), kind("small", small)) as engine:
        ended = await engine.finished((await engine.start("parent")).id)
    assert (ended.status, ended.output, ended.error) == (RunStatus.COMPLETED, 3, None)
    assert [statement for statement in failed_statements if statement.startswith("INSERT INTO runs")]


async def test_outage_retries_step_regardless_of_its_retry_policy(store: Store, failed_statements: set[str]):
    async def query(step: StepInfo, word: str) -> list[Any]:
        async with store.read() as tx:
            return [(await tx.execute(sa.text(f"SELECT '{word}'"))).scalar_one(), step.attempt]

    async def query_body(context: RunContext, given: Any) -> Any:
        inside_a_run.set(True)
        parallel = await context.parallel([Call("look", query, ("parallel",))])
        return [await context.step("look", query, "single"), *(outcome.value for outcome in parallel)]

    async with open_engine(store, kind("query", query_body)) as engine:
        ended = await engine.finished((await engine.start("query")).id)
        problems = [
            event.data["error"] for event in await engine.history(ended.id) if event.data.get("error")
        ]
    assert (ended.status, ended.output) == (RunStatus.COMPLETED, [["single", 2], ["parallel", 2]])
    assert {problem["message"] for problem in problems} == {"The database was unavailable."}


async def test_waiting_for_run_end_survives_outage(store: Store, failed_statements: set[str]):
    async with open_engine(store, kind("seven", return_seven)) as engine:
        run = await engine.start("seven")
        inside_a_run.set(True)
        ended = await wait_for_end(store, engine.events, run.id)
    assert (ended.output, bool(failed_statements)) == (7, True)


@pytest.fixture
async def sqlite_store(tmp_path: Path) -> AsyncIterator[Store]:
    store = Store(f"sqlite:///{tmp_path / 'forge.db'}")
    await migrate(store)
    yield store
    await store.close()


def disk_full(statement: str) -> OperationalError:
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    return OperationalError(statement, None, full)


async def has_succeeded(sqlite_store: Store) -> bool:
    async with sqlite_store.read() as tx:
        found = await tx.execute(sa.text("SELECT status FROM workflow_status"))
        return found.scalar_one() == "SUCCESS"


async def test_full_disk_in_engine_statements_does_not_fail_the_run(sqlite_store: Store):
    """On SQLite, the engine's own statements fail too: those that store step results and the end of a run."""
    refused: set[str] = set()

    def refuse(_connection: sa.Connection, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith(("INSERT", "UPDATE")) and statement not in refused:
            refused.add(statement)
            raise disk_full(statement)

    async def add(step: StepInfo, number: int) -> int:
        return number + 1

    async def small(context: RunContext, given: Any) -> Any:
        return await context.step("add", add, given.number)

    async with open_engine(sqlite_store, kind("small", small)) as engine:
        database = engine.runs._engine._sqlite
        assert database is not None
        event.listen(database, "before_cursor_execute", refuse)
        ended = await engine.finished((await engine.start("small", number=1)).id)
        async with asyncio.timeout(PATIENCE_S):
            while not await has_succeeded(sqlite_store):
                await asyncio.sleep(0.05)
    assert (ended.status, ended.output, ended.error) == (RunStatus.COMPLETED, 2, None)
    assert any("operation_outputs" in statement for statement in refused), refused


async def test_closing_engine_stops_waiting_for_full_disk(sqlite_store: Store):
    """A thread that kept retrying would keep the process from ending. The next process continues the run."""
    refused = threading.Event()

    def refuse(_connection: sa.Connection, _cursor: Any, statement: str, *_: Any) -> None:
        if "operation_outputs" in statement and statement.startswith("INSERT"):
            refused.set()
            raise disk_full(statement)

    async def small(context: RunContext, given: Any) -> Any:
        return await context.step("add", add, 1)

    async def add(step: StepInfo, number: int) -> int:
        return number + 1

    async with open_engine(sqlite_store, kind("small", small)) as engine:
        database = engine.runs._engine._sqlite
        assert database is not None
        event.listen(database, "before_cursor_execute", refuse)
        run = await engine.start("small")
        assert await asyncio.to_thread(refused.wait, PATIENCE_S)
    async with asyncio.timeout(PATIENCE_S):
        while [thread for thread in threading.enumerate() if thread.name.startswith("engine")]:
            await asyncio.sleep(0.05)
    async with open_engine(sqlite_store, kind("small", small)) as engine:
        ended = await engine.finished(run.id)
    assert (ended.status, ended.output, ended.attempt) == (RunStatus.COMPLETED, 2, 2)


async def test_full_disk_is_reported_and_step_is_retried(store: Store):
    async def write(step: StepInfo) -> int:
        if step.attempt == 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return step.attempt

    async def with_retry(context: RunContext, given: Any) -> Any:
        return await context.step("write", write, retry=Retry(attempts=2, first_delay_s=0.01))

    async def without_retry(context: RunContext, given: Any) -> Any:
        return await context.step("write", write)

    async with open_engine(
        store, kind("with_retry", with_retry), kind("without_retry", without_retry)
    ) as engine:
        retried = await engine.finished((await engine.start("with_retry")).id)
        failed = await engine.finished((await engine.start("without_retry")).id)
    assert (retried.status, retried.output) == (RunStatus.COMPLETED, 2)
    assert failed.error and failed.error.message == "write: The disk is full."


async def return_seven(context: RunContext, given: Any) -> Any:
    return 7


async def test_engine_closes_cleanly_when_disk_is_full(store: Store):
    def refuse(_connection: sa.Connection, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("UPDATE workers"):
            refused.append(statement)
            raise disk_full(statement)

    refused: list[str] = []
    async with open_engine(store, kind("seven", return_seven)) as engine:
        assert (await engine.finished((await engine.start("seven")).id)).output == 7
        event.listen(store._writer.sync_engine, "before_cursor_execute", refuse)
    assert refused


async def test_failed_engine_start_leaves_no_threads(store: Store, monkeypatch: pytest.MonkeyPatch):
    """Remaining threads would interfere with the next engine of the process."""

    async def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("no queue")

    before = {*threading.enumerate()}
    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="no queue"):
        patch.setattr(DBOS, "register_queue_async", fail)
        async with open_engine(store, kind("seven", return_seven)):
            pass
    async with asyncio.timeout(PATIENCE_S):
        while [one for one in threading.enumerate() if "queue" in one.name and one not in before]:
            await asyncio.sleep(0.05)
    async with open_engine(store, kind("seven", return_seven)) as engine:
        assert (await engine.finished((await engine.start("seven")).id)).output == 7


async def test_engine_starts_despite_lost_connection(store: Store, monkeypatch: pytest.MonkeyPatch):
    register, attempts = DBOS.register_queue_async, 0

    async def fail_first_time(*args: Any, **more: Any) -> Any:
        nonlocal attempts
        attempts += 1
        if attempts == 1:
            raise OperationalError("INSERT", None, psycopg.OperationalError("the connection is closed"))
        return await register(*args, **more)

    monkeypatch.setattr(DBOS, "register_queue_async", fail_first_time)
    async with open_engine(store, kind("seven", return_seven)) as engine:
        assert (await engine.finished((await engine.start("seven")).id)).output == 7
    assert attempts == 2
