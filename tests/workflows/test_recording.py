"""Whoever does not have a run any more writes nothing, whoever else writes at the same moment."""

import asyncio

import sqlalchemy as sa
from tests.workflows.triggers.conftest import ACCOUNT, insert_run

from forge.events.log import EventLog
from forge.kernel.ids import new_id
from forge.runs.tables import runs
from forge.store.engine import Store
from forge.telemetry import Metrics
from forge.workflows import steps_store
from forge.workflows.definition.models import StepType
from forge.workflows.engine.recording import Owner, Recorder
from forge.workflows.engine.rows import StepRow
from forge.workflows.models import StepStatus, StepSummary, WorkflowStepMoved


def row(key: str) -> StepRow:
    return StepRow(StepSummary(key=key, step=key, type=StepType.WAIT, name=key, status=StepStatus.RUNNING))


async def write(recorder: Recorder, owner: Owner, key: str) -> None:
    one = row(key)
    await recorder.write(owner, [one], [WorkflowStepMoved(step=one.summary)])


async def test_an_earlier_attempt_writes_nothing_together_with_the_one_that_has_the_run(store: Store):
    run_id, recorder = new_id(), Recorder(store, EventLog(store, Metrics(version="test")))
    async with store.begin() as tx:
        await insert_run(tx, ACCOUNT, run_id, "workflow")
        await tx.execute(sa.update(runs).where(runs.c.id == run_id).values(attempt=2))
    ended = await asyncio.gather(
        write(recorder, Owner(run_id, 1), "stale"),
        write(recorder, Owner(run_id, 2), "fresh"),
        return_exceptions=True,
    )
    assert [type(one) for one in ended] == [asyncio.CancelledError, type(None)]
    async with store.read() as tx:
        assert list(await steps_store.load(tx, run_id)) == ["fresh"]
