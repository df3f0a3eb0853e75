"""Assemble the run engine and shut it down in the right order."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager

from forge.events.log import EventLog
from forge.kernel.background import in_background
from forge.runs.engine import Engine
from forge.runs.executor import Executor
from forge.runs.journal import Journal
from forge.runs.kinds import RunKinds
from forge.runs.retention import Retention
from forge.runs.service import Runs
from forge.runs.workers import Lease, worker_id
from forge.store.database import Store
from forge.telemetry import Metrics, Tracing


@asynccontextmanager
async def open_runs(
    store: Store, events: EventLog, kinds: RunKinds, metrics: Metrics, tracing: Tracing, *, keep_days: int
) -> AsyncGenerator[Runs]:
    own_id = worker_id(store)
    engine = Engine(store, own_id)
    journal = Journal(store, events, engine, metrics)
    executor = Executor(kinds, journal, engine, tracing, own_id)
    lease = Lease(store, engine, executor, own_id)
    retention = Retention(store, events, engine, keep_days)
    async with AsyncExitStack() as stack:
        await lease.acquire()
        stack.push_async_callback(lease.release)
        stack.push_async_callback(engine.close)  # also after a failed start: its threads would keep running
        await engine.open(executor.execute)
        # Before the engine closes: an interrupted run continues later, one that loses its engine would fail.
        stack.push_async_callback(executor.stop_all)
        await stack.enter_async_context(in_background(lease.keep_renewed(), "lease"))
        await stack.enter_async_context(in_background(retention.run_forever(), "retention"))
        yield Runs(store, events, kinds, journal, engine, executor)
