"""Add the skills of new bots to the library: find existing ones, write new ones."""

from collections.abc import Iterable, Sequence

from forge.errors import Invalid
from forge.interview.domain.build_config import BuilderConfig, SkillRequest
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import State
from forge.skills.format.skill_writer import SkillText, template_skill
from forge.skills.library.library import Library
from forge.skills.models import SkillFiles, SkillKind


class AddedSkills:
    """The skills added to the library, so that they can be removed again."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._names: list[str] = []

    async def add_all(self, requests: Iterable[SkillRequest]) -> None:
        """Add all skills or none."""
        try:
            for request in requests:
                await self._add(request)
        except BaseException:
            await self.undo()
            raise

    async def undo(self) -> None:
        while self._names:
            await self._library.remove(self._names.pop())

    async def _add(self, request: SkillRequest) -> None:
        is_there = await self._library.exists(request.name)
        kept = await (
            self._library.ensure_stored(request.name)
            if is_there
            else self._library.write(template_for(request))
        )
        if kept.is_new:
            self._names.append(request.name)


class SkillAdditions:
    def __init__(self, library: Library) -> None:
        self._library = library

    async def check(self, requests: Iterable[SkillRequest]) -> None:
        """Raise when a skill can neither be found nor written."""
        for request in requests:
            if await self._library.exists(request.name):
                await self._library.find(request.name)
            else:
                _check_new(request)

    async def new(self, requests: Sequence[SkillRequest]) -> list[SkillFiles]:
        """Return the skills that do not exist yet, as they would be written."""
        return [template_for(request) for request in requests if not await self._library.exists(request.name)]

    def open(self) -> AddedSkills:
        return AddedSkills(self._library)


def added_skills(state: State, config: BuilderConfig) -> list[SkillRequest]:
    """Return the skills that a bot does not have yet. Existing entries stay even if the library lost the
    skill."""
    before = (state.basis.fields.skills or []) if state.mode is Mode.RECONFIGURE else []
    had = {request.name for request in before}
    return [request for request in config.skills if request.name not in had]


def template_for(request: SkillRequest) -> SkillFiles:
    """Render a skill with instructions from its description."""
    return template_skill(SkillText(name=request.name, description=request.description.strip()))


def _check_new(request: SkillRequest) -> None:
    if not request.description.strip():
        raise Invalid(
            f"Skill {request.name} does not exist.",
            hint="Describe what it does to have it written, or remove it.",
            field="skills",
        )
    if request.skill_type is not SkillKind.PROMPT:
        raise Invalid(
            f"Skill {request.name} is a program and has to be created and tested on its own.",
            hint="Create it with `forge skill create`, then add it to the bot.",
            field="skills",
        )
