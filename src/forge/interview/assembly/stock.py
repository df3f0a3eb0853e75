"""The skills that bots get: those of the library, those that come with Forge, and those that are written on the way."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from forge.documents.frontmatter import write_front_matter
from forge.errors import Invalid, NotFound
from forge.interview.assembly.files import ORIGIN
from forge.interview.config import SkillRequest
from forge.skills.models import Skill, SkillFiles, SkillKind, SkillSource


class Library(Protocol):
    async def find(self, name: str) -> Skill: ...
    async def read(self, name: str) -> SkillFiles: ...
    async def write(self, skill: SkillFiles, *, replace: bool = False) -> Path: ...
    async def remove(self, name: str) -> None: ...


class Taken:
    """What was put into the library, so that it can be taken out again."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._names: list[str] = []

    async def add(self, skill: SkillFiles) -> None:
        await self._library.write(skill)
        self._names.append(skill.name)

    async def undo(self) -> None:
        for name in reversed(self._names):
            await self._library.remove(name)
        self._names.clear()


class Stock:
    def __init__(self, library: Library) -> None:
        self._library = library

    async def check(self, requests: Iterable[SkillRequest]) -> None:
        for request in requests:
            if await self._source(request.name) is None:
                check_new(request)

    async def new(self, requests: Sequence[SkillRequest]) -> list[SkillFiles]:
        """Those that are nowhere yet, as they would be written."""
        return [written(request) for request in requests if await self._source(request.name) is None]

    def open(self) -> Taken:
        return Taken(self._library)

    async def take(self, requests: Sequence[SkillRequest], taken: Taken) -> None:
        """Everything into the library: what comes with Forge is copied, what is new is written."""
        for request in requests:
            source = await self._source(request.name)
            if source is SkillSource.STARTER:
                await taken.add(await self._library.read(request.name))
            elif source is None:
                await taken.add(written(request))

    async def _source(self, name: str) -> SkillSource | None:
        try:
            return (await self._library.find(name)).source
        except NotFound:
            return None


def check_new(request: SkillRequest) -> None:
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


def written(request: SkillRequest) -> SkillFiles:
    metadata = {"version": "0.1.0", "forge-kind": "prompt", "forge-origin": ORIGIN}
    front = {"name": request.name, "description": request.description, "metadata": metadata}
    body = f"# {request.name}\n\n{request.description}\n"
    return SkillFiles(name=request.name, files={"SKILL.md": write_front_matter(front, body)})
