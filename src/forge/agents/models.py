"""Agents as people and clients see them: what they are told, when they stop, and the events they leave."""

from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from forge.events.models import EventData
from forge.kernel.text import NO_NUL, NOT_BLANK
from forge.llm.listening import DeltaKind
from forge.llm.messages import StopReason
from forge.llm.models import Role, Usage
from forge.sandbox.models import End, Level


class AgentEnd(StrEnum):
    """Why an agent stopped. Only `DONE` is an answer; each limit has its own name."""

    DONE = "done"
    TURNS = "turns"
    TOKENS = "tokens"
    MONEY = "money"
    TIME = "time"
    LOOP = "loop"
    """The same call failed again and again."""
    REFUSED = "refused"
    """The model declined to go on."""
    STUCK = "stuck"
    """The model gave an empty or cut-off answer several times in a row."""
    INTERRUPTED = "interrupted"
    """Its process died while a model was writing, and it is left to a person whether to go on."""


class AgentLimits(BaseModel):
    """How far an agent may go. Money has a budget of its own, and asks before it stops."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    turns: int = Field(default=100, ge=1, le=1000)
    tokens: int = Field(default=20_000_000, ge=1_000, description="Sent and received, over all turns.")
    seconds: int = Field(default=4 * 3600, ge=1, le=7 * 86_400)
    same_failure: int = Field(
        default=3, ge=2, le=20, description="The same failing call in a row; then stop."
    )


class AgentResult(BaseModel):
    end: AgentEnd
    text: str
    """The model's last words."""
    turns: int
    tool_calls: int
    usage: Usage
    cost_micros: int
    model: str = ""
    """`provider:model` of the last answer."""
    stop: StopReason | None = None
    first_token_ms: int | None = None
    """Until the first word of the first answer."""
    model_ms: int = 0
    """Time spent waiting for models."""


class ToolDetail(BaseModel):
    """Facts about a tool call, as fields: nobody has to read them out of text."""

    model_config = ConfigDict(frozen=True)

    path: str | None = None
    bytes: int | None = None
    changed: bool | None = None
    """Whether a file is different now."""
    argv: list[str] | None = None
    exit_code: int | None = None
    end: End | None = None
    """How a command ended."""
    passed: int | None = None
    failed: int | None = None
    skipped: int | None = None
    matches: int | None = None
    truncated: bool | None = None
    sandbox: Level | None = None
    """The level a command ran at."""
    fetched: list[str] | None = None
    """Packages that came through the registry gateway."""
    skill: str | None = None
    output: str | None = None
    """What a skill that ran gave, as JSON, or why it gave nothing."""


class ToolOutcome(BaseModel):
    """What a tool gives back: text for the model, facts for everyone else. A failure is an outcome too."""

    model_config = ConfigDict(frozen=True)

    text: str
    is_error: bool = False
    summary: str
    """One line for people: `app.py, 1.2 kB`, `12 passed`, `exit 1`."""
    detail: ToolDetail = ToolDetail()


class NewAgentRun(BaseModel):
    """Give an agent a task in a workspace."""

    model_config = ConfigDict(extra="forbid")

    workspace_id: str = Field(min_length=1, max_length=64)
    task: Annotated[str, Field(min_length=1, max_length=100_000), NOT_BLANK, NO_NUL]
    role: Role = Role.BUILDER
    limits: AgentLimits = AgentLimits()


class NewInterjection(BaseModel):
    """Tell a running agent something; it hears it before its next turn."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(min_length=1, max_length=20_000), NOT_BLANK, NO_NUL]


class Interjection(BaseModel):
    id: str
    text: str
    sent_by: str


class NearbySkill(BaseModel):
    """A skill that lies in the workspace."""

    model_config = ConfigDict(frozen=True)

    name: str
    description: str = ""
    folder: str
    """Relative to the workspace."""
    problem: str | None = None
    """Why it cannot be used."""


class AgentStarted(EventData):
    """An agent begins: what it may use, and how well its commands are isolated."""

    type: ClassVar[str] = "agent.started"
    role: Role
    tools: list[str]
    limits: AgentLimits
    sandbox: Level
    skills: list[NearbySkill] = Field(default_factory=list[NearbySkill])


class AgentToolAsked(BaseModel):
    id: str
    name: str
    input: dict[str, Any] | None
    """None when the model's arguments cannot be read."""


class AgentTurn(EventData):
    """A model answered: its words, the tools it wants, what it cost."""

    type: ClassVar[str] = "agent.turn"
    turn: int
    model: str
    text: str
    thinking: str
    tools: list[AgentToolAsked]
    stop: StopReason
    usage: Usage
    cost_micros: int
    context_used: float
    """The share of the model's window that this conversation fills."""


class AgentToolUsed(EventData):
    """A tool was used, well or badly; `text` is what the model was given, shortened for people."""

    type: ClassVar[str] = "agent.tool"
    turn: int
    call_id: str
    name: str
    is_error: bool
    summary: str
    text: str
    duration_ms: int
    detail: ToolDetail


class AgentCompacted(EventData):
    """The conversation was shortened to fit the model's window."""

    type: ClassVar[str] = "agent.compacted"
    turn: int
    tokens_before: int
    tokens_after: int
    results_shortened: int
    messages_dropped: int


class AgentHeard(EventData):
    """Messages of people reached the agent, in this order, before this turn."""

    type: ClassVar[str] = "agent.heard"
    turn: int
    messages: list[Interjection]


class AgentEnded(EventData):
    type: ClassVar[str] = "agent.ended"
    result: AgentResult


class AgentDelta(EventData):
    """A piece of an answer while it is written. Never stored; the turn that follows has it whole."""

    type: ClassVar[str] = "agent.delta"
    is_durable: ClassVar[bool] = False
    turn: int
    attempt: int
    kind: DeltaKind
    offset: int
    """Characters of this kind that came before: who misses a piece can see it."""
    text: str


EVENTS: tuple[type[EventData], ...] = (
    AgentStarted,
    AgentTurn,
    AgentToolUsed,
    AgentCompacted,
    AgentHeard,
    AgentEnded,
    AgentDelta,
)
