"""The skills that bots get: those of the library, those that come with Forge, and those that are written on the way."""

from collections.abc import Iterable, Sequence

from forge.errors import Invalid
from forge.interview.config import BuilderConfig, SkillRequest
from forge.interview.phases import Mode
from forge.interview.state import State
from forge.skills.library import Library
from forge.skills.models import SkillFiles, SkillKind
from forge.skills.writing import SkillText, template_skill


class Taken:
    """What came into the library, so that it can be taken out again."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._names: list[str] = []

    async def add_all(self, requests: Iterable[SkillRequest]) -> None:
        """All of them or none."""
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
        kept = await (self._library.take(request.name) if is_there else self._library.write(written(request)))
        if kept.is_new:
            self._names.append(request.name)


class Stock:
    def __init__(self, library: Library) -> None:
        self._library = library

    async def check(self, requests: Iterable[SkillRequest]) -> None:
        """Raises when one can neither be found nor written."""
        for request in requests:
            if await self._library.exists(request.name):
                await self._library.find(request.name)
            else:
                _check_new(request)

    async def new(self, requests: Sequence[SkillRequest]) -> list[SkillFiles]:
        """Those that are nowhere yet, as they would be written."""
        return [written(request) for request in requests if not await self._library.exists(request.name)]

    def open(self) -> Taken:
        return Taken(self._library)


def added_skills(state: State, config: BuilderConfig) -> list[SkillRequest]:
    """Those that a bot does not have yet. One that it has stays, whatever became of it in the library."""
    before = (state.basis.fields.skills or []) if state.mode is Mode.RECONFIGURE else []
    had = {request.name for request in before}
    return [request for request in config.skills if request.name not in had]


def written(request: SkillRequest) -> SkillFiles:
    """Instructions, as far as a description goes."""
    return template_skill(SkillText(name=request.name, description=request.description.strip()))


def _check_new(request: SkillRequest) -> None:
    if not request.description.strip():
        raise Invalid(
            f"There is no skill called {request.name}.",
            hint="Say what it does and it is written, or leave it out.",
            field="skills",
        )
    if request.skill_type is not SkillKind.PROMPT:
        raise Invalid(
            f"The skill {request.name} is a program; it has to be made and tried by itself.",
            hint="Make it first: forge skill create. Then give it to the bot.",
            field="skills",
        )
