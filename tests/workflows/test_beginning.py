"""What a step begins is kept with it, whatever else is written of it and whatever becomes of the database."""

import asyncio

from pydantic import JsonValue
from tests.workflows.making import step
from tests.workflows.triggers.conftest import ACCOUNT, insert_run

from forge.events.log import EventLog
from forge.kernel.ids import new_id
from forge.store.engine import Store, Tx
from forge.telemetry import Metrics
from forge.workflows import steps_store
from forge.workflows.definition.models import Step, StepType
from forge.workflows.engine.calling import LiveCall, RunFacts
from forge.workflows.engine.pace import Pace
from forge.workflows.engine.recording import Owner
from forge.workflows.engine.rows import StepRow
from forge.workflows.expressions.marks import SecretMarks
from forge.workflows.kind import WorkflowKind
from forge.workflows.models import StepStatus, StepSummary


async def call_in_run(store: Store, run_id: str) -> LiveCall:
    """Of a step that has just started."""
    async with store.begin() as tx:
        await insert_run(tx, ACCOUNT, run_id, "workflow")
    return call_of(store, run_id)


def call_of(store: Store, run_id: str) -> LiveCall:
    kind = WorkflowKind(store, EventLog(store, Metrics(version="test")))
    owner = Owner(run_id, 1)
    given = step("errand", "sub_workflow", workflow_name="other")
    given["config"]["type"] = "sub_workflow"
    summary = StepSummary(
        key="errand", step="errand", type=StepType.SUB_WORKFLOW, name="errand", status=StepStatus.RUNNING
    )
    return LiveCall(
        facts=RunFacts(run_id, ACCOUNT, "workflow", "long", 0),
        step=Step.model_validate(given),
        row=StepRow(summary),
        pace=Pace(10.0, 0.0, 1),
        write=lambda row, told: kind.recorder.write(owner, (row,), told),
        fenced=kind._fenced(owner),
        secrets=SecretMarks(),
    )


async def ticket_of(store: Store, run_id: str) -> JsonValue:
    async with store.read() as tx:
        return (await steps_store.load(tx, run_id))["errand"].ticket


async def test_telling_of_a_step_does_not_undo_what_it_has_begun(store: Store):
    run_id, telling = new_id(), list[asyncio.Task[None]]()
    call = await call_in_run(store, run_id)

    async def start(_: Tx) -> JsonValue:
        telling.append(asyncio.create_task(call.tell_start()))
        await asyncio.sleep(0.02)
        return "the child"

    assert await call.begin(start) == "the child"
    await telling[0]
    assert await ticket_of(store, run_id) == "the child"


async def test_what_was_committed_though_nobody_heard_of_it_is_not_begun_again(store: Store):
    run_id = new_id()
    call = await call_in_run(store, run_id)

    async def start(_: Tx) -> JsonValue:
        return "the child"

    async def start_another(_: Tx) -> JsonValue:
        return "another child"

    await call.begin(start)
    assert await call_of(store, run_id).begin(start_another) == "the child"
    assert await ticket_of(store, run_id) == "the child"
