"""The skills of a bot: what the library has of those its file names."""

from collections.abc import Iterable
from dataclasses import dataclass

from forge.bots.models import SkillEntry, SkillView
from forge.errors import ForgeError
from forge.skills.library import Library
from forge.skills.models import Skill


@dataclass(frozen=True)
class SkillText:
    """A skill as a conversation gets it."""

    name: str
    description: str
    body: str


class Shelf:
    def __init__(self, library: Library) -> None:
        self._library = library

    async def texts(self, entries: Iterable[SkillEntry]) -> list[SkillText]:
        """Of those that are enabled and can be read, by name."""
        found = await self._library.look(sorted(entry.skill_name for entry in entries if entry.enabled))
        return [
            SkillText(name, skill.manifest.description, skill.body)
            for name, skill in found.items()
            if isinstance(skill, Skill)
        ]

    async def views(self, entries: Iterable[SkillEntry]) -> list[SkillView]:
        """All of them, by name, each with what keeps it from the conversation."""
        enabled = {entry.skill_name: entry.enabled for entry in entries}
        found = await self._library.look(sorted(enabled))
        return [_view(name, skill, enabled=enabled[name]) for name, skill in found.items()]


def _view(name: str, found: Skill | ForgeError, *, enabled: bool) -> SkillView:
    if isinstance(found, Skill):
        return SkillView(name=name, enabled=enabled, description=found.manifest.description)
    return SkillView(name=name, enabled=enabled, problem=found.message)
