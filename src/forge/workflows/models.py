"""Workflows and their runs as people and clients see them, and the events they leave."""

from datetime import datetime
from enum import StrEnum
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from forge.events.models import EventData
from forge.runs.models import Gate, Problem, RunStatus
from forge.workflows.definition.models import MAX_SOURCE, StepType
from forge.workflows.definition.place import Place

MAX_PAYLOAD = 1 << 20
"""Bytes of what starts a run, as JSON."""
MAX_OUTPUT = 8 << 20
"""Characters of what a step gives, as JSON."""


class StepStatus(StrEnum):
    RUNNING = "running"
    WAITING = "waiting"
    """For a person, a time, another run."""
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


class Attempt(BaseModel):
    """One try of a step."""

    model_config = ConfigDict(frozen=True)

    number: int
    started_at: datetime
    duration_ms: int | None = None
    waited_ms: int = 0
    """Of that, what it did not work: it waited for a person, or for another run."""
    input: JsonValue = None
    """When it differs from the step's own: a model rewrote it."""
    note: str = ""
    """Why it was rewritten."""
    error: Problem | None = None
    retry_in_s: float | None = None
    cost_micros: int = 0


class StepSummary(BaseModel):
    """One step of a run, without what went in and came out."""

    model_config = ConfigDict(frozen=True)

    key: str
    """Its id; in a loop `each[2]/fetch`."""
    step: str
    type: StepType
    name: str
    status: StepStatus
    attempt: int = 1
    started_at: datetime | None = None
    finished_at: datetime | None = None
    error: Problem | None = None
    note: str = ""
    """Why it was skipped, or what it waits for."""
    cost_micros: int = 0
    linked_run_id: str | None = None
    """The run that does its work: a bot's answer, a workflow, an audit."""
    is_kept: bool = False
    """Its result is that of the run this one is a retry of."""


class StepDetail(StepSummary):
    input: JsonValue = None
    """As it was done: templates filled in, secrets as they are named."""
    output: JsonValue = None
    attempts: list[Attempt] = []
    logs: list[LogLine] = []


class StripRun(BaseModel):
    """A run as a mark in a list."""

    model_config = ConfigDict(frozen=True)

    id: str
    status: RunStatus
    created_at: datetime
    duration_ms: int | None = None


class TriggerView(BaseModel):
    """A trigger as it stands."""

    model_config = ConfigDict(frozen=True)

    type: TriggerType
    title: str
    """Such as `daily at 9am (Europe/Berlin)`."""
    next_at: datetime | None = None
    last_fired_at: datetime | None = None
    url: str | None = None
    """Of a webhook."""
    error: str | None = None
    """Why it does not fire."""


class WorkflowCard(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str
    name: str
    description: str
    owner: str | None
    """A bot's slug."""
    number: int
    """Counts the versions that were saved."""
    version: str
    """What the definition itself says."""
    is_enabled: bool
    """Off: nothing but a person starts it."""
    steps: int
    triggers: list[TriggerView]
    last_runs: list[StripRun]
    """The newest last, up to 20."""
    open_gates: int
    created_at: datetime
    updated_at: datetime


class WorkflowDetail(WorkflowCard):
    definition: dict[str, Any]
    source: str
    """The same as YAML, with its comments."""
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
    """A definition, as YAML or as JSON; of both, the JSON is written into the YAML and its comments stay."""

    model_config = ConfigDict(extra="forbid")

    source: str | None = Field(default=None, max_length=MAX_SOURCE)
    definition: dict[str, Any] | None = None
    expected_number: int | None = Field(
        default=None, description="Refuse when another version was saved meanwhile."
    )


class Reading(BaseModel):
    """What a definition comes to."""

    is_usable: bool
    problems: list[Place]
    definition: dict[str, Any] | None = None
    source: str


class WorkflowChange(BaseModel):
    model_config = ConfigDict(extra="forbid")

    is_enabled: bool


class Submitted(BaseModel):
    """A run was created; a worker takes it up."""

    run_id: str
    workflow_id: str
    workflow_name: str
    status: Literal["submitted"] = "submitted"
    trigger: TriggerType
    is_duplicate: bool = False
    """It had been submitted before: the same delivery came again."""


class WorkflowRun(BaseModel):
    id: str
    workflow_id: str
    workflow_name: str
    number: int
    status: RunStatus
    trigger: TriggerType
    source: str
    """What started it: a person, a path, an event, a schedule, another run."""
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
    """The version it was started with."""
    steps: list[StepSummary]
    gates: list[Gate]
    children: list[str]


class Rerun(BaseModel):
    """Start again from the beginning; without a payload with that of the run."""

    model_config = ConfigDict(extra="forbid")

    payload: dict[str, Any] | None = None
    use_latest: bool = False
    """With the newest version of the definition instead of the one the run had."""


class Verdict(BaseModel):
    """Approve or reject what a run waits for."""

    model_config = ConfigDict(extra="forbid")

    step: str | None = Field(default=None, max_length=200, description="Needed when several wait.")
    comment: str = Field(default="", max_length=10_000)


class DryRunWish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    payload: dict[str, Any] = {}
    samples: dict[str, JsonValue] = Field(
        default={}, description="What steps are to give instead of doing anything, by their ids."
    )
    definition: dict[str, Any] | None = Field(default=None, description="Instead of the saved one.")


class DryRun(BaseModel):
    """What would happen. Nothing was done."""

    steps: list[StepDetail]
    output: JsonValue
    error: Problem | None


Change = Literal["created", "updated", "enabled", "disabled", "deleted"]


class WorkflowChanged(EventData):
    """On the account's stream: a workflow was made, changed, switched or deleted."""

    type: ClassVar[str] = "workflow.changed"
    workflow_id: str
    name: str
    change: Change


class WorkflowRefused(EventData):
    """On the account's stream: something wanted to start a workflow, and it did not start."""

    type: ClassVar[str] = "workflow.refused"
    workflow_id: str
    name: str
    trigger: TriggerType
    reason: str


class WorkflowStepMoved(EventData):
    """On the run's stream: a step has begun, waits, tries again or is over."""

    type: ClassVar[str] = "workflow.step"
    step: StepSummary


class WorkflowStepLogged(EventData):
    """On the run's stream: what a step wrote down."""

    type: ClassVar[str] = "workflow.log"
    key: str
    lines: list[LogLine]


EVENTS: tuple[type[EventData], ...] = (
    WorkflowChanged,
    WorkflowRefused,
    WorkflowStepMoved,
    WorkflowStepLogged,
)
