"""What people do with runs of workflows: start, look at, decide, cancel, start again."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from forge.errors import Conflict, Invalid, NotFound
from forge.runs.models import Gate, GateStatus, NewAnswer, Run, RunStatus
from forge.runs.service import Runs
from forge.store.engine import Store, Tx
from forge.store.paging import Cursor, Page, page_of
from forge.workflows import steps_store, store
from forge.workflows.definition.reading import read_data
from forge.workflows.dry import dry_run
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
)
from forge.workflows.retrying import kept_rows
from forge.workflows.service import refuse, the_workflow
from forge.workflows.starting import Start, Starting
from forge.workflows.steps.approval import APPROVE, GATE, REJECT
from forge.workflows.store import RunRow, VersionRow
from forge.workflows.triggers.firing import Firing
from forge.workflows.views import as_shown, detail_as_shown, run_of


@dataclass(frozen=True)
class WorkflowRuns:
    database: Store
    runs: Runs
    starting: Starting

    async def trigger(self, account_id: str, ref: str, payload: dict[str, Any], *, by: str) -> Submitted:
        """The run is there when this answers; a worker takes it up."""
        async with self.database.begin() as tx:
            row = await the_workflow(tx, account_id, ref, lock=True)
            return await self.starting.start(tx, row, Start(_by_hand(payload, by)))

    async def dry_run(self, account_id: str, ref: str, wish: DryRunWish) -> DryRun:
        if wish.definition is not None:
            read = await asyncio.to_thread(read_data, wish.definition)
            if read.definition is None or not read.is_usable:
                raise refuse(read.problems)
            return await dry_run(read.definition, wish.payload, wish.samples)
        async with self.database.read() as tx:
            row = await the_workflow(tx, account_id, ref)
            version = await _version(tx, row.id, row.number)
        return await dry_run(version.parsed, wish.payload, wish.samples)

    async def find(
        self, account_id: str, ref: str | None, *, cursor: Cursor | None, limit: int
    ) -> Page[WorkflowRun]:
        async with self.database.read() as tx:
            workflow = await the_workflow(tx, account_id, ref) if ref is not None else None
            rows = await store.list_runs(
                tx, account_id, workflow.id if workflow else None, cursor=cursor, limit=limit + 1
            )
            runs = await self.runs.read(tx, [row.run_id for row in rows])
            costs = await steps_store.costs(tx, [row.run_id for row in rows])
        found = [run_of(row, runs[row.run_id], costs.get(row.run_id, 0)) for row in rows]
        return page_of(found, limit, lambda run: Cursor(run.created_at, run.id))

    async def get(self, account_id: str, run_id: str) -> WorkflowRunDetail:
        detail = await self.runs.get(account_id, run_id)
        async with self.database.read() as tx:
            row = await _run(tx, run_id)
            version = await _version(tx, row.workflow_id, row.number)
            steps = await steps_store.summaries(tx, run_id)
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
        run, _ = await self._own(account_id, run_id)
        async with self.database.read() as tx:
            row = (await steps_store.load(tx, run_id, [key])).get(key)
        if row is None:
            raise NotFound(f"The run has no step {key} yet.")
        return detail_as_shown(row.detail(), run)

    async def steps(
        self, account_id: str, run_id: str, *, cursor: Cursor | None, limit: int
    ) -> Page[StepDetail]:
        """By key."""
        run, _ = await self._own(account_id, run_id)
        async with self.database.read() as tx:
            rows = await steps_store.page(tx, run_id, after=cursor.id if cursor else None, limit=limit + 1)
        found = [detail_as_shown(row.detail(), run) for row in rows]
        return page_of(found, limit, lambda step: Cursor(run.created_at, step.key))

    async def decide(
        self, account_id: str, run_id: str, verdict: Verdict, *, approve: bool, by: str
    ) -> WorkflowRunDetail:
        """Answers the one question that is open, or that of the named step."""
        detail = await self.runs.get(account_id, run_id)
        gate = _asked(detail.gates, verdict.step)
        answer = NewAnswer(
            option=APPROVE if approve else REJECT, comment=verdict.comment, shown_hash=gate.shown_hash
        )
        await self.runs.answer(account_id, gate.id, answer, by=by)
        return await self.get(account_id, run_id)

    async def cancel(self, account_id: str, run_id: str, *, by: str) -> WorkflowRunDetail:
        await self._own(account_id, run_id)
        await self.runs.cancel(account_id, run_id, by=by)
        return await self.get(account_id, run_id)

    async def retry(self, account_id: str, run_id: str, *, by: str) -> Submitted:
        """Of the same version, with the results of the steps that were completed."""
        run, row = await self._own(account_id, run_id)
        if run.status not in (RunStatus.FAILED, RunStatus.CANCELLED):
            raise Conflict(
                f"This run is {run.status.value}: there is nothing to go on from.",
                hint="Run it again from the beginning: forge workflow rerun",
            )
        async with self.database.begin() as tx:
            workflow = await the_workflow(tx, account_id, row.workflow_id, lock=True)
            definition = (await _version(tx, row.workflow_id, row.number)).parsed
            firing = _again(row, by)
            submitted = await self.starting.start(
                tx, workflow, Start(firing, number=row.number, retry_of=run_id)
            )
            kept = kept_rows(definition, await steps_store.load(tx, run_id))
            await steps_store.save(tx, {submitted.run_id: kept})
            return submitted

    async def rerun(self, account_id: str, run_id: str, wish: Rerun, *, by: str) -> Submitted:
        _, row = await self._own(account_id, run_id)
        payload = row.payload if wish.payload is None else wish.payload
        async with self.database.begin() as tx:
            workflow = await the_workflow(tx, account_id, row.workflow_id, lock=True)
            start = Start(_by_hand(payload, by), number=None if wish.use_latest else row.number)
            return await self.starting.start(tx, workflow, start)

    async def _own(self, account_id: str, run_id: str) -> tuple[Run, RunRow]:
        run = await self.runs.find_one(account_id, run_id)
        async with self.database.read() as tx:
            return run, await _run(tx, run_id)


async def _run(tx: Tx, run_id: str) -> RunRow:
    row = await store.find_run(tx, run_id)
    if row is None:
        raise NotFound(f"{run_id} is no run of a workflow.")
    return row


async def _version(tx: Tx, workflow_id: str, number: int) -> VersionRow:
    version = await store.find_version(tx, workflow_id, number)
    if version is None:
        raise NotFound("The definition this run was started with is gone.")
    return version


def _by_hand(payload: Any, by: str) -> Firing:
    return Firing(TriggerType.MANUAL, by, payload, {"by": by}, dedupe_key=None)


def _again(row: RunRow, by: str) -> Firing:
    about: dict[str, JsonValue] = {"by": by, "retry_of": row.run_id}
    return Firing(TriggerType.RETRY, by, row.payload, about, dedupe_key=None, depth=row.depth)


def _asked(gates: Sequence[Gate], step: str | None) -> Gate:
    asked = [gate for gate in gates if gate.kind == GATE and gate.status is GateStatus.OPEN]
    if step is not None:
        asked = [gate for gate in asked if gate.payload.get("step") == step]
    if not asked:
        raise Conflict(
            "Nothing here waits for an approval." if step is None else f"{step} does not wait for one."
        )
    if len(asked) > 1:
        waiting = ", ".join(sorted(str(gate.payload.get("step")) for gate in asked))
        raise Invalid(
            f"Several steps wait: {waiting}.", hint="Say which one: --step, or `step`.", field="step"
        )
    return asked[0]
