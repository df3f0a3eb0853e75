"""Pydantic models of runs, steps and gates, and their events."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from forge.errors import ForgeError
from forge.events.models import EventData
from forge.kernel.hashing import hash_json
from forge.kernel.text import storable


class RunStatus(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        return self in FINAL


FINAL = frozenset({RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED})
ACTIVE = frozenset(RunStatus) - FINAL
WaitReason = Literal["gate", "message", "sleep", "child", "step"]


class GateStatus(StrEnum):
    OPEN = "open"
    ANSWERED = "answered"
    EXPIRED = "expired"
    CLOSED = "closed"


class StepStatus(StrEnum):
    RUNNING = "running"
    RETRYING = "retrying"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


MAX_DEFECT_TEXT = 300


class Problem(BaseModel):
    """Why something failed. `retryable` tells the engine whether another attempt may help."""

    model_config = ConfigDict(frozen=True)

    code: str
    message: Annotated[str, AfterValidator(storable)]
    hint: Annotated[str, AfterValidator(storable)] | None = None
    retryable: bool = False
    retry_after_s: float | None = None
    """Delay that the failing service asked for."""

    @classmethod
    def of(cls, error: ForgeError) -> Self:
        return cls(
            code=error.code,
            message=error.message,
            hint=error.hint,
            retryable=error.status >= 500 and error.passes,
            retry_after_s=error.retry_after_s,
        )

    @classmethod
    def defect(cls, error: Exception) -> Self:
        """Describe an unexpected exception by its first line, bounded; the log has the rest."""
        text = str(error).partition("\n")[0][:MAX_DEFECT_TEXT]
        return cls(code="internal", message=f"{type(error).__name__}: {text}", retryable=True)


class Progress(BaseModel):
    done: int = Field(ge=0)
    total: int = Field(ge=1)
    note: str = ""


class Run(BaseModel):
    id: str
    kind: str
    title: str
    status: RunStatus
    parent_id: str | None
    attempt: int
    progress: Progress | None
    output: Any | None
    outcome: str | None = None
    """Why a completed run is no success, such as `unfinished`; null if it is one."""
    error: Problem | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class Step(BaseModel):
    """A step of a run, derived from its events."""

    number: int
    name: str
    status: StepStatus
    attempt: int
    started_at: datetime
    duration_ms: int | None = None
    error: Problem | None = None


class GateOption(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str = Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")
    label: str
    tone: Literal["positive", "neutral", "negative"] = "neutral"


class GateAnswer(BaseModel):
    option: str
    comment: str
    answered_by: str
    answered_at: datetime


class Question(BaseModel):
    """The question of a gate: exactly what a person sees before answering, so that it can be hashed."""

    model_config = ConfigDict(frozen=True)

    kind: str
    title: str
    body: str = ""
    payload: dict[str, Any] = {}
    options: list[GateOption] = Field(min_length=1)

    def hash(self) -> str:
        shown = self.model_dump(mode="json", include=set(Question.model_fields))
        return hash_json(shown)


class Gate(Question):
    id: str
    run_id: str
    shown_hash: str
    status: GateStatus
    answer: GateAnswer | None
    opened_at: datetime
    expires_at: datetime | None


class RunDetail(BaseModel):
    run: Run
    input: dict[str, Any]
    """Input the run was started with."""
    steps: list[Step]
    gates: list[Gate]
    children: list[Run]


class NewRun(BaseModel):
    """Request to start a run of a public kind."""

    model_config = ConfigDict(extra="forbid")

    kind: str = Field(min_length=1, max_length=64)
    input: dict[str, Any] = {}


class NewAnswer(BaseModel):
    model_config = ConfigDict(extra="forbid")

    option: str = Field(min_length=1, max_length=32)
    comment: str = Field(default="", max_length=10_000)
    shown_hash: str = Field(
        min_length=64, max_length=64, description="`shown_hash` of the gate that was displayed."
    )


class Worker(BaseModel):
    """A process that executes runs."""

    id: str
    host: str
    pid: int
    started_at: datetime
    seen_at: datetime


class RunCreated(EventData):
    """A run was created and queued."""

    type: ClassVar[str] = "run.created"
    kind: str
    title: str
    parent_id: str | None


class RunStarted(EventData):
    """A worker started executing the run, possibly again after another worker died."""

    type: ClassVar[str] = "run.started"
    worker: str
    attempt: int


class RunProgressed(EventData):
    type: ClassVar[str] = "run.progress"
    done: int
    total: int
    note: str


class RunWaiting(EventData):
    type: ClassVar[str] = "run.waiting"
    reason: WaitReason
    until: datetime | None


class RunResumed(EventData):
    type: ClassVar[str] = "run.resumed"


class RunCompleted(EventData):
    type: ClassVar[str] = "run.completed"
    output: Any
    outcome: str | None = None


class RunFailed(EventData):
    type: ClassVar[str] = "run.failed"
    error: Problem


class RunCancelled(EventData):
    type: ClassVar[str] = "run.cancelled"
    by: str


class StepStarted(EventData):
    type: ClassVar[str] = "step.started"
    step: int
    name: str
    attempt: int


class StepFinished(EventData):
    """An attempt of a step ended; `retry_in_s` is set if another attempt follows."""

    type: ClassVar[str] = "step.finished"
    step: int
    name: str
    attempt: int
    outcome: Literal["ok", "error"]
    duration_ms: int
    error: Problem | None = None
    retry_in_s: float | None = None


class GateOpened(EventData):
    type: ClassVar[str] = "gate.opened"
    gate: Gate


class GateAnswered(EventData):
    type: ClassVar[str] = "gate.answered"
    gate_id: str
    option: str
    comment: str
    answered_by: str


class GateExpired(EventData):
    """No answer arrived in time. This is not a refusal: the run decides what it means."""

    type: ClassVar[str] = "gate.expired"
    gate_id: str


class GateClosed(EventData):
    """The gate was closed because its run ended."""

    type: ClassVar[str] = "gate.closed"
    gate_id: str


class RunChanged(EventData):
    """On the account's stream: one of its runs changed."""

    type: ClassVar[str] = "run.changed"
    run: Run


class GateChanged(EventData):
    """On the account's stream: a gate was opened or settled."""

    type: ClassVar[str] = "gate.changed"
    gate: Gate


EVENTS: tuple[type[EventData], ...] = (
    RunCreated,
    RunStarted,
    RunProgressed,
    RunWaiting,
    RunResumed,
    RunCompleted,
    RunFailed,
    RunCancelled,
    StepStarted,
    StepFinished,
    GateOpened,
    GateAnswered,
    GateExpired,
    GateClosed,
    RunChanged,
    GateChanged,
)
