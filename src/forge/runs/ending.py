"""Waiting until another run has ended."""

from forge.events.log import EventLog
from forge.runs import store
from forge.runs.journal import run_stream
from forge.runs.models import Run, RunCancelled, RunCompleted, RunFailed
from forge.store.engine import Store
from forge.store.outage import survives_outage

_ENDS = frozenset({RunCompleted.type, RunFailed.type, RunCancelled.type})


@survives_outage
async def wait_for_end(database: Store, events: EventLog, run_id: str) -> Run:
    """The run as it ended. Whoever waits may be interrupted and wait again: nothing is missed."""
    async with events.news(run_stream(run_id)) as batches:
        async for batch in batches:
            if not batch or any(event.type in _ENDS for event in batch):
                run = await _read(database, run_id)
                if run.status.is_final:
                    return run
    raise RuntimeError(f"the stream of run {run_id} ended before the run")


async def _read(database: Store, run_id: str) -> Run:
    async with database.read() as tx:
        row = await store.find_run(tx, run_id)
    if row is None:
        raise RuntimeError(f"there is no run {run_id} to wait for")
    return row.run
