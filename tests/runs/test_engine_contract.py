"""Behavior of DBOS that Forge relies on or works around. A new release must pass these tests."""

import asyncio
import sqlite3
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from dbos._sys_db_sqlite import SQLiteSystemDatabase
from tests.support.engine import ACCOUNT, EngineUnderTest, kind, open_engine
from tests.support.timeouts import PATIENCE_S

from forge.kernel.clock import now
from forge.runs import dbos_patches
from forge.runs.attempt import Call, StepInfo
from forge.runs.context import RunContext
from forge.runs.engine import ENGINE_VERSION, QUEUE, THREADS, Engine
from forge.runs.models import GateOption, NewAnswer, Question, RunStatus
from forge.runs.retention import Retention
from forge.store.database import Store
from forge.store.schema import migrate

QUESTION = Question(kind="test", title="Go on?", options=[GateOption(id="yes", label="Yes")])


def dbos(store: Store, table: str) -> str:
    return table if store.is_sqlite else f"dbos.{table}"


async def rows(store: Store, statement: str) -> list[tuple[Any, ...]]:
    async with store.read() as tx:
        return [tuple(row) for row in await tx.execute(sa.text(statement))]


async def answer(engine: EngineUnderTest) -> None:
    gate = await engine.open_gate()
    await engine.runs.answer(ACCOUNT, gate.id, NewAnswer(option="yes", shown_hash=gate.shown_hash), by="me")


class TwoArgumentError(Exception):
    """Cannot be recreated from `args`: unpickling it raises a TypeError."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


async def body_with_gate(context: RunContext, given: Any) -> Any:
    async def one(step: StepInfo) -> str:
        return "first"

    async def fail(step: StepInfo) -> None:
        raise TwoArgumentError("salt", "pepper")

    async def branch(step: StepInfo, n: int) -> int:
        await asyncio.sleep(0.01 * (5 - n))
        return n

    before = await context.step("one", one)
    (failed,) = await context.parallel([Call("odd", fail)])
    outcomes = await context.parallel([Call(f"branch {n}", branch, (n,)) for n in range(5)])
    await context.ask(QUESTION)
    assert failed.error is not None
    return [before, failed.error.message, [outcome.value for outcome in outcomes]]


EXPECTED = ["first", "TwoArgumentError: salt and pepper", [0, 1, 2, 3, 4]]


async def test_replayed_run_reuses_step_results(store: Store):
    """Exceptions too: the journal stores them as data, so they are the same after a restart."""
    asking = kind("asking", body_with_gate)
    async with open_engine(store, asking) as engine:
        run = await engine.start("asking")
        await engine.open_gate()
        steps = (await engine.types(run.id)).count("step.started")
    async with open_engine(store, asking) as engine:
        # On PostgreSQL, a new process waits until the lease of the old one has expired.
        if not store.is_sqlite:
            await engine.when(run.id, lambda run: run.attempt == 2)
        await answer(engine)
        ended = await engine.finished(run.id)
        assert (ended.output, ended.attempt) == (EXPECTED, 2)
        assert (await engine.types(run.id)).count("step.started") == steps


async def test_recovery_attempts_are_unlimited(store: Store):
    """DBOS gives up after 100 starts by default, and each deployment counts as one."""
    asking = kind("asking", body_with_gate)
    async with open_engine(store, asking) as engine:
        run = await engine.start("asking")
        await engine.open_gate()
    async with store.begin() as tx:
        await tx.execute(sa.text(f"UPDATE {dbos(store, 'workflow_status')} SET recovery_attempts = 5000"))
    async with open_engine(store, asking) as engine:
        await engine.when(run.id, lambda run: run.attempt == 2)
        await answer(engine)
        assert (await engine.finished(run.id)).status is RunStatus.COMPLETED


async def test_journal_is_json_and_has_the_engine_version(store: Store):
    asking = kind("asking", body_with_gate)
    async with open_engine(store, asking) as engine:
        run = await engine.start("asking")
        await answer(engine)
        await engine.finished(run.id)
        kinds = await rows(store, f"SELECT DISTINCT serialization FROM {dbos(store, 'operation_outputs')}")
        versions = await rows(
            store, f"SELECT DISTINCT application_version FROM {dbos(store, 'workflow_status')}"
        )
    assert {serialization for (serialization,) in kinds} <= {"portable_json", None}
    assert versions == [(ENGINE_VERSION,)]


async def test_run_and_its_queue_entry_are_committed_together(store: Store):
    async def nothing(context: RunContext, given: Any) -> None:
        return None

    async with open_engine(store, kind("nothing", nothing)) as engine:
        with pytest.raises(ZeroDivisionError):
            async with store.begin() as tx:
                await engine.runs.start(tx, ACCOUNT, "nothing", {})
                raise ZeroDivisionError
        assert await rows(store, f"SELECT * FROM {dbos(store, 'workflow_status')}") == []
        assert await rows(store, "SELECT * FROM runs") == await rows(store, "SELECT * FROM events") == []


async def test_retention_deletes_old_runs_with_all_their_rows(store: Store):
    asking = kind("asking", body_with_gate)
    async with open_engine(store, asking) as engine:
        old, recent = await engine.start("asking"), await engine.start("asking")
        for _ in (old, recent):
            await answer(engine)
        for run in (old, recent):
            await engine.finished(run.id)
        long_ago = now() - timedelta(days=2)
        async with store.begin() as tx:
            from forge.runs.tables import runs

            await tx.execute(sa.update(runs).where(runs.c.id == old.id).values(finished_at=long_ago))
        retention = Retention(store, engine.events, engine.runs._engine, keep_days=1)
        assert await retention.sweep() == 1
        remaining = await rows(store, f"SELECT DISTINCT workflow_uuid FROM {dbos(store, 'workflow_status')}")
        assert remaining == [(recent.id,)]
        assert await engine.events.last_seq(f"run:{old.id}") == 0
        assert [run.id for run in (await engine.runs.find(ACCOUNT)).items] == [recent.id]
        assert await retention.sweep() == 0


async def test_writer_gets_thread_while_engine_waits(store: Store):
    """All threads of the engine may wait for SQLite's write lock, while its holder needs a thread to continue."""
    async with open_engine(store, kind("nothing", body_with_gate)) as engine:
        run = await engine.start("nothing")
        await engine.open_gate()
        async with store.begin() as tx:
            await tx.execute(sa.text("UPDATE runs SET title = title"))
            waiting = [asyncio.create_task(engine.runs._engine.cancel([run.id])) for _ in range(THREADS + 4)]
            await asyncio.sleep(0.3)
            async with asyncio.timeout(PATIENCE_S):
                assert await asyncio.to_thread(threading.current_thread) is not threading.main_thread()
        await asyncio.gather(*waiting)


async def test_retention_deletes_old_account_events_except_the_last(store: Store):
    asking = kind("asking", body_with_gate)
    async with open_engine(store, asking) as engine:
        run, stream = await engine.start("asking"), f"account:{ACCOUNT}"
        await answer(engine)
        await engine.finished(run.id)
        last = await engine.events.last_seq(stream)
        long_ago = now() - timedelta(days=2)
        async with store.begin() as tx:
            from forge.events.tables import events

            update = sa.update(events).where(events.c.stream == stream)
            await tx.execute(update.where(events.c.seq <= 2).values(at=long_ago))
        retention = Retention(store, engine.events, engine.runs._engine, keep_days=1)

        await retention.sweep()
        assert await rows(store, f"SELECT min(seq), max(seq) FROM events WHERE stream = '{stream}'") == [
            (3, last)
        ]

        async with store.begin() as tx:
            await tx.execute(update.values(at=long_ago))
        await retention.sweep()
        assert await rows(store, f"SELECT seq FROM events WHERE stream = '{stream}'") == [(last,)]
        assert await engine.events.last_seq(stream) == last
        assert (await engine.history(run.id))[0].type == "run.created"


async def test_child_run_is_kept_until_its_parent_has_ended(store: Store):
    """The parent may not have read the result yet, for example after a long downtime."""

    async def parent(context: RunContext, given: Any) -> Any:
        child = await context.child("small", {})
        await context.ask(QUESTION)
        return child.output

    async def small(context: RunContext, given: Any) -> Any:
        return "done"

    async with open_engine(store, kind("parent", parent), kind("small", small)) as engine:
        run = await engine.start("parent")
        await engine.open_gate()
        async with store.begin() as tx:
            from forge.runs.tables import runs

            long_ago = now() - timedelta(days=9)
            await tx.execute(sa.update(runs).where(runs.c.parent_id == run.id).values(finished_at=long_ago))
        retention = Retention(store, engine.events, engine.runs._engine, keep_days=1)
        assert await retention.sweep() == 0
        await answer(engine)
        assert (await engine.finished(run.id)).output == "done"
        assert await retention.sweep() == 1


async def test_waiting_runs_on_sqlite_are_woken_by_patched_poll(tmp_path: Any):
    """`install_message_polling` replaces a private method of DBOS; this fails when it is no longer called."""
    from forge.runs import dbos_patches, workers

    calls = 0
    original = dbos_patches._signal_waiters

    def counted(database: Any, connection: Any) -> None:
        nonlocal calls
        calls += 1
        original(database, connection)

    store = Store(f"sqlite:///{tmp_path / 'forge.db'}")
    await migrate(store)
    dbos_patches._signal_waiters = counted  # type: ignore[assignment]
    try:
        async with open_engine(store, kind("asking", body_with_gate)) as engine:
            run = await engine.start("asking")
            await answer(engine)
            await engine.finished(run.id)
            before, started = calls, time.monotonic()
            await asyncio.sleep(1)  # fifty ticks
            beats = (time.monotonic() - started) / workers.HEARTBEAT_S  # heartbeats change the database
            allowed = beats + 5  # and the last writes of the run
            assert (before > 0, calls - before <= allowed) == (True, True), "polled although nothing changed"
    finally:
        dbos_patches._signal_waiters = original
        await store.close()


async def test_unread_messages_do_not_slow_polling(tmp_path: Path):
    """They accumulate, so the poll must find its own with an index of DBOS."""
    from forge.runs import dbos_patches

    store = Store(f"sqlite:///{tmp_path / 'forge.db'}")
    await migrate(store)
    async with open_engine(store, kind("asking", body_with_gate)), store.read() as tx:
        raw = await tx.connection.get_raw_connection()
        plan = await raw.driver_connection.execute_fetchall(  # pyright: ignore[reportOptionalMemberAccess]
            f"EXPLAIN QUERY PLAN {dbos_patches._MESSAGES}", ('["one"]',)
        )
    await store.close()
    steps = [row[-1] for row in plan if "notifications" in row[-1]]
    assert [step.partition(" (")[2] for step in steps] == ["destination_uuid=?)"], steps


async def test_idle_queue_on_sqlite_is_not_polled_and_new_run_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """`CachedQueue` wraps two methods of DBOS; this fails when they are no longer called."""
    store = Store(f"sqlite:///{tmp_path / 'forge.db'}")
    await migrate(store)
    polled: list[str] = []
    original = SQLiteSystemDatabase.start_queued_workflows

    def counted(self: Any, queue: Any, *args: Any, **more: Any) -> Any:
        polled.append(queue.name)
        return original(self, queue, *args, **more)

    monkeypatch.setattr(SQLiteSystemDatabase, "start_queued_workflows", counted)
    async with open_engine(store, kind("asking", body_with_gate)) as engine:
        for _ in range(2):
            run = await engine.start("asking")
            await answer(engine)
            await engine.finished(run.id)
            before = len(polled)
            await asyncio.sleep(1)  # ten ticks
            assert before > 0 and polled[before:].count(QUEUE) <= 5, "polled although nothing changed"
    await store.close()


async def test_committed_run_starts_without_polling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """`WakeableQueue` wraps a method of DBOS; without it a run waits for the next poll."""
    store = Store(f"sqlite:///{tmp_path / 'forge.db'}")
    await migrate(store)
    monkeypatch.setattr(dbos_patches, "MAX_QUEUE_WAIT_S", 3600)
    async with open_engine(store, kind("asking", body_with_gate)) as engine:
        for _ in range(2):
            run = await engine.start("asking")
            await answer(engine)
            await engine.finished(run.id)
    await store.close()


def test_sqlite_supports_unixepoch_with_subseconds(tmp_path: Any):
    engine = Engine(Store(f"sqlite:///{tmp_path / 'forge.db'}"), "local")
    assert engine._sqlite is not None
    with engine._sqlite.connect() as connection:
        seconds = connection.execute(sa.text("SELECT unixepoch('subsec')")).scalar_one()
    engine._sqlite.dispose()
    assert abs(seconds - now().timestamp()) < 60
    assert sqlite3.sqlite_version_info >= (3, 35), "RETURNING needs SQLite 3.35"
