"""Messages between bots as people and clients see them, and the events they leave."""

import json
from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from forge.events.models import EventData
from forge.kernel.spelling import Spelling
from forge.runs.models import Problem

MAX_BODY = 100_000
"""Bytes of what a message says, as the text that is kept of it and told."""
LONGEST_WAIT_S = 120
PREVIEW = 200


def _fits(body: JsonValue) -> JsonValue:
    if body is None or (isinstance(body, str) and not body.strip()):
        raise ValueError("must say something")
    try:
        size = len(as_text(body).encode())
    except UnicodeEncodeError:
        raise ValueError("must not contain half a character") from None
    if size > MAX_BODY:
        raise ValueError(f"must have at most {MAX_BODY:,} bytes as text")
    return body


def as_text(body: JsonValue) -> str:
    """For people and models: a text as it is, anything else as JSON."""
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, indent=2)


Body = Annotated[JsonValue, AfterValidator(_fits)]
MessageType = Annotated[
    str,
    Spelling(
        r"^[a-z][a-z0-9_]{0,31}$",
        "must begin with a small letter, and go on with small letters, digits and _ (at most 32 in all)",
    ),
]
ChannelName = Annotated[
    str,
    Spelling(
        r"^[a-z0-9][a-z0-9._-]{0,63}$",
        "must begin with a small letter or digit, and go on with small letters, digits and . _ - (at most 64 in all)",
    ),
]
BotRef = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,64}$")]

QUESTION, DELEGATION, REPLY = "question", "delegation", "reply"
QUIET = frozenset({REPLY, "information", "status_update"})
"""Types that tell something and ask for nothing: a bot takes them to its notes and does not answer."""
REPORTED = frozenset({QUESTION, DELEGATION})
"""Types whose reply is also brought to the bot that asked."""


class PersonSender(BaseModel):
    model_config = ConfigDict(frozen=True)

    type: Literal["person"] = "person"
    name: str


class BotSender(BaseModel):
    model_config = ConfigDict(frozen=True)

    type: Literal["bot"] = "bot"
    bot_id: str
    slug: str
    name: str
    spoken_by: str | None = None
    """The person who spoke as this bot; nothing when it did so itself."""


class WorkflowSender(BaseModel):
    model_config = ConfigDict(frozen=True)

    type: Literal["workflow"] = "workflow"
    name: str
    workflow_id: str
    run_id: str
    step: str


Sender = Annotated[PersonSender | BotSender | WorkflowSender, Field(discriminator="type")]


class DirectRecipient(BaseModel):
    model_config = ConfigDict(frozen=True)

    type: Literal["direct"] = "direct"
    bot: str
    """Its slug."""
    bot_id: str


class ChannelRecipient(BaseModel):
    model_config = ConfigDict(frozen=True)

    type: Literal["channel"] = "channel"
    name: str


class SenderRecipient(BaseModel):
    """Whoever sent what this is a reply to: a person or a workflow."""

    model_config = ConfigDict(frozen=True)

    type: Literal["sender"] = "sender"
    name: str


Recipient = Annotated[DirectRecipient | ChannelRecipient | SenderRecipient, Field(discriminator="type")]


class DeliveryStatus(StrEnum):
    QUEUED = "queued"
    DELIVERING = "delivering"
    ANSWERED = "answered"
    SILENT = "silent"
    """The bot knows it; it was not asked for an answer."""
    FAILED = "failed"
    """`error` says why."""

    @property
    def is_over(self) -> bool:
        return self not in (DeliveryStatus.QUEUED, DeliveryStatus.DELIVERING)


class Delivery(BaseModel):
    """What became of a message at one of the bots it went to."""

    model_config = ConfigDict(frozen=True)

    bot: str
    """Its slug."""
    bot_id: str
    status: DeliveryStatus
    run_id: str | None = None
    session_id: str | None = None
    """The conversation of that bot the message is in."""
    reply_id: str | None = None
    error: Problem | None = None
    cost_micros: int = 0
    finished_at: datetime | None = None


class BotMessage(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str
    sender: Sender
    recipient: Recipient
    message_type: str
    body: JsonValue
    reply_to: str | None
    conversation_id: str
    """All messages that follow from one another have the same."""
    depth: int
    """How many came before it in its conversation, one answering the other."""
    created_at: datetime
    deliveries: list[Delivery]


class NewMessage(BaseModel):
    """Say something to a bot, or in a channel. Who says it is known to the server."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    to: BotRef | None = Field(default=None, description="A bot's slug or id.")
    channel: ChannelName | None = Field(
        default=None, description="Instead of `to`: all bots that listen there."
    )
    speak_as: BotRef | None = Field(
        default=None, alias="from", description="One of your bots, to speak as; without it you do."
    )
    message_type: MessageType = "text"
    body: Body
    reply_to: str | None = Field(default=None, pattern=r"^[A-Za-z0-9-]{1,64}$")
    wait: bool = Field(default=False, description="Answer with the reply, when it is there.")
    timeout_secs: float = Field(default=30, gt=0, le=LONGEST_WAIT_S)


class Sent(BaseModel):
    """A message that is on its way, or has been answered."""

    message: BotMessage
    reply: BotMessage | None = None
    is_late: bool = False
    """There was no answer in time. The message stays; its reply comes when it comes."""


class Which(BaseModel):
    """Which messages are looked for: all that is given must hold."""

    model_config = ConfigDict(frozen=True)

    bot: str | None = None
    other: str | None = None
    """With `bot`: only between these two."""
    channel: str | None = None
    conversation: str | None = None


class Channel(BaseModel):
    name: str
    bots: list[str]
    """Slugs of those that listen."""
    messages: int
    last_at: datetime | None
    created_at: datetime


class NewChannel(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: ChannelName


class MessageSent(EventData):
    """On the account's stream: a message was sent, or a reply."""

    type: ClassVar[str] = "message.sent"
    message_id: str
    conversation_id: str
    message_type: str
    sender: Sender
    recipient: Recipient
    preview: str
    """The beginning of what it says."""


class MessageAnswered(EventData):
    """On the account's stream: a message has arrived at a bot; `status` says what became of it."""

    type: ClassVar[str] = "message.answered"
    message_id: str
    conversation_id: str
    bot: str
    status: DeliveryStatus
    reply_id: str | None
    error: Problem | None


EVENTS: tuple[type[EventData], ...] = (MessageSent, MessageAnswered)
