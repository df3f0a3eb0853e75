"""API models and events of messages between bots."""

import json
from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue

from forge.events.models import EventData
from forge.kernel.text import PatternRule
from forge.runs.models import Problem

MAX_BODY = 100_000
"""Maximum size of a body in bytes, serialized as text."""
MAX_WAIT_S = 120
PREVIEW = 200


def _check_body(body: JsonValue) -> JsonValue:
    if body is None or (isinstance(body, str) and not body.strip()):
        raise ValueError("must not be empty")
    try:
        size = len(as_text(body).encode())
    except UnicodeEncodeError:
        raise ValueError("must not contain a lone surrogate") from None
    if size > MAX_BODY:
        raise ValueError(f"must have at most {MAX_BODY:,} bytes as text")
    return body


def as_text(body: JsonValue) -> str:
    """Return a string body as it is, any other body as indented JSON."""
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False, indent=2)


Body = Annotated[JsonValue, AfterValidator(_check_body)]
MessageType = Annotated[
    str,
    PatternRule(
        r"^[a-z][a-z0-9_]{0,31}$",
        "must begin with a lowercase letter, followed by lowercase letters, digits and _ (at most 32 characters)",
    ),
]
ChannelName = Annotated[
    str,
    PatternRule(
        r"^[a-z0-9][a-z0-9._-]{0,63}$",
        "must begin with a lowercase letter or digit, followed by lowercase letters, digits and . _ - (at most 64 characters)",
    ),
]
BotRef = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,64}$")]

QUESTION, DELEGATION, REPLY = "question", "delegation", "reply"
QUIET = frozenset({REPLY, "information", "status_update"})
"""Types that are added to the conversation without asking the bot for an answer."""
REPORTED = frozenset({QUESTION, DELEGATION})
"""Types whose reply is also delivered to the bot that asked."""


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
    """The person who sent the message as this bot; null if the bot sent it."""


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
    """The person or workflow that sent the message being replied to."""

    model_config = ConfigDict(frozen=True)

    type: Literal["sender"] = "sender"
    name: str


Recipient = Annotated[DirectRecipient | ChannelRecipient | SenderRecipient, Field(discriminator="type")]


class DeliveryStatus(StrEnum):
    QUEUED = "queued"
    DELIVERING = "delivering"
    ANSWERED = "answered"
    SILENT = "silent"
    """Delivered; the bot was not asked for an answer."""
    FAILED = "failed"
    """See `error`."""

    @property
    def is_over(self) -> bool:
        return self not in (DeliveryStatus.QUEUED, DeliveryStatus.DELIVERING)


class Delivery(BaseModel):
    """Delivery of a message to one bot."""

    model_config = ConfigDict(frozen=True)

    bot: str
    """Its slug."""
    bot_id: str
    status: DeliveryStatus
    run_id: str | None = None
    session_id: str | None = None
    """The bot's chat session that contains the message."""
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
    """Shared by a message and all replies that follow from it."""
    depth: int
    """Length of the chain of replies before this message."""
    created_at: datetime
    deliveries: list[Delivery]


class NewMessage(BaseModel):
    """Send a message to a bot or a channel. The sender is determined by the server."""

    model_config = ConfigDict(extra="forbid", populate_by_name=True)

    to: BotRef | None = Field(default=None, description="Bot slug or id.")
    channel: ChannelName | None = Field(
        default=None, description="Send to all subscribers of this channel instead of `to`."
    )
    speak_as: BotRef | None = Field(
        default=None, alias="from", description="Send as one of your bots. Default: send as yourself."
    )
    message_type: MessageType = "text"
    body: Body
    reply_to: str | None = Field(default=None, pattern=r"^[A-Za-z0-9-]{1,64}$")
    wait: bool = Field(default=False, description="Wait for the reply and return it.")
    timeout_secs: float = Field(default=30, gt=0, le=MAX_WAIT_S)


class Sent(BaseModel):
    """A message that was sent, with its reply if there is one."""

    message: BotMessage
    reply: BotMessage | None = None
    is_late: bool = False
    """There was no reply before the timeout. The delivery continues."""


class MessageQuery(BaseModel):
    """Filter for messages; all given conditions must match."""

    model_config = ConfigDict(frozen=True)

    bot: str | None = None
    other: str | None = None
    """With `bot`: only messages between these two."""
    channel: str | None = None
    conversation: str | None = None


class Channel(BaseModel):
    name: str
    bots: list[str]
    """Slugs of the subscribers."""
    messages: int
    last_at: datetime | None
    created_at: datetime


class NewChannel(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: ChannelName


class MessageSent(EventData):
    """A message or a reply was sent. Published on the account's stream."""

    type: ClassVar[str] = "message.sent"
    message_id: str
    conversation_id: str
    message_type: str
    sender: Sender
    recipient: Recipient
    preview: str
    """The beginning of the body."""


class MessageAnswered(EventData):
    """The delivery of a message to a bot ended: see `status`. Published on the account's stream."""

    type: ClassVar[str] = "message.answered"
    message_id: str
    conversation_id: str
    bot: str
    status: DeliveryStatus
    reply_id: str | None
    error: Problem | None


EVENTS: tuple[type[EventData], ...] = (MessageSent, MessageAnswered)
