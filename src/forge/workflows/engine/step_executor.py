"""Execute steps: the call that an executor receives, and its result."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, ClassVar, Protocol, TypeVar

from pydantic import BaseModel, JsonValue

from forge.errors import ForgeError
from forge.events.models import EventData
from forge.kernel.clock import now
from forge.runs.models import Problem
from forge.store.database import Tx
from forge.workflows.definition.models import Step, StepType
from forge.workflows.engine import step_store
from forge.workflows.engine.activity import RunActivity
from forge.workflows.engine.step_store import StepRow
from forge.workflows.expressions.secret_placeholders import SecretPlaceholders
from forge.workflows.models import LogLine, StepProblem, StepStatus, WorkflowStepLogged, WorkflowStepMoved


class StepError(ForgeError):
    """A step failed. `retry_on` matches `code`; `retryable` marks transient errors, which are retried by default."""

    code: ClassVar[str] = "step_failed"

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str | None = None,
        retryable: bool = False,
        retry_after_s: float | None = None,
        cost_micros: int = 0,
        logs: tuple[LogLine, ...] = (),
    ) -> None:
        super().__init__(message, hint=hint)
        self.problem = StepProblem(
            code=code, message=message, hint=hint, retryable=retryable, retry_after_s=retry_after_s
        )
        self.cost_micros = cost_micros
        self.logs = logs

    @classmethod
    def of(cls, problem: Problem, *, cost_micros: int = 0) -> "StepError":
        """Create the error from a problem of the run or service that the step used."""
        return cls(
            problem.code,
            problem.message,
            hint=problem.hint,
            retryable=problem.retryable,
            retry_after_s=problem.retry_after_s,
            cost_micros=cost_micros,
        )


@dataclass(frozen=True)
class StepResult:
    """The result of a step. The shape of `output` depends on the step type: `{"type": "http", "status": 200, …}`."""

    output: JsonValue
    cost_micros: int = 0
    logs: tuple[LogLine, ...] = ()


Begin = Callable[[Tx], Awaitable[JsonValue]]


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
class StepCall:
    """An attempt of a step."""

    facts: RunInfo
    step: Step
    """The step as defined, before templates are filled in."""
    row: StepRow
    """The current state of the step; replaced as it changes."""
    activity: RunActivity
    write: WriteStep
    run_fenced: RunFenced
    secrets: SecretPlaceholders
    """The placeholders for secrets in the step's input."""
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
        """The number of runs that caused this one."""
        return self.facts.depth

    @property
    def step_id(self) -> str:
        return self.row.summary.step

    @property
    def key(self) -> str:
        """The key of the step in its run, loop iterations included."""
        return self.row.key

    @property
    def attempt(self) -> int:
        return self.row.summary.attempt

    @property
    def started_at(self) -> datetime:
        """When the step first started; restarts do not change it."""
        return self.row.summary.started_at or now()

    @property
    def idempotency_key(self) -> str:
        """A key that stays the same if the attempt is repeated after a crash."""
        return f"{self.run_id}:{self.key}:{self.attempt}"

    async def begin(self, function: Begin) -> JsonValue:
        """Execute a database function exactly once per attempt and store its return value (the ticket).

        After a crash the ticket is returned again, so that a started run or message is found instead of duplicated.
        """
        async with self._lock:  # a concurrent write of the row would overwrite the ticket
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
        """Mark the step as waiting while the context is open. Time limits are suspended."""
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
        """Link the run that does the work of this step."""
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


C = TypeVar("C", bound=BaseModel, contravariant=True)


class StepExecutor(Protocol[C]):
    """Executes one type of step. Templates in `config` are filled in."""

    async def execute(self, call: StepCall, config: C) -> StepResult:
        """Execute the step. Raises StepError or another ForgeError if the step fails."""
        ...


StepExecutors = Mapping[StepType, StepExecutor[Any]]
"""Executors by type; conditionals and loops are executed by the engine itself."""
