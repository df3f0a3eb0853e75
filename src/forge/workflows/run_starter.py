"""Start workflow runs: for people, triggers, other workflows and retries."""

from dataclasses import dataclass

from pydantic import JsonValue

from forge.errors import Conflict, Invalid, NotFound
from forge.kernel.clock import now
from forge.kernel.ids import derived_id, new_id
from forge.runs.service import Runs
from forge.store.database import Tx
from forge.workflows import store
from forge.workflows.definition.models import MAX_DEPTH, ConcurrencyPolicy, Definition
from forge.workflows.engine.step_executor import StepCall, StepError
from forge.workflows.models import KIND, Submitted, TriggerType, WorkflowInput
from forge.workflows.run_inputs import check_payload, read_inputs
from forge.workflows.store import DefinitionCache, RunRow, WorkflowRow
from forge.workflows.triggers.launcher import TriggerRequest


@dataclass(frozen=True)
class RunRequest:
    """A request to start a run, and the runs it belongs to."""

    trigger_request: TriggerRequest
    run_id: str | None = None
    parent_id: str | None = None
    number: int | None = None
    """The version to run. Default: the latest."""
    retry_of: str | None = None


@dataclass(frozen=True)
class RunStarter:
    runs: Runs
    definitions: DefinitionCache

    async def start_for_trigger(
        self, tx: Tx, account_id: str, workflow_id: str, trigger_request: TriggerRequest
    ) -> Submitted:
        """Start a run for a trigger. A `dedupe_key` that was used before returns the earlier run."""
        row = await store.find(tx, account_id, workflow_id, lock=True)
        if row is None:
            raise NotFound(f"There is no workflow {workflow_id}.")
        return await self.start(tx, row, RunRequest(trigger_request))

    async def start(self, tx: Tx, row: WorkflowRow, start: RunRequest) -> Submitted:
        """Start a run. The caller holds the lock on `row`, which serializes the starts of a workflow."""
        trigger_request = start.trigger_request
        if trigger_request.dedupe_key is not None:
            if trigger_request.dedupe_since is not None:
                await store.expire_dedupe(
                    tx, row.id, trigger_request.dedupe_key, trigger_request.dedupe_since
                )
            known = await store.find_by_dedupe(tx, row.id, trigger_request.dedupe_key)
            if known is not None:
                duplicate = {"status": "duplicate", "is_duplicate": True}
                return _submitted(row, known, trigger_request.type).model_copy(update=duplicate)
        if trigger_request.depth > MAX_DEPTH:
            raise Invalid(
                f"{row.name} would be run {trigger_request.depth + 1} in a chain of runs that start each other; "
                f"the maximum is {MAX_DEPTH + 1}.",
                hint="Check whether the workflows start each other in a cycle.",
            )
        number = start.number or row.number
        definition = await self.definitions.find(tx, row.id, number)
        check_payload(trigger_request.payload)
        inputs = read_inputs(definition, trigger_request.payload)
        await self._check_concurrency(tx, row, definition)
        run_input = WorkflowInput(workflow_id=row.id, workflow_name=row.name, number=number)
        run = await self.runs.start(
            tx,
            row.account_id,
            KIND,
            run_input.model_dump(),
            run_id=start.run_id or new_id(),
            parent_id=start.parent_id,
        )
        about: dict[str, JsonValue] = {
            "type": trigger_request.type.value,
            "source": trigger_request.source,
            **trigger_request.about,
        }
        record = RunRow(
            run_id=run.id,
            workflow_id=row.id,
            workflow_name=row.name,
            number=number,
            trigger=trigger_request.type,
            source=trigger_request.source,
            payload=trigger_request.payload,
            inputs=inputs,
            about={"fired_at": now().isoformat(), **about},
            dedupe_key=trigger_request.dedupe_key,
            depth=trigger_request.depth,
            retry_of=start.retry_of,
            created_at=run.created_at,
        )
        await store.insert_run(tx, record)
        return _submitted(row, run.id, trigger_request.type)

    async def start_child(self, tx: Tx, call: StepCall, name: str, payload: JsonValue) -> str:
        row = await store.find(tx, call.account_id, name, lock=True)
        if row is None:
            raise StepError("unknown_workflow", f"There is no workflow {name}.")
        trigger_request = TriggerRequest(
            type=TriggerType.SUB_WORKFLOW,
            source=f"{call.workflow_name}: {call.step.title}",
            payload=payload if payload is not None else {},
            about={},
            dedupe_key=None,
            depth=call.depth + 1,
        )
        child_id = derived_id(call.idempotency_key, "sub_workflow")
        return (
            await self.start(tx, row, RunRequest(trigger_request, run_id=child_id, parent_id=call.run_id))
        ).run_id

    async def _check_concurrency(self, tx: Tx, row: WorkflowRow, definition: Definition) -> None:
        if definition.concurrency is None or definition.concurrency_policy is not ConcurrencyPolicy.REJECT:
            return  # the other policies are applied when the run executes
        active = await store.active(tx, row.id)
        if len(active) >= definition.concurrency:
            raise Conflict(
                f"{row.name} has reached its limit of concurrent runs ({definition.concurrency}).",
                hint="Wait for a run to end, or set concurrency_policy to queue.",
                detail={"runs": active},
            )


def _submitted(row: WorkflowRow, run_id: str, trigger: TriggerType) -> Submitted:
    return Submitted(run_id=run_id, workflow_id=row.id, workflow_name=row.name, trigger=trigger)
