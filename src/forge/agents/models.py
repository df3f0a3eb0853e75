"""Pydantic models of agents: requests, limits, results and events."""

from enum import StrEnum
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, ConfigDict, Field

from forge.events.models import EventData
from forge.kernel.text import NO_NUL, NOT_BLANK
from forge.llm.messages import DeltaKind, StopReason
from forge.llm.models import Role, Usage
from forge.sandbox.models import End, Level


class AgentEnd(StrEnum):
    """Why an agent stopped. Only `DONE` means that the task is done."""

    DONE = "done"
    UNFINISHED = "unfinished"
    """It stopped without calling `finish`, or although the last test run had failed."""
    UNVERIFIED = "unverified"
    """It claims a result that nothing it ran has shown."""
    TURNS = "turns"
    TOKENS = "tokens"
    MONEY = "money"
    TIME = "time"
    LOOP = "loop"
    """The same call failed repeatedly."""
    REFUSED = "refused"
    """The model declined to continue."""
    STUCK = "stuck"
    """The model gave an empty or cut-off answer several times in a row."""
    INTERRUPTED = "interrupted"
    """The process died while the model was answering; a person decides whether to continue."""


class AgentLimits(BaseModel):
    """Limits of an agent run. Cost is limited by budgets, which ask a person before the run stops."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    turns: int = Field(default=100, ge=1, le=1000)
    tokens: int = Field(
        default=20_000_000, ge=1_000, description="Maximum tokens sent and received in all turns."
    )
    seconds: int = Field(default=4 * 3600, ge=1, le=7 * 86_400)
    same_failure: int = Field(
        default=3, ge=2, le=20, description="Stop after this many identical failing calls."
    )


class ToolDetail(BaseModel):
    """Structured facts about a tool call."""

    model_config = ConfigDict(frozen=True)

    path: str | None = None
    bytes: int | None = None
    changed: bool | None = None
    """Whether a file changed."""
    argv: list[str] | None = None
    exit_code: int | None = None
    end: End | None = None
    """How the command ended."""
    passed: int | None = None
    failed: int | None = None
    skipped: int | None = None
    matches: int | None = None
    truncated: bool | None = None
    sandbox: Level | None = None
    """Isolation level the command ran at."""
    fetched: list[str] | None = None
    """Packages downloaded through the registry gateway."""
    skill: str | None = None
    output: str | None = None
    """Output of the skill as JSON, or the reason why there is none."""


class ToolOutcome(BaseModel):
    """Result of a tool: text for the model and structured facts for clients. Failures are results too."""

    model_config = ConfigDict(frozen=True)

    text: str
    is_error: bool = False
    summary: str
    """One line for people: `app.py, 1.2 kB`, `12 passed`, `exit 1`."""
    detail: ToolDetail = ToolDetail()


class Verification(BaseModel):
    """A test run that Forge started itself when the agent said that it was done."""

    model_config = ConfigDict(frozen=True)

    command: str
    passed: bool
    summary: str
    """One line: `12 passed`, `exit code 1`."""
    text: str
    """The output, shortened."""
    duration_ms: int
    detail: ToolDetail


class AgentResult(BaseModel):
    end: AgentEnd
    text: str
    """The summary of an agent that finished, else the text of the last answer."""
    verified: bool | None = None
    """Whether the agent says that it has verified the result; null if it never called `finish`."""
    verification: Verification | None = None
    """The last test run by Forge; null if none was requested."""
    turns: int
    tool_calls: int
    usage: Usage
    cost_micros: int
    model: str = ""
    """`provider:model` of the last answer."""
    stop: StopReason | None = None
    first_token_ms: int | None = None
    """Time to the first token of the first answer."""
    model_ms: int = 0
    """Time spent waiting for models."""


class NewAgentRun(BaseModel):
    """Give an agent a task in a workspace."""

    model_config = ConfigDict(extra="forbid")

    workspace_id: str = Field(min_length=1, max_length=64)
    task: Annotated[str, Field(min_length=1, max_length=100_000), NOT_BLANK, NO_NUL]
    role: Role = Role.BUILDER
    limits: AgentLimits = AgentLimits()
    verify: Annotated[str, Field(min_length=1, max_length=1_000), NOT_BLANK, NO_NUL] | None = Field(
        default=None,
        description="A test command, such as `npm test`, that Forge runs itself when the agent says that it is done.",
    )


class VerifyCommands(BaseModel):
    """Commands that probably run the tests of a workspace."""

    commands: list[str]


class NewInterjection(BaseModel):
    """A message to a running agent, delivered before its next turn."""

    model_config = ConfigDict(extra="forbid")

    text: Annotated[str, Field(min_length=1, max_length=20_000), NOT_BLANK, NO_NUL]


class Interjection(BaseModel):
    id: str
    text: str
    sent_by: str


class NearbySkill(BaseModel):
    """A skill found in the workspace."""

    model_config = ConfigDict(frozen=True)

    name: str
    description: str = ""
    folder: str
    """Relative to the workspace."""
    problem: str | None = None
    """The reason why it cannot be used."""


class AgentStarted(EventData):
    """An agent started: its tools, its limits and the isolation level of its commands."""

    type: ClassVar[str] = "agent.started"
    role: Role
    tools: list[str]
    limits: AgentLimits
    sandbox: Level
    compact: bool = False
    """Whether the tools are described briefly, for a small context window."""
    skills: list[NearbySkill] = Field(default_factory=list[NearbySkill])


class AgentToolAsked(BaseModel):
    id: str
    name: str
    input: dict[str, Any] | None
    """None when the arguments cannot be parsed."""
    as_text: bool = False
    """The model wrote the call as text instead of using the API's tool calls."""


class AgentTurn(EventData):
    """The model answered: its text, its tool calls and its cost."""

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
    """Share of the model's context window used by the conversation."""


class AgentToolUsed(EventData):
    """A tool call finished; `text` is the result the model received, shortened."""

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
    """The conversation was compacted to fit the model's context window."""

    type: ClassVar[str] = "agent.compacted"
    turn: int
    tokens_before: int
    tokens_after: int
    results_shortened: int
    messages_dropped: int


class AgentHeard(EventData):
    """The agent received these messages from people, in this order, before this turn."""

    type: ClassVar[str] = "agent.heard"
    turn: int
    messages: list[Interjection]


class AgentReminded(EventData):
    """Forge told the model how to go on, because it answered without doing what ends the task."""

    type: ClassVar[str] = "agent.reminded"
    turn: int
    """The next turn."""
    text: str


class AgentVerified(EventData):
    """Forge ran the tests itself, because the agent said that it was done."""

    type: ClassVar[str] = "agent.verified"
    turn: int
    verification: Verification


class AgentEnded(EventData):
    type: ClassVar[str] = "agent.ended"
    result: AgentResult


class AgentDelta(EventData):
    """A piece of an answer that is being generated. Not stored; `agent.turn` has the whole answer."""

    type: ClassVar[str] = "agent.delta"
    is_durable: ClassVar[bool] = False
    turn: int
    attempt: int
    kind: DeltaKind
    offset: int
    """Number of characters of this kind before this piece; a gap means that a piece was missed."""
    text: str


EVENTS: tuple[type[EventData], ...] = (
    AgentStarted,
    AgentTurn,
    AgentToolUsed,
    AgentCompacted,
    AgentHeard,
    AgentReminded,
    AgentVerified,
    AgentEnded,
    AgentDelta,
)
