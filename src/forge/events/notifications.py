"""NOTIFY messages between processes on one PostgreSQL: a stream has grown, or an ephemeral event."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, TypeAdapter

from forge.events.models import EphemeralEvent

# Channel names and keys must not change: processes of two versions can share a database during an upgrade.
STREAM_GROWN_CHANNEL = "forge_events"
EPHEMERAL_CHANNEL = "forge_whispers"


@dataclass(frozen=True)
class Notification:
    channel: str
    payload: str


@dataclass(frozen=True)
class StreamGrown:
    stream: str
    seq: int


@dataclass(frozen=True)
class EphemeralNotification:
    """An ephemeral event and the hub it comes from, which receives the notification too."""

    origin: str
    event: Annotated[EphemeralEvent, Field(validation_alias="whisper")]


def stream_grown(stream: str, seq: int) -> Notification:
    return Notification(STREAM_GROWN_CHANNEL, _GROWN.dump_json(StreamGrown(stream, seq)).decode())


def ephemeral_notification(origin: str, event: EphemeralEvent) -> Notification:
    """Build the payload from the event's cached JSON."""
    return Notification(EPHEMERAL_CHANNEL, f'{{"origin":"{origin}","whisper":{event.json}}}')


def parse_notification(notification: Notification) -> StreamGrown | EphemeralNotification:
    """Parse a notification. Raise ValueError if another version of Forge uses another format."""
    adapter = _GROWN if notification.channel == STREAM_GROWN_CHANNEL else _EPHEMERAL
    return adapter.validate_json(notification.payload)


_GROWN = TypeAdapter(StreamGrown)
_EPHEMERAL = TypeAdapter(EphemeralNotification)
