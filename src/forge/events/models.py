"""Events: typed data (`EventData`) with a position in a stream (`Event`)."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Union

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model

STREAM_PATTERN = r"^[a-z]+:[A-Za-z0-9_-]{1,64}$"
"""`kind:id`, such as `run:0198…`."""


class EventData(BaseModel):
    """The data of one type of event. Subclasses set `type` and belong to the feature that emits them."""

    model_config = ConfigDict(frozen=True, extra="ignore")  # events are read by older and newer versions

    type: ClassVar[str]
    is_durable: ClassVar[bool] = True
    """False for ephemeral events, which are sent to current followers and never stored."""


@dataclass(frozen=True)
class Event:
    """An event in the log; `seq` counts 1, 2, 3 … without gaps in each stream."""

    stream: str
    seq: int
    at: datetime
    type: str
    data: dict[str, Any]

    @cached_property
    def json(self) -> str:
        """The serialized event, cached for all followers."""
        return _EVENT.dump_json(self).decode()


@dataclass(frozen=True)
class EphemeralEvent:
    """An event that is not stored and has no sequence number. A durable event with the same information follows it."""

    stream: str
    seq: None
    at: datetime
    type: str
    data: dict[str, Any]

    @cached_property
    def json(self) -> str:
        return _EPHEMERAL_EVENT.dump_json(self).decode()


_EVENT = TypeAdapter(Event)
_EPHEMERAL_EVENT = TypeAdapter(EphemeralEvent)


def read_fact(event: Event, kinds: Iterable[type[EventData]]) -> EventData | None:
    """Parse the event's data; None for an unknown type, which a newer server can send."""
    kind = next((kind for kind in kinds if kind.type == event.type), None)
    return kind.model_validate(event.data) if kind else None


def wire_model(kinds: Iterable[type[EventData]]) -> Any:
    """Return the union of all event types as sent to clients, discriminated by `type`."""
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
