"""The run kind `workflow`: takes its turn, and carries the pinned definition out.

It makes no call of the run engine's journal: what its steps came to is kept by their names (`engine/recording.py`).
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
from forge.runs.fencing import TakenOver, still_owned
from forge.runs.journal import account_stream, run_stream
from forge.runs.kinds import RunKind
from forge.runs.models import Run
from forge.runs.selecting import ancestors
from forge.store.engine import Store
from forge.store.outage import survives_outage
from forge.workflows import steps_store, store
from forge.workflows.definition.models import ConcurrencyPolicy, Definition, StepType
from forge.workflows.engine.calling import Fenced, Kept, RunFacts
from forge.workflows.engine.executing import Execution
from forge.workflows.engine.ground import Correct, Ground, Keep, ScopeFailed
from forge.workflows.engine.hands import Hands
from forge.workflows.engine.linking import Links
from forge.workflows.engine.pace import Pace, worked_s
from forge.workflows.engine.recording import Owner, Recorder
from forge.workflows.engine.rows import StepRow
from forge.workflows.given import KIND, WorkflowInput
from forge.workflows.models import WorkflowStepMoved
from forge.workflows.pinning import Pinned
from forge.workflows.steps.approval import ApprovalHand
from forge.workflows.store import RunRow

TURN_LOOK_S = 1.0

Cancel = Callable[[str, str, str], Awaitable[None]]
"""Of an account, a run, by whom."""


@dataclass(frozen=True)
class Means:
    """What there is only once everything else is open."""

    hands: Hands
    correct: Correct
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
        self.recorder = Recorder(database, events)
        self.pinned = Pinned()
        self._means: asyncio.Future[Means] = asyncio.get_running_loop().create_future()

    def kind(self) -> RunKind[WorkflowInput]:
        return RunKind(KIND, WorkflowInput, self.run, title=lambda given: given.workflow_name)

    def provide(self, means: Means) -> None:
        """Runs that were taken up before wait for this."""
        self._means.set_result(means)

    async def run(self, context: RunContext, given: WorkflowInput) -> JsonValue:
        means = await asyncio.shield(self._means)
        loaded = await self._load(context.run, given)
        pace = Pace(
            loaded.definition.timeout_secs,
            worked_s(loaded.steps.values()),
            loaded.definition.parallel,
        )
        async with in_background(pace.show(context), f"status of run {context.run_id}"):
            await self._take_turn(context, loaded, pace, means.cancel)
            ground = self._ground(context, loaded, pace, means)
            ended = await Execution(loaded.definition, ground, _names(loaded)).run()
        if ended.failure is not None:
            raise StepFailed(ended.failure.title, ended.failure.problem)
        return ended.output

    @survives_outage
    async def _load(self, run: Run, given: WorkflowInput) -> _Loaded:
        async with self._database.read() as tx:
            row = await store.find_run(tx, run.id)
            if row is None:
                raise NotFound(f"There is no run {run.id}.")
            definition = await self.pinned.find(tx, given.workflow_id, given.number)
            is_new = run.attempt == 1 and row.retry_of is None
            return _Loaded(row, definition, {} if is_new else await steps_store.load(tx, run.id))

    def _ground(self, context: RunContext, loaded: _Loaded, pace: Pace, means: Means) -> Ground:
        row, owner = loaded.row, Owner(context.run_id, context.run.attempt)
        facts = RunFacts(
            run_id=row.run_id,
            account_id=context.account_id,
            workflow_id=row.workflow_id,
            workflow_name=row.workflow_name,
            depth=row.depth,
        )

        async def write(step: StepRow, told: tuple[EventData, ...]) -> None:
            await self.recorder.write(owner, (step,), told)

        hands = {**means.hands, StepType.APPROVAL: ApprovalHand(context)}
        return Ground(
            facts=facts,
            hands=hands,
            correct=means.correct,
            pace=pace,
            write=write,
            fenced=self._fenced(owner),
            stop=lambda run_id: means.cancel(context.account_id, run_id, f"run {row.run_id}"),
            keep=self._keep(owner),
            failure=ScopeFailed.of(row.failure),
            rows=loaded.steps,
            links=Links(loaded.steps.values()),
        )

    def _fenced(self, owner: Owner) -> Fenced:
        @survives_outage
        async def fenced(function: Kept) -> JsonValue:
            async with self._database.begin() as tx:
                if not await still_owned(tx, {owner.run_id: owner.attempt}, patient=True):
                    raise TakenOver
                row, value = await function(tx)
                await steps_store.save(tx, {owner.run_id: [row]})
                await self._events.append(tx, run_stream(owner.run_id), WorkflowStepMoved(step=row.summary))
                return value

        return fenced

    def _keep(self, owner: Owner) -> Keep:
        @survives_outage
        async def keep(failed: ScopeFailed) -> None:
            async with self._database.begin() as tx:
                if not await still_owned(tx, {owner.run_id: owner.attempt}, patient=True):
                    raise TakenOver
                await store.keep_failure(tx, owner.run_id, failed.kept())

        return keep

    async def _take_turn(self, context: RunContext, loaded: _Loaded, pace: Pace, cancel: Cancel) -> None:
        """No more runs of a workflow at a time than it says: those that came first go first. What a run is below waits for
        it, and is not waited for."""
        limit = loaded.definition.concurrency
        has_begun = any(not row.summary.is_kept for row in loaded.steps.values())
        if limit is None or has_begun:
            return
        before = await self._before(loaded.row)
        if loaded.definition.concurrency_policy is ConcurrencyPolicy.CANCEL_PREVIOUS:
            too_many = max(0, len(before) - limit + 1)
            for run_id in before[:too_many]:
                await cancel(context.account_id, run_id, f"run {context.run_id}")
            return
        if len(before) < limit:
            return
        with pace.waiting(None, works=False):
            while len(await self._before(loaded.row)) >= limit:
                await self._news(context.account_id)

    @survives_outage
    async def _before(self, row: RunRow) -> list[str]:
        async with self._database.read() as tx:
            above = await ancestors(tx, row.run_id)
            active = await store.active(tx, row.workflow_id, older_than=row)
        return [run_id for run_id in active if run_id not in above]

    @survives_outage
    async def _news(self, account_id: str) -> None:
        """Something happened to a run of theirs; or a while has passed."""
        with suppress(TimeoutError):
            async with self._events.news(account_stream(account_id)) as batches, asyncio.timeout(TURN_LOOK_S):
                async for batch in batches:
                    if batch:
                        return


def _names(loaded: _Loaded) -> dict[str, JsonValue]:
    """The variables of templates, but for the steps."""
    row = loaded.row
    about: dict[str, Any] = {"id": row.workflow_id, "name": row.workflow_name, "run_id": row.run_id}
    about |= {"trigger": row.about, "status": "running", "error": None}
    return {"inputs": row.inputs, "trigger": row.payload, "workflow": about}
