"""Agent tools that read skills, from the library or from a workspace."""

import json
from collections.abc import Sequence
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from forge.agents.models import ToolDetail, ToolOutcome
from forge.agents.tool import Effect, Tool, ToolContext, failure
from forge.llm.messages import ToolCall
from forge.llm.models import ToolSpec
from forge.skills.prompts.skill_catalog import READ_SKILL_FILE, USE_SKILL, read_skill_file, use_skill

MAX_LISTED = 20


class SkillReader(Protocol):
    """Reads the skills that a model asks for."""

    async def open(self, name: str, context: ToolContext) -> str:
        """Return the instructions a model needs to follow the skill."""
        ...

    async def read(self, name: str, path: str, context: ToolContext) -> str:
        """Return the text of a file of the skill."""
        ...


class _Input(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class UseSkillInput(_Input):
    name: str


class UseSkill(Tool[UseSkillInput]):
    name = USE_SKILL
    effect = Effect.READS
    is_lasting = True
    input = UseSkillInput

    def __init__(self, names: Sequence[str], reader: SkillReader) -> None:
        self._names = names
        self._reader = reader

    def spec(self) -> ToolSpec:
        return use_skill(self._names)

    def adopt(self, call: ToolCall) -> ToolCall | None:
        """Take a skill that was called by its own name for its use."""
        name = meant_skill(call.name, self._names)
        if name is None:
            return None
        return call.model_copy(update={"name": self.name, "arguments": json.dumps({"name": name})})

    async def use(self, arguments: UseSkillInput, context: ToolContext) -> ToolOutcome:
        if arguments.name not in self._names:
            return no_such_skill(arguments.name, self._names)
        text = await self._reader.open(arguments.name, context)
        return ToolOutcome(text=text, summary=arguments.name, detail=ToolDetail(skill=arguments.name))


class ReadSkillFileInput(_Input):
    name: str
    path: str = Field(max_length=1000)


class ReadSkillFile(Tool[ReadSkillFileInput]):
    name = READ_SKILL_FILE
    effect = Effect.READS
    input = ReadSkillFileInput

    def __init__(self, names: Sequence[str], reader: SkillReader) -> None:
        self._names = names
        self._reader = reader

    def spec(self) -> ToolSpec:
        return read_skill_file(self._names)

    async def use(self, arguments: ReadSkillFileInput, context: ToolContext) -> ToolOutcome:
        if arguments.name not in self._names:
            return no_such_skill(arguments.name, self._names)
        text = await self._reader.read(arguments.name, arguments.path, context)
        detail = ToolDetail(skill=arguments.name, path=arguments.path)
        return ToolOutcome(text=text, summary=f"{arguments.name}, {arguments.path}", detail=detail)


def meant_skill(name: str, names: Sequence[str]) -> str | None:
    """Return the skill that a tool call by its name means; models write names of functions with underscores."""
    wanted = name.replace("_", "-").lower()
    return wanted if wanted in names else None


def no_such_skill(name: str, names: Sequence[str]) -> ToolOutcome:
    more = " and others" if len(names) > MAX_LISTED else ""
    return failure(
        f"There is no skill called {name[:100]!r} here. There are: {', '.join(names[:MAX_LISTED])}{more}."
    )
