"""What an event is: a typed fact (`EventData`) with its place in a stream (`Event`)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Union

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model

STREAM_PATTERN = r"^[a-z]+:[A-Za-z0-9_-]{1,64}$"
"""`kind:id`, for instance `run:0198…`."""


class EventData(BaseModel):
    """The facts of one kind of event. A subclass names its `type` and lives with the feature that emits it."""

    model_config = ConfigDict(frozen=True, extra="ignore")  # events are read by older and newer versions

    type: ClassVar[str]
    is_durable: ClassVar[bool] = True
    """False for what is only whispered: never stored, heard by whoever follows the stream at that moment."""


@dataclass(frozen=True)
class Event:
    """An event as it stands in the log; `seq` counts 1, 2, 3 … without a gap in each stream."""

    stream: str
    seq: int
    at: datetime
    type: str
    data: dict[str, Any]

    @cached_property
    def json(self) -> str:
        """Its wire form, made once however many follow the stream."""
        return _EVENT.dump_json(self).decode()


@dataclass(frozen=True)
class Whisper:
    """An event that is not in the log, so it has no number: a foretaste of a durable one that will follow."""

    stream: str
    seq: None
    at: datetime
    type: str
    data: dict[str, Any]

    @cached_property
    def json(self) -> str:
        return _WHISPER.dump_json(self).decode()


_EVENT = TypeAdapter(Event)
_WHISPER = TypeAdapter(Whisper)


def read_fact(event: Event, kinds: Iterable[type[EventData]]) -> EventData | None:
    """None when it is of none of these kinds: a newer server may know some that we do not."""
    kind = next((kind for kind in kinds if kind.type == event.type), None)
    return kind.model_validate(event.data) if kind else None


def wire_model(kinds: Iterable[type[EventData]]) -> Any:
    """The union of all event types as clients see them: each type with its own data, told apart by `type`."""
    models = [
        create_model(
            f"{kind.__name__}Event",
            __doc__=kind.__doc__,
            stream=(str, ...),
            seq=(int if kind.is_durable else None, ...),
            at=(datetime, ...),
            type=(_literal(kind.type), ...),
            data=(kind, ...),
        )
        for kind in sorted(kinds, key=lambda kind: kind.type)
    ]
    any_of = Union[tuple(models)]  # noqa: UP007  (built at run time)
    return Annotated[any_of, Field(discriminator="type")]


def _literal(value: str) -> Any:
    return Literal[value]  # pyright: ignore[reportInvalidTypeForm]  (known only at run time)
