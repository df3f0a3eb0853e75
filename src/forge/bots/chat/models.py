"""API models of conversations, and the events published on `session:<id>`."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from forge.bots.models import MessageStatus
from forge.events.models import EventData
from forge.kernel.text import NO_NUL, NOT_BLANK
from forge.llm.messages import StopReason
from forge.llm.models import Usage
from forge.runs.models import Problem


class Speaker(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"


MAX_MESSAGE = 100_000
Title = Annotated[str, Field(min_length=1, max_length=200), NO_NUL]
MessageText = Annotated[str, Field(min_length=1, max_length=MAX_MESSAGE), NOT_BLANK, NO_NUL]
Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,64}$")]


class Recalled(BaseModel):
    """A memory that was sent with a question."""

    model_config = ConfigDict(frozen=True)

    id: str
    fact: str


class UseState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    """The answer ended before the skill did; side effects are possible."""


UseKind = Literal["opened", "read", "ran"]


class SkillUse(BaseModel):
    """One use of a skill in an answer."""

    model_config = ConfigDict(frozen=True)

    id: str
    skill: str
    how: UseKind
    path: str | None = None
    """The file that was read."""
    state: UseState
    input: str = ""
    """The input as JSON, truncated."""
    output: str = ""
    """The output or the error, truncated."""
    duration_ms: int | None = None
    started_at: datetime


class RetryNote(BaseModel):
    """A failed attempt to reach the model, and the time of the next one."""

    model_config = ConfigDict(frozen=True)

    problem: Problem
    attempt: int
    """Number of the next attempt."""
    attempts: int
    """Maximum number of attempts."""
    at: datetime


class AnswerFacts(BaseModel):
    """Parameters and costs of an answer. The parameters are those sent to the model."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    model: str = ""
    """`provider:model`; empty until a model has answered."""
    temperature: float | None
    """None if the model does not accept a temperature."""
    max_tokens: int
    soul_version: int
    usage: Usage = Usage()
    cost_micros: int = 0
    first_token_ms: int | None = None
    duration_ms: int | None = None
    stop: StopReason | None = None
    recalled: list[Recalled] = []
    skills_used: list[SkillUse] = []
    """In the order they started."""
    retry: RetryNote | None = None
    """Set while the answer waits for the next attempt."""


class Message(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str
    session_id: str
    parent_id: str | None
    role: Speaker
    text: str
    status: MessageStatus
    error: Problem | None = None
    created_at: datetime
    finished_at: datetime | None = None
    answer: AnswerFacts | None = None
    """For answers only."""
    siblings: list[str] = []
    """This message and its alternatives: edits of the question, or other answers."""


class WorkflowOrigin(BaseModel):
    """The conversation was started by a workflow step."""

    model_config = ConfigDict(frozen=True)

    type: Literal["workflow"] = "workflow"
    workflow: str
    workflow_id: str
    run_id: str
    step: str


class BotOrigin(BaseModel):
    """The conversation was started by a message of another bot."""

    model_config = ConfigDict(frozen=True)

    type: Literal["bot"] = "bot"
    bot_id: str
    slug: str
    name: str
    conversation_id: str
    """The conversation of bot messages it belongs to."""


Origin = Annotated[WorkflowOrigin | BotOrigin, Field(discriminator="type")]


class Session(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str
    bot_id: str
    title: str
    head_id: str | None
    """The last message of the branch that is shown."""
    is_answering: bool
    messages: int
    cost_micros: int
    created_at: datetime
    updated_at: datetime
    origin: Origin | None = None
    """What started it; null for a person."""


class Summary(BaseModel):
    """Summary sent to the model instead of the beginning of a long conversation."""

    text: str
    upto_id: str
    """The last message it covers."""
    created_at: datetime


class SessionDetail(Session):
    summary: Summary | None = None
    """Summary of the branch that is shown."""


class NewTurn(BaseModel):
    """Send a message to a bot."""

    model_config = ConfigDict(extra="forbid")

    text: MessageText
    session_id: Id | None = Field(default=None, description="Default: start a new conversation.")
    edits_id: Id | None = Field(
        default=None, description="Replace this message by the text. The old branch is kept."
    )


class Turn(BaseModel):
    """A question and its answer, which is being written: follow `session:<id>`."""

    session: Session
    question: Message
    answer: Message


class NewRetry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    message_id: Id | None = Field(default=None, description="The answer to replace. Default: the last one.")


class SessionChange(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: Title | None = None
    head_id: Id | None = Field(default=None, description="Show the branch with this message.")


class SearchHit(BaseModel):
    """A message that matches a search."""

    session_id: str
    session_title: str
    message_id: str
    role: Speaker
    excerpt: str
    """Matching words are enclosed in ⟦ and ⟧."""
    created_at: datetime


class ChatAsked(EventData):
    """A question was asked, or an answer is being retried; the answer is still empty."""

    type: ClassVar[str] = "chat.asked"
    question: Message
    answer: Message


class ChatResumed(EventData):
    """An unfinished answer is being continued."""

    type: ClassVar[str] = "chat.resumed"
    answer: Message


class ChatRetrying(EventData):
    """The model did not answer; it is asked again at `retry.at`."""

    type: ClassVar[str] = "chat.retrying"
    message_id: str
    retry: RetryNote


class ChatAnswered(EventData):
    """An answer ended: see its status."""

    type: ClassVar[str] = "chat.answered"
    answer: Message


class ChatChanged(EventData):
    """The title or the branch that is shown changed."""

    type: ClassVar[str] = "chat.changed"
    session: Session


class ChatSkillUsed(EventData):
    """A bot started or finished using a skill: see `use.state`."""

    type: ClassVar[str] = "chat.skill"
    message_id: str
    use: SkillUse


class ChatSummarised(EventData):
    """The beginning of the conversation was replaced by a summary."""

    type: ClassVar[str] = "chat.summarised"
    upto_id: str
    messages: int
    tokens_before: int
    tokens_after: int


class ChatRemembered(EventData):
    """Facts were added to the bot's memory."""

    type: ClassVar[str] = "chat.remembered"
    facts: list[Recalled]


class ChatDelta(EventData):
    """A piece of an answer that is being written. Not stored; `chat.answered` has the whole text."""

    type: ClassVar[str] = "chat.delta"
    is_durable: ClassVar[bool] = False
    message_id: str
    kind: Literal["text", "thinking"]
    offset: int
    """Number of characters of this kind sent before, to detect missing pieces."""
    text: str


EVENTS: tuple[type[EventData], ...] = (
    ChatAsked,
    ChatResumed,
    ChatRetrying,
    ChatAnswered,
    ChatChanged,
    ChatSkillUsed,
    ChatSummarised,
    ChatRemembered,
    ChatDelta,
)
