"""What carries out the steps that have an effect, and what a step is told about itself."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar, Protocol, TypeVar

from pydantic import BaseModel, JsonValue

from forge.errors import ForgeError
from forge.runs.models import Problem
from forge.store.engine import Tx
from forge.workflows.definition.models import Step, StepType
from forge.workflows.expressions import SecretMarks
from forge.workflows.models import LogLine


class StepError(ForgeError):
    """A step could not be done. `code` is what `retry_on` names; `may_pass`: the same may work a little later."""

    code: ClassVar[str] = "step_failed"

    def __init__(
        self,
        code: str,
        message: str,
        *,
        hint: str | None = None,
        may_pass: bool = False,
        retry_after_s: float | None = None,
        cost_micros: int = 0,
        logs: tuple[LogLine, ...] = (),
    ) -> None:
        super().__init__(message, hint=hint)
        self.problem = Problem(
            code=code, message=message, hint=hint, retryable=may_pass, retry_after_s=retry_after_s
        )
        self.cost_micros = cost_micros
        self.logs = logs

    @classmethod
    def of(cls, problem: Problem, *, cost_micros: int = 0) -> "StepError":
        """What went wrong elsewhere, and with it the step."""
        return cls(
            problem.code,
            problem.message,
            hint=problem.hint,
            may_pass=problem.retryable,
            retry_after_s=problem.retry_after_s,
            cost_micros=cost_micros,
        )


@dataclass(frozen=True)
class Done:
    """What a step came to. `output` has the shape of its kind: `{"type": "http", "status": 200, …}`."""

    output: JsonValue
    cost_micros: int = 0
    logs: tuple[LogLine, ...] = ()


Begin = Callable[[Tx], Awaitable[JsonValue]]


class StepCall(Protocol):
    """A step that is being done, in one of its attempts."""

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
        """As it is written, its templates not filled in."""
        ...

    @property
    def key(self) -> str:
        """Of this step in its run, iterations included."""
        ...

    @property
    def attempt(self) -> int: ...
    @property
    def started_at(self) -> datetime:
        """When the step began, crashes since then disregarded."""
        ...

    @property
    def depth(self) -> int:
        """How many runs caused this one."""
        ...

    @property
    def secrets(self) -> SecretMarks:
        """What stands for secrets in what the step was given."""
        ...

    @property
    def idempotency_key(self) -> str:
        """The same whenever this attempt is repeated after a crash."""
        ...

    async def begin(self, function: Begin) -> JsonValue:
        """Do something in the database once per attempt, whatever crashes happen, and keep what it returned.

        Whatever it started (a run, a message) is found again by what it returned.
        """
        ...

    def waits(self, note: str, until: datetime | None = None) -> AbstractAsyncContextManager[None]:
        """While it is open the step counts as waiting, not working: its time does not run."""
        ...

    async def link(self, run_id: str) -> None:
        """Show this run as the one that does the work."""
        ...

    async def log(self, *lines: LogLine) -> None: ...


C = TypeVar("C", bound=BaseModel, contravariant=True)


class Hand(Protocol[C]):
    """Carries out one kind of step. `config` has its templates filled in."""

    async def do(self, call: StepCall, config: C) -> Done:
        """Raises StepError; any other ForgeError counts as well. Cancellation stops whatever it started."""
        ...


Hands = Mapping[StepType, Hand[Any]]
"""One for each kind of step that has an effect."""
