"""Conversations as people and clients see them, and the events they leave in `session:<id>`."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from forge.events.models import EventData
from forge.kernel.text import NO_NUL, NOT_BLANK
from forge.llm.messages import StopReason
from forge.llm.models import Usage
from forge.runs.models import Problem

MAX_MESSAGE = 100_000
Title = Annotated[str, Field(min_length=1, max_length=200), NO_NUL]
MessageText = Annotated[str, Field(min_length=1, max_length=MAX_MESSAGE), NOT_BLANK, NO_NUL]
Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,64}$")]


class Speaker(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"


class MessageStatus(StrEnum):
    DONE = "done"
    WRITING = "writing"
    STOPPED = "stopped"
    """By a person; what was there is kept."""
    INTERRUPTED = "interrupted"
    """Its process died; what was there is kept, and it can be resumed."""
    FAILED = "failed"
    """The model could not be asked or gave no answer; `error` says why."""

    @property
    def can_resume(self) -> bool:
        return self in (MessageStatus.STOPPED, MessageStatus.INTERRUPTED, MessageStatus.FAILED)


class Recalled(BaseModel):
    """A memory that went along with a question."""

    model_config = ConfigDict(frozen=True)

    id: str
    fact: str


class UseState(StrEnum):
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    STOPPED = "stopped"
    """The answer ended first; what it was doing may have had its effect."""


UseKind = Literal["opened", "read", "ran"]


class SkillUse(BaseModel):
    """What a bot did with a skill for an answer."""

    model_config = ConfigDict(frozen=True)

    id: str
    skill: str
    how: UseKind
    path: str | None = None
    """The file that was read."""
    state: UseState
    input: str = ""
    """What it ran with: JSON, the beginning of it."""
    output: str = ""
    """What came out, the beginning of it; or what went wrong."""
    duration_ms: int | None = None
    started_at: datetime


class AnswerFacts(BaseModel):
    """What an answer was made with, and what it took. The values are those that were sent."""

    model_config = ConfigDict(frozen=True)

    run_id: str
    model: str = ""
    """`provider:model`; empty until one has answered."""
    temperature: float | None
    """None when its model takes none."""
    max_tokens: int
    soul_version: int
    usage: Usage = Usage()
    cost_micros: int = 0
    first_token_ms: int | None = None
    duration_ms: int | None = None
    stop: StopReason | None = None
    recalled: list[Recalled] = []
    skills_used: list[SkillUse] = []
    """In the order they began."""


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
    """This message and the others that stand in its place: edits of a question, other tries of an answer."""


class WorkflowOrigin(BaseModel):
    """A step of a workflow began it."""

    model_config = ConfigDict(frozen=True)

    type: Literal["workflow"] = "workflow"
    workflow: str
    workflow_id: str
    run_id: str
    step: str


class BotOrigin(BaseModel):
    """A message of another bot began it."""

    model_config = ConfigDict(frozen=True)

    type: Literal["bot"] = "bot"
    bot_id: str
    slug: str
    name: str
    conversation_id: str
    """Which messages it is about."""


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
    """Who began it; nothing when a person did."""


class Summary(BaseModel):
    """What stands for the beginning of a long conversation when a model is asked."""

    text: str
    upto_id: str
    """The last message it covers."""
    created_at: datetime


class SessionDetail(Session):
    summary: Summary | None = None
    """Of the branch that is shown."""


class NewTurn(BaseModel):
    """Say something to a bot."""

    model_config = ConfigDict(extra="forbid")

    text: MessageText
    session_id: Id | None = Field(default=None, description="Without it a new conversation begins.")
    edits_id: Id | None = Field(
        default=None, description="Say this instead of that message; the old branch is kept."
    )


class Turn(BaseModel):
    """A question was taken, and its answer is being written: follow `session:<id>`."""

    session: Session
    question: Message
    answer: Message


class NewRetry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    message_id: Id | None = Field(
        default=None, description="The answer to try again; the last one without it."
    )


class SessionChange(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: Title | None = None
    head_id: Id | None = Field(default=None, description="Show the branch with this message.")


class SearchHit(BaseModel):
    """A message that has the words."""

    session_id: str
    session_title: str
    message_id: str
    role: Speaker
    excerpt: str
    """The words are between ⟦ and ⟧."""
    created_at: datetime


class ChatAsked(EventData):
    """A question was taken; the answer is empty yet. Also a retry, with the old question."""

    type: ClassVar[str] = "chat.asked"
    question: Message
    answer: Message


class ChatResumed(EventData):
    """An unfinished answer is being written on."""

    type: ClassVar[str] = "chat.resumed"
    answer: Message


class ChatAnswered(EventData):
    """An answer has ended, in whatever way: its status says how."""

    type: ClassVar[str] = "chat.answered"
    answer: Message


class ChatChanged(EventData):
    """The title, or the branch that is shown, is another."""

    type: ClassVar[str] = "chat.changed"
    session: Session


class ChatSkillUsed(EventData):
    """A bot begins to use a skill for an answer, or is done with it: `use.state` says which."""

    type: ClassVar[str] = "chat.skill"
    message_id: str
    use: SkillUse


class ChatSummarised(EventData):
    """The beginning of the conversation is now sent as a summary."""

    type: ClassVar[str] = "chat.summarised"
    upto_id: str
    messages: int
    tokens_before: int
    tokens_after: int


class ChatRemembered(EventData):
    """Facts were taken into the bot's memory."""

    type: ClassVar[str] = "chat.remembered"
    facts: list[Recalled]


class ChatDelta(EventData):
    """A piece of an answer while it is written. Never stored; `chat.answered` has it whole."""

    type: ClassVar[str] = "chat.delta"
    is_durable: ClassVar[bool] = False
    message_id: str
    kind: Literal["text", "thinking"]
    offset: int
    """Characters of this kind that came before: who misses a piece can see it."""
    text: str


EVENTS: tuple[type[EventData], ...] = (
    ChatAsked,
    ChatResumed,
    ChatAnswered,
    ChatChanged,
    ChatSkillUsed,
    ChatSummarised,
    ChatRemembered,
    ChatDelta,
)
