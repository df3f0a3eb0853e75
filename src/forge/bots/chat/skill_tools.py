"""The skills of a bot in a conversation: taken up, read and run when the model asks for it.

What the bot may do is looked up anew each time: a skill that was taken away while an answer is written is gone.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from forge.agents.models import ToolDetail, ToolOutcome
from forge.agents.tools import Effect, Tool, ToolContext
from forge.bots.models import Bot
from forge.bots.service import Bots
from forge.bots.shelf import Offer
from forge.bots.skill_hands import SkillCall, SkillHands
from forge.errors import NotFound
from forge.llm.models import ToolSpec
from forge.skills.catalogue import RUN_SKILL, CatalogueLine, activation_text, cut, file_text, run_skill
from forge.skills.execution import RunEnd
from forge.skills.models import SkillKind
from forge.skills.quoting import section
from forge.skills.tools import ReadSkillFile, UseSkill, no_such_skill
from forge.skills.views import SkillRan

MAX_OUTPUT = 50_000
"""Characters of what a skill gave that a model is shown."""
MAX_NOTED = 4000
"""Characters of it that people are shown."""
MAX_LOGGED = 20

_DIED = (
    "Forge was stopped while this skill ran, and it was not run again. It may have had its effect, or a part of it. "
    "Tell the person so; run it once more only if that does no harm."
)


@dataclass(frozen=True)
class BotSkills:
    """Those of one bot."""

    bots: Bots
    hands: SkillHands
    account_id: str
    bot_id: str

    def tools(self, lines: Sequence[CatalogueLine]) -> list[Tool[Any]]:
        """None for a bot without skills; the one that runs them only where there is something to run."""
        names = [line.name for line in lines]
        runnable = [line.name for line in lines if line.kind is not SkillKind.PROMPT]
        reading: list[Tool[Any]] = [UseSkill(names, self), ReadSkillFile(names, self)] if names else []
        return [*reading, RunSkill(runnable, self)] if runnable else reading

    async def open(self, name: str, context: ToolContext) -> str:
        _, offer = await self._find(name)
        seen = offer.seen
        return activation_text(name, seen.body, seen.files, offer.settings, seen.kind)

    async def read(self, name: str, path: str, context: ToolContext) -> str:
        await self._find(name)
        wanted = path.removeprefix("./")
        return file_text(name, wanted, await self.hands.read(self.account_id, name, wanted))

    async def run(self, name: str, given: dict[str, JsonValue]) -> SkillRan:
        bot, offer = await self._find(name)
        call = SkillCall(
            bot_id=bot.id, input=given, by=bot.slug, settings=offer.settings, narrowed=offer.narrowed
        )
        return await self.hands.run(self.account_id, name, call)

    async def _find(self, name: str) -> tuple[Bot, Offer]:
        bot = await self.bots.find(self.account_id, self.bot_id)
        offer = await self.bots.offer(self.account_id, bot, name)
        if offer is None:
            raise NotFound(f"The skill {name} was taken away from this bot, or cannot be used any more.")
        return bot, offer


class RunSkillInput(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    input: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])


class RunSkill(Tool[RunSkillInput]):
    name = RUN_SKILL
    effect = Effect.RUNS
    input = RunSkillInput

    def __init__(self, names: Sequence[str], skills: BotSkills) -> None:
        self._names = names
        self._skills = skills

    def spec(self) -> ToolSpec:
        return run_skill(self._names)

    async def use(self, given: RunSkillInput, context: ToolContext) -> ToolOutcome:
        """What it is about to do is written down first: after a crash nobody knows how far it came."""
        if given.name not in self._names:
            return no_such_skill(given.name, self._names)
        if await context.intent.recall() is not None:
            return _outcome(given.name, _DIED, _DIED, is_error=True)
        await context.intent.declare({"skill": given.name})
        return told(await self._skills.run(given.name, given.input))


def told(ran: SkillRan) -> ToolOutcome:
    """A run that is over, in words for a model."""
    if ran.end is RunEnd.DONE:
        output = json.dumps(ran.output, ensure_ascii=False, indent=1)
        shown = section("skill_output", cut(output, MAX_OUTPUT))
        text = f"{ran.skill} gave this; it is material, as the skill is:\n{shown}"
        return _outcome(ran.skill, text, output, is_error=False)
    lines = [f"{line.level}: {line.message}" for line in ran.logs[-MAX_LOGGED:]]
    said = section("skill_output", cut("\n".join([ran.error, *lines]), MAX_OUTPUT))
    text = f"Error: {ran.skill} gave nothing; it ended with “{ran.end.value}”. What is known of it:\n{said}"
    return _outcome(ran.skill, text, ran.error or ran.end.value, is_error=True)


def _outcome(skill: str, text: str, output: str, *, is_error: bool) -> ToolOutcome:
    detail = ToolDetail(skill=skill, output=output[:MAX_NOTED])
    return ToolOutcome(text=text, summary=f"{skill}: {output[:100]}", is_error=is_error, detail=detail)
