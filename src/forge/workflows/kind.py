"""The run kind `workflow`: wait for a free slot, then execute the pinned definition.

It does not use the journal of the run engine: results are stored by step key (`engine/step_recorder.py`).
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from forge.errors import NotFound
from forge.events.log import EventLog
from forge.events.models import EventData
from forge.kernel.background import in_background
from forge.runs.context import RunContext, StepFailed
from forge.runs.journal import account_stream, run_stream
from forge.runs.kinds import RunKind
from forge.runs.models import Run
from forge.runs.queries import TakenOver, ancestors, still_owned
from forge.store.database import Store, survives_outage
from forge.workflows import store
from forge.workflows.definition.models import ConcurrencyPolicy, Definition, StepType
from forge.workflows.engine import step_store
from forge.workflows.engine.activity import RunActivity, working_time_s
from forge.workflows.engine.execution import Execution
from forge.workflows.engine.execution_context import (
    CorrectInput,
    ExecutionContext,
    ScopeFailed,
    StoreFailure,
)
from forge.workflows.engine.step_executor import FencedWrite, LinkedRuns, RunFenced, RunInfo, StepExecutors
from forge.workflows.engine.step_recorder import RunAttempt, StepRecorder
from forge.workflows.engine.step_store import StepRow
from forge.workflows.models import KIND, WorkflowInput, WorkflowStepMoved
from forge.workflows.steps.approval import ApprovalStepExecutor
from forge.workflows.store import DefinitionCache, RunRow

SLOT_CHECK_S = 1.0

Cancel = Callable[[str, str, str], Awaitable[None]]
"""Cancel a run: account id, run id, who cancels."""


@dataclass(frozen=True)
class KindDependencies:
    """Dependencies that exist only after the run engine was opened."""

    step_executors: StepExecutors
    correct: CorrectInput
    cancel: Cancel


@dataclass(frozen=True)
class _Loaded:
    row: RunRow
    definition: Definition
    steps: dict[str, StepRow]


class WorkflowKind:
    def __init__(self, database: Store, events: EventLog) -> None:
        self._database = database
        self._events = events
        self.recorder = StepRecorder(database, events)
        self.definitions = DefinitionCache()
        self._dependencies: asyncio.Future[KindDependencies] = asyncio.get_running_loop().create_future()

    def kind(self) -> RunKind[WorkflowInput]:
        return RunKind(KIND, WorkflowInput, self.run, title=lambda run_input: run_input.workflow_name)

    def provide(self, dependencies: KindDependencies) -> None:
        """Set the dependencies. Runs that a worker took up earlier wait for this."""
        self._dependencies.set_result(dependencies)

    async def run(self, context: RunContext, run_input: WorkflowInput) -> JsonValue:
        dependencies = await asyncio.shield(self._dependencies)
        loaded = await self._load(context.run, run_input)
        activity = RunActivity(
            loaded.definition.timeout_secs,
            working_time_s(loaded.steps.values()),
            loaded.definition.parallel,
        )
        async with in_background(activity.track_status(context), f"status of run {context.run_id}"):
            await self._wait_for_slot(context, loaded, activity, dependencies.cancel)
            execution_context = self._execution_context(context, loaded, activity, dependencies)
            ended = await Execution(loaded.definition, execution_context, _variables(loaded)).run()
        if ended.failure is not None:
            raise StepFailed(ended.failure.title, ended.failure.problem)
        return ended.output

    @survives_outage
    async def _load(self, run: Run, run_input: WorkflowInput) -> _Loaded:
        async with self._database.read() as tx:
            row = await store.find_run(tx, run.id)
            if row is None:
                raise NotFound(f"There is no run {run.id}.")
            definition = await self.definitions.find(tx, run_input.workflow_id, run_input.number)
            is_new = run.attempt == 1 and row.retry_of is None
            return _Loaded(row, definition, {} if is_new else await step_store.load(tx, run.id))

    def _execution_context(
        self, context: RunContext, loaded: _Loaded, activity: RunActivity, dependencies: KindDependencies
    ) -> ExecutionContext:
        row, owner = loaded.row, RunAttempt(context.run_id, context.run.attempt)
        facts = RunInfo(
            run_id=row.run_id,
            account_id=context.account_id,
            workflow_id=row.workflow_id,
            workflow_name=row.workflow_name,
            depth=row.depth,
        )

        async def write(step: StepRow, events: tuple[EventData, ...]) -> None:
            await self.recorder.write(owner, (step,), events)

        step_executors = {**dependencies.step_executors, StepType.APPROVAL: ApprovalStepExecutor(context)}
        return ExecutionContext(
            facts=facts,
            step_executors=step_executors,
            correct=dependencies.correct,
            activity=activity,
            write=write,
            run_fenced=self._run_fenced(owner),
            stop_run=lambda run_id: dependencies.cancel(context.account_id, run_id, f"run {row.run_id}"),
            store_failure=self._store_failure(owner),
            failure=ScopeFailed.from_json(row.failure),
            rows=loaded.steps,
            linked_runs=LinkedRuns(loaded.steps.values()),
        )

    def _run_fenced(self, owner: RunAttempt) -> RunFenced:
        @survives_outage
        async def run_fenced(function: FencedWrite) -> JsonValue:
            async with self._database.begin() as tx:
                if not await still_owned(tx, {owner.run_id: owner.attempt}, patient=True):
                    raise TakenOver
                row, value = await function(tx)
                await step_store.save(tx, {owner.run_id: [row]})
                await self._events.append(tx, run_stream(owner.run_id), WorkflowStepMoved(step=row.summary))
                return value

        return run_fenced

    def _store_failure(self, owner: RunAttempt) -> StoreFailure:
        @survives_outage
        async def store_failure(failed: ScopeFailed) -> None:
            async with self._database.begin() as tx:
                if not await still_owned(tx, {owner.run_id: owner.attempt}, patient=True):
                    raise TakenOver
                await store.set_failure(tx, owner.run_id, failed.as_json())

        return store_failure

    async def _wait_for_slot(
        self, context: RunContext, loaded: _Loaded, activity: RunActivity, cancel: Cancel
    ) -> None:
        """Wait until fewer than `concurrency` older runs are active, or cancel the oldest ones.

        Ancestors of the run are not counted: they wait for this run, so waiting for them would deadlock.
        """
        limit = loaded.definition.concurrency
        has_begun = any(not row.summary.is_kept for row in loaded.steps.values())
        if limit is None or has_begun:
            return
        older = await self._older_runs(loaded.row)
        if loaded.definition.concurrency_policy is ConcurrencyPolicy.CANCEL_PREVIOUS:
            too_many = max(0, len(older) - limit + 1)
            for run_id in older[:too_many]:
                await cancel(context.account_id, run_id, f"run {context.run_id}")
            return
        if len(older) < limit:
            return
        with activity.waiting(None, counts_as_work=False):
            while len(await self._older_runs(loaded.row)) >= limit:
                await self._wait_for_event(context.account_id)

    @survives_outage
    async def _older_runs(self, row: RunRow) -> list[str]:
        async with self._database.read() as tx:
            above = await ancestors(tx, row.run_id)
            active = await store.active(tx, row.workflow_id, older_than=row)
        return [run_id for run_id in active if run_id not in above]

    @survives_outage
    async def _wait_for_event(self, account_id: str) -> None:
        """Wait for an event on the account's stream, but not longer than `SLOT_CHECK_S`."""
        with suppress(TimeoutError):
            async with (
                self._events.follow_new(account_stream(account_id)) as batches,
                asyncio.timeout(SLOT_CHECK_S),
            ):
                async for batch in batches:
                    if batch:
                        return


def _variables(loaded: _Loaded) -> dict[str, JsonValue]:
    """Return the template variables other than `steps`."""
    row = loaded.row
    about: dict[str, Any] = {"id": row.workflow_id, "name": row.workflow_name, "run_id": row.run_id}
    about |= {"trigger": row.about, "status": "running", "error": None}
    return {"inputs": row.inputs, "trigger": row.payload, "workflow": about}
