"""API models of workflows and their runs, and the events they publish."""

from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from forge.events.models import EventData
from forge.runs.models import Gate, Problem, RunStatus
from forge.workflows.definition.models import MAX_SOURCE, Place, StepType

MAX_PAYLOAD = 1 << 20
"""Bytes of a run's payload, as JSON."""
MAX_OUTPUT = 8 << 20
"""Characters of a step's output, as JSON."""


class StepStatus(StrEnum):
    RUNNING = "running"
    WAITING = "waiting"
    """For a person, a point in time or another run."""
    RETRYING = "retrying"
    COMPLETED = "completed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"

    @property
    def is_settled(self) -> bool:
        return self in SETTLED


SETTLED = frozenset({StepStatus.COMPLETED, StepStatus.FAILED, StepStatus.SKIPPED, StepStatus.CANCELLED})


class TriggerType(StrEnum):
    MANUAL = "manual"
    CRON = "cron"
    WEBHOOK = "webhook"
    EVENT = "event"
    FILE_WATCH = "file_watch"
    SUB_WORKFLOW = "sub_workflow"
    RETRY = "retry"


class LogLine(BaseModel):
    model_config = ConfigDict(frozen=True)

    level: Literal["debug", "info", "warn", "error"] = "info"
    text: str


class StepProblem(Problem):
    """Why a step failed. `status`, `headers` and `body` are those of an unexpected response to an `http` step."""

    status: int | None = None
    headers: dict[str, str] | None = None
    body: JsonValue = None
    """Null if it is binary, cut text if it is long."""


class Attempt(BaseModel):
    """One attempt of a step."""

    model_config = ConfigDict(frozen=True)

    number: int
    started_at: datetime
    duration_ms: int | None = None
    waited_ms: int = 0
    """The part of `duration_ms` spent waiting for a person or another run."""
    input: JsonValue = None
    """Set when a model rewrote the step's input for this attempt."""
    note: str = ""
    """Why the input was rewritten."""
    error: StepProblem | None = None
    retry_in_s: float | None = None
    cost_micros: int = 0


class StepSummary(BaseModel):
    """One step of a run, without its input and output."""

    model_config = ConfigDict(frozen=True)

    key: str
    """The step id; inside a loop `each[2]/fetch`."""
    step: str
    type: StepType
    name: str
    status: StepStatus
    attempt: int = 1
    started_at: datetime | None = None
    finished_at: datetime | None = None
    error: StepProblem | None = None
    note: str = ""
    """Why the step was skipped, or what it is waiting for."""
    cost_micros: int = 0
    linked_run_id: str | None = None
    """The run that does the work of this step: a bot's answer, a workflow or an audit."""
    is_kept: bool = False
    """The result was taken over from the run that this run retries."""


class StepDetail(StepSummary):
    input: JsonValue = None
    """The input after templates were filled in; secrets are shown by name."""
    output: JsonValue = None
    attempts: list[Attempt] = []
    logs: list[LogLine] = []


class StripRun(BaseModel):
    """A run in the status strip of a workflow."""

    model_config = ConfigDict(frozen=True)

    id: str
    status: RunStatus
    created_at: datetime
    duration_ms: int | None = None


class TriggerView(BaseModel):
    """A trigger and its current state."""

    model_config = ConfigDict(frozen=True)

    type: TriggerType
    title: str
    """For example `daily at 9am (Europe/Berlin)`."""
    next_at: datetime | None = None
    last_fired_at: datetime | None = None
    url: str | None = None
    """Set for webhooks."""
    error: str | None = None
    """Why the trigger does not fire."""


class WorkflowCard(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str
    name: str
    description: str
    owner: str | None
    """The slug of a bot."""
    number: int
    """The number of the latest saved version."""
    version: str
    """The `version` field of the definition."""
    is_enabled: bool
    """If false, only people can start the workflow; its triggers are off."""
    steps: int
    triggers: list[TriggerView]
    last_runs: list[StripRun]
    """Up to 20, oldest first."""
    open_gates: int
    created_at: datetime
    updated_at: datetime


class WorkflowDetail(WorkflowCard):
    definition: dict[str, Any]
    source: str
    """The definition as YAML, comments included."""
    warnings: list[Place]


class WorkflowVersion(BaseModel):
    number: int
    version: str
    by: str
    at: datetime


class WorkflowVersionDetail(WorkflowVersion):
    definition: dict[str, Any]
    source: str


class WorkflowWish(BaseModel):
    """A definition as YAML (`source`) or JSON (`definition`). If both are given, the JSON is merged into the YAML, whose
    comments are preserved."""

    model_config = ConfigDict(extra="forbid")

    source: str | None = Field(default=None, max_length=MAX_SOURCE)
    definition: dict[str, Any] | None = None
    expected_number: int | None = Field(
        default=None,
        description="Fail with a conflict unless this is the number of the latest version.",
    )


class Reading(BaseModel):
    """The result of parsing and validating a definition."""

    is_usable: bool
    problems: list[Place]
    definition: dict[str, Any] | None = None
    source: str


class WorkflowChange(BaseModel):
    model_config = ConfigDict(extra="forbid")

    is_enabled: bool


class Submitted(BaseModel):
    """A run was created and waits for a worker, or had been created before."""

    run_id: str
    workflow_id: str
    workflow_name: str
    status: Literal["submitted", "duplicate"] = "submitted"
    """`duplicate`: the same delivery was submitted before; this is the earlier run."""
    trigger: TriggerType
    is_duplicate: bool = False
    """Whether `status` is `duplicate`."""


class WorkflowRun(BaseModel):
    id: str
    workflow_id: str
    workflow_name: str
    number: int
    status: RunStatus
    trigger: TriggerType
    source: str
    """What started the run: a person, webhook path, event, schedule, file or other run."""
    parent_id: str | None
    retry_of: str | None
    inputs: dict[str, Any]
    error: Problem | None
    cost_micros: int
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None


class WorkflowRunDetail(WorkflowRun):
    payload: JsonValue
    output: JsonValue
    definition: dict[str, Any]
    """The version the run was started with."""
    steps: list[StepSummary]
    gates: list[Gate]
    children: list[str]


class Rerun(BaseModel):
    """Start a new run from the beginning. Default: the payload of the original run."""

    model_config = ConfigDict(extra="forbid")

    payload: dict[str, Any] | None = None
    use_latest: bool = False
    """Use the latest version of the definition instead of the one the run was started with."""


class Verdict(BaseModel):
    """Approve or reject a step that is waiting for an approval."""

    model_config = ConfigDict(extra="forbid")

    step: str | None = Field(
        default=None, max_length=200, description="Required if several steps are waiting."
    )
    comment: str = Field(default="", max_length=10_000)


class DryRunWish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    payload: dict[str, Any] = {}
    samples: dict[str, JsonValue] = Field(
        default={}, description="Outputs to use for steps, by step id, instead of executing them."
    )
    definition: dict[str, Any] | None = Field(default=None, description="Default: the saved definition.")


class DryRun(BaseModel):
    """The simulated result; nothing was executed."""

    steps: list[StepDetail]
    output: JsonValue
    error: Problem | None


Change = Literal["created", "updated", "enabled", "disabled", "deleted"]


class WorkflowChanged(EventData):
    """On the account's stream: a workflow was created, updated, enabled, disabled or deleted."""

    type: ClassVar[str] = "workflow.changed"
    workflow_id: str
    name: str
    change: Change


class WorkflowRefused(EventData):
    """On the account's stream: a trigger could not start its workflow."""

    type: ClassVar[str] = "workflow.refused"
    workflow_id: str
    name: str
    trigger: TriggerType
    reason: str


class WorkflowStepMoved(EventData):
    """On the run's stream: a step started, waits, is retried or ended."""

    type: ClassVar[str] = "workflow.step"
    step: StepSummary


class WorkflowStepLogged(EventData):
    """On the run's stream: log lines of a step."""

    type: ClassVar[str] = "workflow.log"
    key: str
    lines: list[LogLine]


EVENTS: tuple[type[EventData], ...] = (
    WorkflowChanged,
    WorkflowRefused,
    WorkflowStepMoved,
    WorkflowStepLogged,
)


def iteration_prefix(key: str, index: int) -> str:
    """Return the prefix of the step keys in an iteration of a loop: `each[2]/`."""
    return f"{key}[{index}]/"


def split_key(key: str) -> list[tuple[str, int | None]]:
    """Split `each[2]/fetch` into `[("each", 2), ("fetch", None)]`, outermost loop first."""
    parts = (part.rstrip("]").partition("[") for part in key.split("/"))
    return [(step, int(index) if index else None) for step, _, index in parts]


KIND = "workflow"


class WorkflowInput(BaseModel):
    """The journaled input of the run kind `workflow`; everything else is in the run's row."""

    model_config = ConfigDict(frozen=True)

    workflow_id: str
    workflow_name: str
    number: int


class Ignored(BaseModel):
    """The delivery was accepted, but starts nothing."""

    status: Literal["ignored"] = "ignored"
    reason: str
