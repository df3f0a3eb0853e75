"""Access of bots to the skill library: find skills, read their files, run them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import JsonValue

from forge.errors import ForgeError, Invalid, NotFound
from forge.skills.library.library import Library
from forge.skills.models import Capability, SkillKind, Tier
from forge.skills.relations.skill_graph import check_conflicts
from forge.skills.skill_state import BrokenSkill, ReadableSkill, SkillStates
from forge.skills.views import SkillRan, SkillState


@dataclass(frozen=True)
class LibrarySkill:
    """The current state of a skill in the library."""

    name: str
    description: str
    kind: SkillKind
    version: str
    tier: Tier
    state: SkillState
    problem: str | None
    """Why it is not ready."""
    body: str
    """Includes inherited text."""
    files: Sequence[str] = ()
    asks: Sequence[Capability] = ()
    granted: Sequence[Capability] = ()
    """The grants that are valid now."""


@dataclass(frozen=True)
class SkillCall:
    """A run of a skill on behalf of a bot."""

    bot_id: str
    input: Mapping[str, JsonValue]
    by: str
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    narrowed: Sequence[Capability] | None = None
    """Restrict the granted capabilities to these; None for all."""


class SkillAccess(Protocol):
    async def find(self, account_id: str, names: Iterable[str]) -> dict[str, LibrarySkill | ForgeError]:
        """Return each skill, or the error why it is unavailable."""
        ...

    async def read(self, account_id: str, name: str, path: str) -> str:
        """Return a file of a skill. Raises NotFound, or Invalid if it is not text."""
        ...

    async def run(self, account_id: str, name: str, call: SkillCall) -> SkillRan:
        """Run a skill and return its result, also if it failed. Raises if it could not be started."""
        ...

    async def check_together(self, names: Iterable[str]) -> None:
        """Raise Conflict if two of the skills cannot be used together."""
        ...

    async def add_to_library(self, account_id: str, name: str) -> None:
        """Copy a starter into the library, if the skill is not there yet. Raises NotFound."""
        ...


RunSkill = Callable[[str, str, SkillCall], Awaitable[SkillRan]]
"""Arguments: account id, skill name, call."""


@dataclass(frozen=True)
class LibrarySkillAccess:
    knowing: SkillStates
    library: Library
    run_skill: RunSkill

    async def find(self, account_id: str, names: Iterable[str]) -> dict[str, LibrarySkill | ForgeError]:
        return {name: await self._find(account_id, name) for name in names}

    async def read(self, account_id: str, name: str, path: str) -> str:
        snapshot = await self.library.snapshot(name)
        data = snapshot.files.get(path)
        if data is None:
            raise NotFound(f"The skill {name} has no file {path[:200]!r}.", hint="Use a path as listed.")
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise Invalid(
                f"{path[:200]!r} of the skill {name} is not a text file ({len(data):,} bytes)."
            ) from error

    async def run(self, account_id: str, name: str, call: SkillCall) -> SkillRan:
        return await self.run_skill(account_id, name, call)

    async def check_together(self, names: Iterable[str]) -> None:
        check_conflicts(names, await asyncio.to_thread(self.knowing.parse, await self.knowing.snapshots()))

    async def add_to_library(self, account_id: str, name: str) -> None:
        await self.library.ensure_stored(name)

    async def _find(self, account_id: str, name: str) -> LibrarySkill | ForgeError:
        try:
            found = await self.knowing.find(account_id, name)
        except NotFound as error:
            return error
        return found.error if isinstance(found, BrokenSkill) else _to_library_skill(name, found)


def _to_library_skill(name: str, known: ReadableSkill) -> LibrarySkill:
    return LibrarySkill(
        name=name,
        description=known.manifest.description,
        kind=known.manifest.kind,
        version=known.manifest.version,
        tier=known.tier,
        state=known.state,
        problem=known.problem if known.state is SkillState.BROKEN else known.review_reason,
        body=known.composed.body,
        files=known.skill.files,
        asks=[one.capability for one in known.requested],
        granted=list(known.active_grants),
    )
