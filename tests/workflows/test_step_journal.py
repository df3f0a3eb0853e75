"""The ticket of a step is stored once and not overwritten; stale attempts cannot write."""

import asyncio

import sqlalchemy as sa
from pydantic import JsonValue
from tests.workflows.triggers.conftest import ACCOUNT, insert_run
from tests.workflows.workflow_client import step

from forge.events.log import EventLog
from forge.kernel.ids import new_id
from forge.runs.tables import runs
from forge.store.database import Store, Tx
from forge.telemetry import Metrics
from forge.workflows.definition.models import Step, StepType
from forge.workflows.engine import step_store
from forge.workflows.engine.activity import RunActivity
from forge.workflows.engine.step_executor import RunInfo, StepCall
from forge.workflows.engine.step_recorder import RunAttempt, StepRecorder
from forge.workflows.engine.step_store import StepRow
from forge.workflows.expressions.secret_placeholders import SecretPlaceholders
from forge.workflows.kind import WorkflowKind
from forge.workflows.models import StepStatus, StepSummary, WorkflowStepMoved


async def call_in_run(store: Store, run_id: str) -> StepCall:
    """Return the call of a step that has just started."""
    async with store.begin() as tx:
        await insert_run(tx, ACCOUNT, run_id, "workflow")
    return call_of(store, run_id)


def call_of(store: Store, run_id: str) -> StepCall:
    kind = WorkflowKind(store, EventLog(store, Metrics(version="test")))
    owner = RunAttempt(run_id, 1)
    definition = step("call", "sub_workflow", workflow_name="other")
    definition["config"]["type"] = "sub_workflow"
    summary = StepSummary(
        key="call", step="call", type=StepType.SUB_WORKFLOW, name="call", status=StepStatus.RUNNING
    )
    return StepCall(
        facts=RunInfo(run_id, ACCOUNT, "workflow", "long", 0),
        step=Step.model_validate(definition),
        row=StepRow(summary),
        activity=RunActivity(10.0, 0.0, 1),
        write=lambda row, events: kind.recorder.write(owner, (row,), events),
        run_fenced=kind._run_fenced(owner),
        secrets=SecretPlaceholders(),
    )


async def ticket_of(store: Store, run_id: str) -> JsonValue:
    async with store.read() as tx:
        return (await step_store.load(tx, run_id))["call"].ticket


async def test_publishing_a_step_keeps_its_ticket(store: Store):
    run_id, publishing = new_id(), list[asyncio.Task[None]]()
    call = await call_in_run(store, run_id)

    async def start(_: Tx) -> JsonValue:
        publishing.append(asyncio.create_task(call.publish_start()))
        await asyncio.sleep(0.02)
        return "the child"

    assert await call.begin(start) == "the child"
    await publishing[0]
    assert await ticket_of(store, run_id) == "the child"


async def test_committed_ticket_is_reused_after_lost_response(store: Store):
    run_id = new_id()
    call = await call_in_run(store, run_id)

    async def start(_: Tx) -> JsonValue:
        return "the child"

    async def start_another(_: Tx) -> JsonValue:
        return "another child"

    await call.begin(start)
    assert await call_of(store, run_id).begin(start_another) == "the child"
    assert await ticket_of(store, run_id) == "the child"


def row(key: str) -> StepRow:
    return StepRow(StepSummary(key=key, step=key, type=StepType.WAIT, name=key, status=StepStatus.RUNNING))


async def write(recorder: StepRecorder, owner: RunAttempt, key: str) -> None:
    one = row(key)
    await recorder.write(owner, [one], [WorkflowStepMoved(step=one.summary)])


async def test_write_of_stale_attempt_is_refused_in_batch(store: Store):
    run_id, recorder = new_id(), StepRecorder(store, EventLog(store, Metrics(version="test")))
    async with store.begin() as tx:
        await insert_run(tx, ACCOUNT, run_id, "workflow")
        await tx.execute(sa.update(runs).where(runs.c.id == run_id).values(attempt=2))
    ended = await asyncio.gather(
        write(recorder, RunAttempt(run_id, 1), "stale"),
        write(recorder, RunAttempt(run_id, 2), "fresh"),
        return_exceptions=True,
    )
    assert [type(one) for one in ended] == [asyncio.CancelledError, type(None)]
    async with store.read() as tx:
        assert list(await step_store.load(tx, run_id)) == ["fresh"]
