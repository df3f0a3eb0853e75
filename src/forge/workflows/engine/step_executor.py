"""Interfaces between the engine and the executors of each step type."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Protocol, TypeVar

from pydantic import BaseModel, JsonValue

from forge.errors import ForgeError
from forge.runs.models import Problem
from forge.store.database import Tx
from forge.workflows.definition.models import Step, StepType
from forge.workflows.expressions.secret_placeholders import SecretPlaceholders
from forge.workflows.models import LogLine


class StepError(ForgeError):
    """A step failed. `retry_on` matches `code`; `may_pass` marks transient errors, which are retried by default."""

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
        self.problem = Problem(
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


class StepCall(Protocol):
    """An attempt of a step, as its executor sees it."""

    @property
    def account_id(self) -> str: ...
    @property
    def run_id(self) -> str: ...
    @property
    def workflow_id(self) -> str: ...
    @property
    def workflow_name(self) -> str: ...
    @property
    def step_id(self) -> str: ...
    @property
    def step(self) -> Step:
        """The step as defined, before templates are filled in."""
        ...

    @property
    def key(self) -> str:
        """The key of the step in its run, loop iterations included."""
        ...

    @property
    def attempt(self) -> int: ...
    @property
    def started_at(self) -> datetime:
        """When the step first started; restarts do not change it."""
        ...

    @property
    def depth(self) -> int:
        """The number of runs that caused this one."""
        ...

    @property
    def secrets(self) -> SecretPlaceholders:
        """The placeholders for secrets in the step's input."""
        ...

    @property
    def idempotency_key(self) -> str:
        """A key that stays the same if the attempt is repeated after a crash."""
        ...

    async def begin(self, function: Begin) -> JsonValue:
        """Execute a database function exactly once per attempt and store its return value (the ticket).

        After a crash the ticket is returned again, so that a started run or message is found instead of duplicated.
        """
        ...

    def waits(self, note: str, until: datetime | None = None) -> AbstractAsyncContextManager[None]:
        """Mark the step as waiting while the context is open. Time limits are suspended."""
        ...

    async def link(self, run_id: str) -> None:
        """Link the run that does the work of this step."""
        ...

    async def log(self, *lines: LogLine) -> None: ...


C = TypeVar("C", bound=BaseModel, contravariant=True)


class StepExecutor(Protocol[C]):
    """Executes one type of step. Templates in `config` are filled in."""

    async def execute(self, call: StepCall, config: C) -> StepResult:
        """Execute the step. Raises StepError or another ForgeError if the step fails."""
        ...


StepExecutors = Mapping[StepType, StepExecutor[Any]]
"""Executors by type; conditionals and loops are executed by the engine itself."""
