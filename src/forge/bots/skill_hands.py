"""What bots need of the package that knows skills: to see them, to read their files, to run them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import JsonValue

from forge.errors import ForgeError
from forge.skills.models import Capability, SkillKind, Tier
from forge.skills.views import SkillRan, SkillState


@dataclass(frozen=True)
class SkillSeen:
    """A skill of the library, as it is now."""

    name: str
    description: str
    kind: SkillKind
    version: str
    tier: Tier
    state: SkillState
    problem: str | None
    """What keeps it from being ready."""
    body: str
    """With what it inherits."""
    files: Sequence[str] = ()
    asks: Sequence[Capability] = ()
    granted: Sequence[Capability] = ()
    """Those that count now."""


@dataclass(frozen=True)
class SkillCall:
    """One run, on behalf of a bot."""

    bot_id: str
    input: Mapping[str, JsonValue]
    by: str
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    narrowed: Sequence[Capability] | None = None
    """Of what was granted, only these; None for all."""


class SkillHands(Protocol):
    async def look(self, account_id: str, names: Iterable[str]) -> dict[str, SkillSeen | ForgeError]:
        """Each of these, or why it cannot be had."""
        ...

    async def read(self, account_id: str, name: str, path: str) -> str:
        """One of its files. Raises NotFound, or Invalid for what is no text."""
        ...

    async def run(self, account_id: str, name: str, call: SkillCall) -> SkillRan:
        """Whatever the skill does is an end; raises when nothing could be run."""
        ...

    async def check_together(self, names: Iterable[str]) -> None:
        """Raises Conflict when two of these cannot be used by one bot."""
        ...

    async def take(self, account_id: str, name: str) -> None:
        """Have it in the library: a starter is copied. Raises NotFound."""
        ...
