"""The state that the steps of a run share, and the call of a step that is being executed."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from pydantic import JsonValue

from forge.events.models import EventData
from forge.kernel.clock import now
from forge.runs.models import Problem
from forge.store.database import Tx
from forge.workflows.definition.models import Step
from forge.workflows.engine import step_store
from forge.workflows.engine.activity import RunActivity
from forge.workflows.engine.self_correction import Correction
from forge.workflows.engine.step_executor import Begin, StepCall, StepExecutors
from forge.workflows.engine.step_store import StepRow
from forge.workflows.expressions.secret_placeholders import SecretPlaceholders
from forge.workflows.models import LogLine, StepStatus, WorkflowStepLogged, WorkflowStepMoved


class LinkedRuns:
    """The unfinished runs started by each step. `rows`: steps stored by an earlier attempt of the run."""

    def __init__(self, rows: Iterable[StepRow] = ()) -> None:
        self._runs: dict[str, set[str]] = {}
        for row in rows:
            if row.summary.linked_run_id is not None and not row.status.is_settled:
                self.add(row.key, row.summary.linked_run_id)

    def add(self, key: str, run_id: str) -> None:
        self._runs.setdefault(key, set()).add(run_id)

    def take(self, key: str) -> list[str]:
        """Remove and return the runs started by a step and by the steps in its body."""
        keys = [one for one in self._runs if one == key or one.startswith(f"{key}[")]
        return sorted(run_id for one in keys for run_id in self._runs.pop(one))


@dataclass(frozen=True)
class RunInfo:
    """Facts about a run that its steps need."""

    run_id: str
    account_id: str
    workflow_id: str
    workflow_name: str
    depth: int


WriteStep = Callable[[StepRow, tuple[EventData, ...]], Awaitable[None]]
FencedWrite = Callable[[Tx], Awaitable[tuple[StepRow, JsonValue]]]
RunFenced = Callable[[FencedWrite], Awaitable[JsonValue]]


@dataclass
class LiveCall:
    facts: RunInfo
    step: Step
    row: StepRow
    """The current state of the step; replaced as it changes."""
    activity: RunActivity
    write: WriteStep
    run_fenced: RunFenced
    secrets: SecretPlaceholders
    linked_runs: LinkedRuns = field(default_factory=LinkedRuns)
    counts_as_work: bool = True
    waited_s: float = 0.0
    timer: asyncio.Timeout | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def account_id(self) -> str:
        return self.facts.account_id

    @property
    def run_id(self) -> str:
        return self.facts.run_id

    @property
    def workflow_id(self) -> str:
        return self.facts.workflow_id

    @property
    def workflow_name(self) -> str:
        return self.facts.workflow_name

    @property
    def depth(self) -> int:
        return self.facts.depth

    @property
    def step_id(self) -> str:
        return self.row.summary.step

    @property
    def key(self) -> str:
        return self.row.key

    @property
    def attempt(self) -> int:
        return self.row.summary.attempt

    @property
    def started_at(self) -> datetime:
        return self.row.summary.started_at or now()

    @property
    def idempotency_key(self) -> str:
        return f"{self.run_id}:{self.key}:{self.attempt}"

    async def begin(self, function: Begin) -> JsonValue:
        """Execute `function` once. Locked, because a concurrent write of the row would overwrite the ticket."""
        async with self._lock:
            if self.row.ticket is None:
                self.row = replace(self.row, ticket=await self.run_fenced(self._once(function)))
            return self.row.ticket

    def _once(self, function: Begin) -> FencedWrite:
        async def write(tx: Tx) -> tuple[StepRow, JsonValue]:
            known = (await step_store.load(tx, self.run_id, [self.key])).get(self.key)
            if known is not None and known.ticket is not None:
                return known, known.ticket  # an earlier try was committed, then the connection was lost
            ticket = await function(tx)
            return replace(self.row, ticket=ticket), ticket

        return write

    @asynccontextmanager
    async def waits(self, note: str, until: datetime | None = None) -> AsyncGenerator[None]:
        left, began = self._stop_timer(), time.monotonic()
        await self._move(status=StepStatus.WAITING, note=note)
        with self.activity.waiting(until, counts_as_work=self.counts_as_work):
            try:
                yield
            finally:
                self.waited_s += time.monotonic() - began
                self._start_timer(left)
        await self._move(status=StepStatus.RUNNING, note="")

    async def link(self, run_id: str) -> None:
        self.linked_runs.add(self.key, run_id)
        if self.row.summary.linked_run_id != run_id:
            await self._move(linked_run_id=run_id)

    async def log(self, *lines: LogLine) -> None:
        async with self._lock:
            before = len(self.row.logs)
            self.row = self.row.logged(*lines)
            added = list(self.row.logs[before:])
            if added:
                await self.write(self.row, (WorkflowStepLogged(key=self.key, lines=added),))

    async def publish_start(self) -> None:
        """Store the row and publish that the step has started."""
        await self._move()

    async def _move(self, **changes: Any) -> None:
        async with self._lock:
            self.row = self.row.with_summary(**changes)
            await self.write(self.row, (WorkflowStepMoved(step=self.row.summary),))

    def _stop_timer(self) -> float | None:
        if self.timer is None or (when := self.timer.when()) is None:
            return None
        self.timer.reschedule(None)
        return when - asyncio.get_running_loop().time()

    def _start_timer(self, left: float | None) -> None:
        if self.timer is not None and left is not None and not self.timer.expired():
            self.timer.reschedule(asyncio.get_running_loop().time() + left)


def mark_running(row: StepRow) -> StepRow:
    """Return the row as running; a start time that is set already is kept."""
    changes: dict[str, Any] = {"status": StepStatus.RUNNING, "note": "", "error": None}
    if row.summary.started_at is None:
        changes["started_at"] = now()
    return row.with_summary(**changes)


StopRun = Callable[[str], Awaitable[None]]
"""Cancel a run that a step started, unless it has ended."""


class CorrectInput(Protocol):
    """Ask a model to rewrite the input of a failed step."""

    def __call__(
        self,
        call: StepCall,
        step: Step,
        input_fields: dict[str, JsonValue],
        problem: Problem,
        *,
        attempt: int,
        of: int,
    ) -> Awaitable[Correction]: ...


class ScopeFailed(Exception):
    """A step failed and its scope with it. Never leaves the run."""

    def __init__(self, title: str, problem: Problem) -> None:
        super().__init__(problem.message)
        self.title = title
        self.problem = problem

    @classmethod
    def from_json(cls, stored: JsonValue) -> "ScopeFailed | None":
        match stored:
            case {"title": str(title), "problem": problem}:
                return cls(title, Problem.model_validate(problem))
            case _:
                return None

    def as_json(self) -> JsonValue:
        return {"title": self.title, "problem": self.problem.model_dump(mode="json")}


StoreFailure = Callable[[ScopeFailed], Awaitable[None]]
"""Store that the steps of the run have failed."""


MAX_STEP_RUNS = 10_000
"""Per run, counting each iteration of each loop."""


YIELD_EVERY = 50


@dataclass
class StepCounter:
    """Count and limit the steps that a run starts."""

    count: int = 0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _admitted: int = field(default=0, init=False)

    async def yield_periodically(self) -> None:
        """Yield to the event loop regularly, so that a run that starts thousands of steps does not block the process."""
        async with self._lock:
            self._admitted += 1
            if self._admitted % YIELD_EVERY == 0:
                await asyncio.sleep(0)

    def add(self) -> None:
        self.count += 1
        if self.count > MAX_STEP_RUNS:
            message = f"The run exceeded {MAX_STEP_RUNS:,} steps, counting each iteration of loops."
            hint = "Reduce the iterations of a loop, or move some steps to another workflow."
            raise ScopeFailed("loops", Problem(code="too_many_steps", message=message, hint=hint))


@dataclass(frozen=True)
class ExecutionContext:
    facts: RunInfo
    step_executors: StepExecutors
    correct: CorrectInput
    activity: RunActivity
    write: WriteStep
    run_fenced: RunFenced
    stop_run: StopRun
    store_failure: StoreFailure
    failure: ScopeFailed | None = None
    """The failure stored by an earlier attempt of the run."""
    rows: Mapping[str, StepRow] = field(default_factory=dict[str, StepRow])
    """Steps stored by an earlier attempt of the run, by key."""
    step_counter: StepCounter = field(default_factory=StepCounter)
    linked_runs: LinkedRuns = field(default_factory=LinkedRuns)

    async def stop_runs_of(self, key: str) -> None:
        """Cancel the runs started by a step that failed or was interrupted."""
        for run_id in self.linked_runs.take(key):
            await self.stop_run(run_id)


Variables = Callable[[], dict[str, JsonValue]]
