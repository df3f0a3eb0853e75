"""What processes on one PostgreSQL tell each other with NOTIFY: that a stream grew, and whispers."""

from dataclasses import dataclass

from pydantic import TypeAdapter

from forge.events.models import Whisper

GREW = "forge_events"
WHISPERED = "forge_whispers"


@dataclass(frozen=True)
class Notice:
    channel: str
    payload: str


@dataclass(frozen=True)
class Grown:
    stream: str
    seq: int


@dataclass(frozen=True)
class Overheard:
    """A whisper, and the hub it comes from: everybody who listens hears it, that one included."""

    origin: str
    whisper: Whisper


def grew(stream: str, seq: int) -> Notice:
    return Notice(GREW, _GROWN.dump_json(Grown(stream, seq)).decode())


def whispered(origin: str, whisper: Whisper) -> Notice:
    """Joined from the whisper's own text, which its followers here are sent as well."""
    return Notice(WHISPERED, f'{{"origin":"{origin}","whisper":{whisper.json}}}')


def read_notice(notice: Notice) -> Grown | Overheard:
    """`ValueError` when another version of Forge says it in a way this one does not understand."""
    adapter = _GROWN if notice.channel == GREW else _OVERHEARD
    return adapter.validate_json(notice.payload)


_GROWN = TypeAdapter(Grown)
_OVERHEARD = TypeAdapter(Overheard)
