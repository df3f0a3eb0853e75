"""Starts runs of workflows: the one way, for people, triggers, other workflows and retries."""

from dataclasses import dataclass

from pydantic import JsonValue

from forge.errors import Conflict, Invalid, NotFound
from forge.kernel.clock import now
from forge.kernel.ids import derived_id, new_id
from forge.runs.service import Runs
from forge.store.engine import Tx
from forge.workflows import store
from forge.workflows.definition.models import MAX_DEPTH, ConcurrencyPolicy, Definition
from forge.workflows.engine.hands import StepCall, StepError
from forge.workflows.given import KIND, WorkflowInput, check_payload, read_inputs
from forge.workflows.models import Submitted, TriggerType
from forge.workflows.pinning import Pinned
from forge.workflows.store import RunRow, WorkflowRow
from forge.workflows.triggers.firing import Firing


@dataclass(frozen=True)
class Start:
    """What starts, and what it belongs to."""

    firing: Firing
    run_id: str | None = None
    parent_id: str | None = None
    number: int | None = None
    """An older version; the newest without it."""
    retry_of: str | None = None


@dataclass(frozen=True)
class Starting:
    runs: Runs
    pinned: Pinned

    async def fire(self, tx: Tx, account_id: str, workflow_id: str, firing: Firing) -> Submitted:
        """What triggers call. The same `dedupe_key` again gives the run it gave before."""
        row = await store.find(tx, account_id, workflow_id, lock=True)
        if row is None:
            raise NotFound(f"There is no workflow {workflow_id}.")
        return await self.start(tx, row, Start(firing))

    async def start(self, tx: Tx, row: WorkflowRow, start: Start) -> Submitted:
        """The row is locked: starts of one workflow come one after the other."""
        firing = start.firing
        if firing.dedupe_key is not None:
            known = await store.find_by_dedupe(tx, row.id, firing.dedupe_key)
            if known is not None:
                return _submitted(row, known, firing.type).model_copy(update={"is_duplicate": True})
        if firing.depth > MAX_DEPTH:
            raise Invalid(
                f"{row.name} would be the {firing.depth + 1}th workflow of a chain of workflows that start each other; "
                f"{MAX_DEPTH + 1} is the most.",
                hint="Do they start each other in a circle?",
            )
        number = start.number or row.number
        definition = await self.pinned.find(tx, row.id, number)
        check_payload(firing.payload)
        inputs = read_inputs(definition, firing.payload)
        await self._check_room(tx, row, definition)
        given = WorkflowInput(workflow_id=row.id, workflow_name=row.name, number=number)
        run = await self.runs.start(
            tx,
            row.account_id,
            KIND,
            given.model_dump(),
            run_id=start.run_id or new_id(),
            parent_id=start.parent_id,
        )
        about: dict[str, JsonValue] = {"type": firing.type.value, "source": firing.source, **firing.about}
        record = RunRow(
            run_id=run.id,
            workflow_id=row.id,
            workflow_name=row.name,
            number=number,
            trigger=firing.type,
            source=firing.source,
            payload=firing.payload,
            inputs=inputs,
            about={"fired_at": now().isoformat(), **about},
            dedupe_key=firing.dedupe_key,
            depth=firing.depth,
            retry_of=start.retry_of,
            created_at=run.created_at,
        )
        await store.insert_run(tx, record)
        return _submitted(row, run.id, firing.type)

    async def start_child(self, tx: Tx, call: StepCall, name: str, payload: JsonValue) -> str:
        row = await store.find(tx, call.account_id, name, lock=True)
        if row is None:
            raise StepError("unknown_workflow", f"There is no workflow {name}.")
        firing = Firing(
            type=TriggerType.SUB_WORKFLOW,
            source=f"{call.workflow_name}: {call.step.title}",
            payload=payload if payload is not None else {},
            about={},
            dedupe_key=None,
            depth=call.depth + 1,
        )
        child_id = derived_id(call.idempotency_key, "sub_workflow")
        return (await self.start(tx, row, Start(firing, run_id=child_id, parent_id=call.run_id))).run_id

    async def _check_room(self, tx: Tx, row: WorkflowRow, definition: Definition) -> None:
        if definition.concurrency is None or definition.concurrency_policy is not ConcurrencyPolicy.REJECT:
            return  # the run itself takes its turn
        active = await store.active(tx, row.id)
        if len(active) >= definition.concurrency:
            raise Conflict(
                f"{row.name} runs already, as often as it may at a time ({definition.concurrency}).",
                hint="Wait until it has ended, or let it queue: concurrency_policy.",
                detail={"runs": active},
            )


def _submitted(row: WorkflowRow, run_id: str, trigger: TriggerType) -> Submitted:
    return Submitted(run_id=run_id, workflow_id=row.id, workflow_name=row.name, trigger=trigger)
