"""What a run of a skill may take, and what became of it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue

from forge.skills.models import Tier

MB = 1 << 20
MAX_INPUT = 1 * MB
"""Characters of the JSON that goes in."""
MAX_OUTPUT = 4 * MB
"""Characters of the JSON that comes out."""


@dataclass(frozen=True)
class RunLimits:
    memory_bytes: int
    """On top of what the runtime of its language takes before the first line."""
    fuel: int
    """Instructions of WebAssembly, about one each."""
    seconds: float
    """On the wall, what the host does for it included."""


LIMITS: Mapping[Tier, RunLimits] = {
    Tier.UNTRUSTED: RunLimits(16 * MB, 20_000_000_000, 10.0),
    Tier.VERIFIED: RunLimits(64 * MB, 60_000_000_000, 30.0),
    Tier.LOCAL: RunLimits(256 * MB, 120_000_000_000, 60.0),
}


class RunEnd(StrEnum):
    """How a run of a skill ended."""

    RUNNING = "running"
    DONE = "done"
    RAISED = "raised"
    """The skill failed by itself: an error it did not catch."""
    REFUSED = "refused"
    """It reached for what nobody granted; that ends it at once."""
    FUEL = "fuel"
    MEMORY = "memory"
    TIME = "time"
    STACK = "stack"
    OUTPUT = "output"
    """What it gave is no JSON, or too much of it."""
    UNUSABLE = "unusable"
    """Its source cannot be read, or there is no `run` in it."""
    CRASHED = "crashed"
    """The process it ran in ended, or Forge itself did."""


class Language(StrEnum):
    JS = "js"
    PY = "py"
    WASM = "wasm"
    """A component somebody compiled: it exports `run: func(input: string) -> result<string, string>`."""


@dataclass(frozen=True)
class Program:
    """A script, as it lies in its folder."""

    language: Language
    source: bytes


@dataclass(frozen=True)
class Ended:
    """A run that is over. Whatever a skill does is an end, never an exception."""

    end: RunEnd
    output: JsonValue = None
    error: str = ""
    """In words for the person who ran it; the skill's own message when it raised."""
    fuel: int | None = None
    memory_bytes: int | None = None
    """The most it had, on top of the runtime's own. None where it cannot be measured."""
    duration_ms: float = 0.0


class HostError(Exception):
    """Told to the skill as an error it may catch: a file that is not there, a host that is not on the list."""


class HostRefusal(Exception):
    """The capability was never granted: the run ends with REFUSED, whatever the skill does."""


HostCall = Callable[[str, dict[str, Any]], Awaitable[JsonValue]]
"""The one host function: the name of an operation and its arguments. Raises HostError or HostRefusal."""


class LogLine(BaseModel):
    """What a skill wrote with `log`."""

    model_config = ConfigDict(frozen=True)

    level: str
    message: str
