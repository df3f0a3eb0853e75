"""Start, read, approve, cancel, retry and rerun workflow runs."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from forge.errors import Conflict, Invalid, NotFound
from forge.runs.models import Gate, GateStatus, NewAnswer, Run, RunStatus
from forge.runs.service import Runs
from forge.store.database import Store, Tx
from forge.store.pagination import Cursor, Page, make_page
from forge.workflows import store
from forge.workflows.definition.graph import Graph
from forge.workflows.definition.models import Definition
from forge.workflows.definition.reader import read_data
from forge.workflows.dry_run import dry_run
from forge.workflows.engine import step_store
from forge.workflows.engine.step_store import StepRow, fails_run
from forge.workflows.models import (
    DryRun,
    DryRunWish,
    Rerun,
    StepDetail,
    Submitted,
    TriggerType,
    Verdict,
    WorkflowRun,
    WorkflowRunDetail,
    split_key,
)
from forge.workflows.run_starter import RunRequest, RunStarter
from forge.workflows.service import invalid_definition, require_workflow
from forge.workflows.steps.approval import APPROVE, GATE, REJECT
from forge.workflows.store import RunRow, VersionRow
from forge.workflows.triggers.launcher import TriggerRequest
from forge.workflows.views import as_shown, detail_as_shown, run_of


def reusable_rows(definition: Definition, rows: Mapping[str, StepRow]) -> list[StepRow]:
    """Return the settled rows that did not fail the run. Steps under `finally` are executed again."""
    steps = {step.id: step for step in definition.steps}
    final = Graph.of(definition.steps, definition.finally_steps).final
    again = set(final.nodes) if final else set[str]()
    return [
        row.with_summary(is_kept=True)
        for row in rows.values()
        if row.status.is_settled
        and split_key(row.key)[0][0] not in again
        and not fails_run(steps[row.summary.step], row)
    ]


@dataclass(frozen=True)
class WorkflowRuns:
    database: Store
    runs: Runs
    run_starter: RunStarter

    async def trigger(self, account_id: str, ref: str, payload: dict[str, Any], *, by: str) -> Submitted:
        """Create a run; a worker executes it."""
        async with self.database.begin() as tx:
            row = await require_workflow(tx, account_id, ref, lock=True)
            return await self.run_starter.start(tx, row, RunRequest(_manual_request(payload, by)))

    async def dry_run(self, account_id: str, ref: str, request: DryRunWish) -> DryRun:
        if request.definition is not None:
            read = await asyncio.to_thread(read_data, request.definition)
            if read.definition is None or not read.is_usable:
                raise invalid_definition(read.problems)
            return await dry_run(read.definition, request.payload, request.samples)
        async with self.database.read() as tx:
            row = await require_workflow(tx, account_id, ref)
            version = await _version(tx, row.id, row.number)
        return await dry_run(version.parsed, request.payload, request.samples)

    async def find(
        self, account_id: str, ref: str | None, *, cursor: Cursor | None, limit: int
    ) -> Page[WorkflowRun]:
        async with self.database.read() as tx:
            workflow = await require_workflow(tx, account_id, ref) if ref is not None else None
            rows = await store.list_runs(
                tx, account_id, workflow.id if workflow else None, cursor=cursor, limit=limit + 1
            )
            runs = await self.runs.read(tx, [row.run_id for row in rows])
            costs = await step_store.costs(tx, [row.run_id for row in rows])
        found = [run_of(row, runs[row.run_id], costs.get(row.run_id, 0)) for row in rows]
        return make_page(found, limit, lambda run: Cursor(run.created_at, run.id))

    async def get(self, account_id: str, run_id: str) -> WorkflowRunDetail:
        detail = await self.runs.get(account_id, run_id)
        async with self.database.read() as tx:
            row = await _run(tx, run_id)
            version = await _version(tx, row.workflow_id, row.number)
            steps = await step_store.summaries(tx, run_id)
        shown = run_of(row, detail.run, sum(step.cost_micros for step in steps))
        return WorkflowRunDetail(
            **shown.model_dump(),
            payload=row.payload,
            output=detail.run.output,
            definition=version.definition,
            steps=[as_shown(step, detail.run) for step in steps],
            gates=detail.gates,
            children=[child.id for child in detail.children],
        )

    async def step(self, account_id: str, run_id: str, key: str) -> StepDetail:
        run, _ = await self._find_own(account_id, run_id)
        async with self.database.read() as tx:
            row = (await step_store.load(tx, run_id, [key])).get(key)
        if row is None:
            raise NotFound(f"The run has not started a step {key}.")
        return detail_as_shown(row.detail(), run)

    async def steps(
        self, account_id: str, run_id: str, *, cursor: Cursor | None, limit: int
    ) -> Page[StepDetail]:
        """Return the steps of a run, ordered by key."""
        run, _ = await self._find_own(account_id, run_id)
        async with self.database.read() as tx:
            rows = await step_store.page(tx, run_id, after=cursor.id if cursor else None, limit=limit + 1)
        found = [detail_as_shown(row.detail(), run) for row in rows]
        return make_page(found, limit, lambda step: Cursor(run.created_at, step.key))

    async def decide(
        self, account_id: str, run_id: str, verdict: Verdict, *, approve: bool, by: str
    ) -> WorkflowRunDetail:
        """Answer the only open approval, or the one of the named step."""
        detail = await self.runs.get(account_id, run_id)
        gate = _open_approval(detail.gates, verdict.step)
        answer = NewAnswer(
            option=APPROVE if approve else REJECT, comment=verdict.comment, shown_hash=gate.shown_hash
        )
        await self.runs.answer(account_id, gate.id, answer, by=by)
        return await self.get(account_id, run_id)

    async def cancel(self, account_id: str, run_id: str, *, by: str) -> WorkflowRunDetail:
        await self._find_own(account_id, run_id)
        await self.runs.cancel(account_id, run_id, by=by)
        return await self.get(account_id, run_id)

    async def retry(self, account_id: str, run_id: str, *, by: str) -> Submitted:
        """Start a new run of the same version that reuses the results of completed steps."""
        run, row = await self._find_own(account_id, run_id)
        if run.status not in (RunStatus.FAILED, RunStatus.CANCELLED):
            raise Conflict(
                f"This run is {run.status.value}; only failed and cancelled runs can be retried.",
                hint="Start it from the beginning: forge workflow rerun",
            )
        async with self.database.begin() as tx:
            workflow = await require_workflow(tx, account_id, row.workflow_id, lock=True)
            definition = (await _version(tx, row.workflow_id, row.number)).parsed
            trigger_request = _retry_request(row, by)
            submitted = await self.run_starter.start(
                tx, workflow, RunRequest(trigger_request, number=row.number, retry_of=run_id)
            )
            reused = reusable_rows(definition, await step_store.load(tx, run_id))
            await step_store.save(tx, {submitted.run_id: reused})
            return submitted

    async def rerun(self, account_id: str, run_id: str, request: Rerun, *, by: str) -> Submitted:
        _, row = await self._find_own(account_id, run_id)
        payload = row.payload if request.payload is None else request.payload
        async with self.database.begin() as tx:
            workflow = await require_workflow(tx, account_id, row.workflow_id, lock=True)
            start = RunRequest(
                _manual_request(payload, by), number=None if request.use_latest else row.number
            )
            return await self.run_starter.start(tx, workflow, start)

    async def _find_own(self, account_id: str, run_id: str) -> tuple[Run, RunRow]:
        run = await self.runs.find_one(account_id, run_id)
        async with self.database.read() as tx:
            return run, await _run(tx, run_id)


async def _run(tx: Tx, run_id: str) -> RunRow:
    row = await store.find_run(tx, run_id)
    if row is None:
        raise NotFound(f"Run {run_id} is not a workflow run.")
    return row


async def _version(tx: Tx, workflow_id: str, number: int) -> VersionRow:
    version = await store.find_version(tx, workflow_id, number)
    if version is None:
        raise NotFound("The definition of this run no longer exists.")
    return version


def _manual_request(payload: Any, by: str) -> TriggerRequest:
    return TriggerRequest(TriggerType.MANUAL, by, payload, {"by": by}, dedupe_key=None)


def _retry_request(row: RunRow, by: str) -> TriggerRequest:
    about: dict[str, JsonValue] = {"by": by, "retry_of": row.run_id}
    return TriggerRequest(TriggerType.RETRY, by, row.payload, about, dedupe_key=None, depth=row.depth)


def _open_approval(gates: Sequence[Gate], step: str | None) -> Gate:
    asked = [gate for gate in gates if gate.kind == GATE and gate.status is GateStatus.OPEN]
    if step is not None:
        asked = [gate for gate in asked if gate.payload.get("step") == step]
    if not asked:
        raise Conflict(
            "No step is waiting for an approval."
            if step is None
            else f"Step {step} is not waiting for an approval."
        )
    if len(asked) > 1:
        waiting = ", ".join(sorted(str(gate.payload.get("step")) for gate in asked))
        raise Invalid(
            f"Several steps are waiting: {waiting}.", hint="Name one with --step or `step`.", field="step"
        )
    return asked[0]
