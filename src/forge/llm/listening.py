"""Who hears an answer while it is written."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

DeltaKind = Literal["text", "thinking"]
OnDelta = Callable[[DeltaKind, str], Awaitable[None]]
OnAnswer = Callable[[str], Awaitable[None]]
"""A piece of an answer in a form, as JSON. An empty one says that it begins, perhaps again: what came before is void."""


@dataclass(frozen=True)
class Listener:
    on_delta: OnDelta | None = None
    on_answer: OnAnswer | None = None


NOBODY = Listener()
