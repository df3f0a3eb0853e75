"""A database that is away for a moment makes a run wait, and never fail."""

from contextvars import ContextVar
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from tests.support.engine import kind, open_engine

from forge.runs.attempt import StepInfo
from forge.runs.context import RunContext
from forge.runs.models import RunStatus
from forge.store import outage
from forge.store.engine import Store

inside_a_run = ContextVar("inside_a_run", default=False)


@pytest.fixture
def lost(store: Store, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Each statement of a run finds the database away when it is made for the first time."""
    monkeypatch.setattr(outage, "FIRST_RETRY_S", 0.001)
    lost: set[str] = set()

    def lose(_connection: sa.Connection, _cursor: Any, statement: str, *_: Any) -> None:
        if inside_a_run.get() and statement not in lost:
            lost.add(statement)
            raise OperationalError(statement, None, psycopg.OperationalError("the connection is closed"))

    for engine in {store._writer, store._reader}:
        event.listen(engine.sync_engine, "before_cursor_execute", lose)
    return lost


async def test_no_statement_of_a_run_is_lost_with_the_connection(store: Store, lost: set[str]):
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
