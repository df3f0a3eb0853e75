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
def lost(store: Store, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Each statement of a run finds the database away when it is made for the first time."""
    monkeypatch.setattr(database, "FIRST_RETRY_S", 0.001)
    lost: set[str] = set()

    def lose(_connection: sa.Connection, _cursor: Any, statement: str, *_: Any) -> None:
        if inside_a_run.get() and statement not in lost:
            lost.add(statement)
            raise OperationalError(statement, None, psycopg.OperationalError("the connection is closed"))

    for engine in {store._writer, store._reader}:
        event.listen(engine.sync_engine, "before_cursor_execute", lose)
    return lost


async def test_lost_connection_loses_no_statement_of_a_run(store: Store, lost: set[str]):
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
    assert [statement for statement in lost if statement.startswith("INSERT INTO runs")]


async def test_outage_retries_step_regardless_of_its_retry_policy(store: Store, lost: set[str]):
    async def look(step: StepInfo, word: str) -> list[Any]:
        async with store.read() as tx:
            return [(await tx.execute(sa.text(f"SELECT '{word}'"))).scalar_one(), step.attempt]

    async def looking(context: RunContext, given: Any) -> Any:
        inside_a_run.set(True)
        beside = await context.parallel([Call("look", look, ("beside",))])
        return [await context.step("look", look, "alone"), *(outcome.value for outcome in beside)]

    async with open_engine(store, kind("looking", looking)) as engine:
        ended = await engine.finished((await engine.start("looking")).id)
        problems = [fact.data["error"] for fact in await engine.history(ended.id) if fact.data.get("error")]
    assert (ended.status, ended.output) == (RunStatus.COMPLETED, [["alone", 2], ["beside", 2]])
    assert {problem["message"] for problem in problems} == {"The database was unavailable."}


async def test_waiting_for_run_end_survives_outage(store: Store, lost: set[str]):
    async with open_engine(store, kind("seven", give_seven)) as engine:
        run = await engine.start("seven")
        inside_a_run.set(True)
        ended = await wait_for_end(store, engine.events, run.id)
    assert (ended.output, bool(lost)) == (7, True)


@pytest.fixture
async def file(tmp_path: Path) -> AsyncIterator[Store]:
    store = Store(f"sqlite:///{tmp_path / 'forge.db'}")
    await migrate(store)
    yield store
    await store.close()


def disk_full(statement: str) -> OperationalError:
    full = sqlite3.OperationalError("database or disk is full")
    full.sqlite_errorcode = sqlite3.SQLITE_FULL
    return OperationalError(statement, None, full)


async def has_succeeded(file: Store) -> bool:
    async with file.read() as tx:
        found = await tx.execute(sa.text("SELECT status FROM workflow_status"))
        return found.scalar_one() == "SUCCESS"


async def test_a_full_disk_does_not_fail_a_run_where_the_engine_writes(file: Store):
    """On SQLite the engine's own statements meet it too: what a step gave, and that a run has ended."""
    refused: set[str] = set()

    def refuse(_connection: sa.Connection, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith(("INSERT", "UPDATE")) and statement not in refused:
            refused.add(statement)
            raise disk_full(statement)

    async def add(step: StepInfo, number: int) -> int:
        return number + 1

    async def small(context: RunContext, given: Any) -> Any:
        return await context.step("add", add, given.number)

    async with open_engine(file, kind("small", small)) as engine:
        database = engine.runs._engine._sqlite
        assert database is not None
        event.listen(database, "before_cursor_execute", refuse)
        ended = await engine.finished((await engine.start("small", number=1)).id)
        async with asyncio.timeout(PATIENCE_S):
            while not await has_succeeded(file):
                await asyncio.sleep(0.05)
    assert (ended.status, ended.output, ended.error) == (RunStatus.COMPLETED, 2, None)
    assert any("operation_outputs" in statement for statement in refused), refused


async def test_closing_engine_stops_waiting_for_full_disk(file: Store):
    """A thread that went on trying would keep the process from ending. The run is as it was, for the next process."""
    refused = threading.Event()

    def refuse(_connection: sa.Connection, _cursor: Any, statement: str, *_: Any) -> None:
        if "operation_outputs" in statement and statement.startswith("INSERT"):
            refused.set()
            raise disk_full(statement)

    async def small(context: RunContext, given: Any) -> Any:
        return await context.step("add", add, 1)

    async def add(step: StepInfo, number: int) -> int:
        return number + 1

    async with open_engine(file, kind("small", small)) as engine:
        database = engine.runs._engine._sqlite
        assert database is not None
        event.listen(database, "before_cursor_execute", refuse)
        run = await engine.start("small")
        assert await asyncio.to_thread(refused.wait, PATIENCE_S)
    async with asyncio.timeout(PATIENCE_S):
        while [thread for thread in threading.enumerate() if thread.name.startswith("engine")]:
            await asyncio.sleep(0.05)
    async with open_engine(file, kind("small", small)) as engine:
        ended = await engine.finished(run.id)
    assert (ended.status, ended.output, ended.attempt) == (RunStatus.COMPLETED, 2, 2)


async def test_full_disk_is_reported_and_step_is_retried(store: Store):
    async def write(step: StepInfo) -> int:
        if step.attempt == 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return step.attempt

    async def patient(context: RunContext, given: Any) -> Any:
        return await context.step("write", write, retry=Retry(attempts=2, first_delay_s=0.01))

    async def hasty(context: RunContext, given: Any) -> Any:
        return await context.step("write", write)

    async with open_engine(store, kind("patient", patient), kind("hasty", hasty)) as engine:
        waited = await engine.finished((await engine.start("patient")).id)
        failed = await engine.finished((await engine.start("hasty")).id)
    assert (waited.status, waited.output) == (RunStatus.COMPLETED, 2)
    assert failed.error and failed.error.message == "write: The disk is full."


async def give_seven(context: RunContext, given: Any) -> Any:
    return 7


async def test_engine_closes_cleanly_when_disk_is_full(store: Store):
    def refuse(_connection: sa.Connection, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("UPDATE workers"):
            refused.append(statement)
            raise disk_full(statement)

    refused: list[str] = []
    async with open_engine(store, kind("seven", give_seven)) as engine:
        assert (await engine.finished((await engine.start("seven")).id)).output == 7
        event.listen(store._writer.sync_engine, "before_cursor_execute", refuse)
    assert refused


async def test_an_engine_whose_start_fails_leaves_nothing_behind(
    store: Store, monkeypatch: pytest.MonkeyPatch
):
    """Its threads would go on, and the next engine of the process would meet them."""

    async def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("no queue")

    before = {*threading.enumerate()}
    with monkeypatch.context() as patch, pytest.raises(RuntimeError, match="no queue"):
        patch.setattr(DBOS, "register_queue_async", fail)
        async with open_engine(store, kind("seven", give_seven)):
            pass
    async with asyncio.timeout(PATIENCE_S):
        while [one for one in threading.enumerate() if "queue" in one.name and one not in before]:
            await asyncio.sleep(0.05)
    async with open_engine(store, kind("seven", give_seven)) as engine:
        assert (await engine.finished((await engine.start("seven")).id)).output == 7


async def test_engine_starts_despite_lost_connection(store: Store, monkeypatch: pytest.MonkeyPatch):
    register, tries = DBOS.register_queue_async, 0

    async def lose_first(*args: Any, **more: Any) -> Any:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise OperationalError("INSERT", None, psycopg.OperationalError("the connection is closed"))
        return await register(*args, **more)

    monkeypatch.setattr(DBOS, "register_queue_async", lose_first)
    async with open_engine(store, kind("seven", give_seven)) as engine:
        assert (await engine.finished((await engine.start("seven")).id)).output == 7
    assert tries == 2
