"""Access of bots to the skill library: find skills, read their files, run them."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass

from forge.errors import ForgeError, Invalid, NotFound
from forge.skills.invocations.runner import RunRequest
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


class SkillAccess:
    def __init__(
        self, states: SkillStates, library: Library, run: Callable[[str, RunRequest], Awaitable[SkillRan]]
    ) -> None:
        self._states = states
        self._library = library
        self._run = run

    async def find(self, account_id: str, names: Iterable[str]) -> dict[str, LibrarySkill | ForgeError]:
        """Return each skill, or the error why it is unavailable."""
        return {name: await self._find(account_id, name) for name in names}

    async def read(self, account_id: str, name: str, path: str) -> str:
        """Return a file of a skill. Raises NotFound, or Invalid if it is not text."""
        snapshot = await self._library.snapshot(name)
        data = snapshot.files.get(path)
        if data is None:
            raise NotFound(
                f"The skill {name} has no file {path[:200]!r}.", hint="Use one of the listed paths."
            )
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise Invalid(
                f"{path[:200]!r} of the skill {name} is not a text file ({len(data):,} bytes)."
            ) from error

    async def run(self, name: str, request: RunRequest) -> SkillRan:
        """Run a skill and return its result, also if it failed. Raises if it could not be started."""
        return await self._run(name, request)

    async def check_together(self, names: Iterable[str]) -> None:
        """Raise Conflict if two of the skills cannot be used together."""
        check_conflicts(names, await asyncio.to_thread(self._states.parse, await self._states.snapshots()))

    async def add_to_library(self, account_id: str, name: str) -> None:
        """Copy a starter into the library, if the skill is not there yet. Raises NotFound."""
        await self._library.ensure_stored(name)

    async def _find(self, account_id: str, name: str) -> LibrarySkill | ForgeError:
        try:
            found = await self._states.find(account_id, name)
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
