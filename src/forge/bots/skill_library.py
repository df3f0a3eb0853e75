"""The skills of bots as they are in the library, run by whoever runs skills."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from forge.bots.skill_hands import SkillCall, SkillSeen
from forge.errors import ForgeError, Invalid, NotFound
from forge.skills.knowing import Broken, Knowing, Known
from forge.skills.library import Library
from forge.skills.relations.graph import check_together
from forge.skills.views import SkillRan, SkillState

RunSkill = Callable[[str, str, SkillCall], Awaitable[SkillRan]]
"""Account, skill, call."""


@dataclass(frozen=True)
class LibraryHands:
    knowing: Knowing
    library: Library
    run_skill: RunSkill

    async def look(self, account_id: str, names: Iterable[str]) -> dict[str, SkillSeen | ForgeError]:
        return {name: await self._look(account_id, name) for name in names}

    async def read(self, account_id: str, name: str, path: str) -> str:
        snapshot = await self.library.snapshot(name)
        data = snapshot.files.get(path)
        if data is None:
            raise NotFound(f"The skill {name} has no file {path[:200]!r}.", hint="Give it as it was listed.")
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise Invalid(f"{path[:200]!r} of the skill {name} is no text ({len(data):,} bytes).") from error

    async def run(self, account_id: str, name: str, call: SkillCall) -> SkillRan:
        return await self.run_skill(account_id, name, call)

    async def check_together(self, names: Iterable[str]) -> None:
        check_together(names, await asyncio.to_thread(self.knowing.read, await self.knowing.snapshots()))

    async def take(self, account_id: str, name: str) -> None:
        await self.library.take(name)

    async def _look(self, account_id: str, name: str) -> SkillSeen | ForgeError:
        try:
            found = await self.knowing.look(account_id, name)
        except NotFound as error:
            return error
        return found.error if isinstance(found, Broken) else _seen(name, found)


def _seen(name: str, known: Known) -> SkillSeen:
    return SkillSeen(
        name=name,
        description=known.manifest.description,
        kind=known.manifest.kind,
        version=known.manifest.version,
        tier=known.tier,
        state=known.state,
        problem=known.problem if known.state is SkillState.BROKEN else known.review,
        body=known.composed.body,
        files=known.skill.files,
        asks=[one.capability for one in known.asks],
        granted=list(known.counting),
    )
