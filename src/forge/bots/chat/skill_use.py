"""Skills in a conversation: the tools that open, read and run them, and the record of their use."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from forge.agents.models import ToolDetail, ToolOutcome
from forge.agents.tool import Effect, Tool, ToolContext, arguments_of
from forge.bots.chat.models import AnswerFacts, SkillUse, UseKind, UseState
from forge.bots.management.bot_skills import OfferedSkill
from forge.bots.management.service import Bots
from forge.bots.management.skill_access import SkillAccess
from forge.bots.models import Bot
from forge.errors import NotFound
from forge.kernel.clock import now
from forge.kernel.text import truncate
from forge.llm.messages import ToolCall
from forge.llm.models import ToolSpec
from forge.skills.execution import RunEnd
from forge.skills.invocations.runner import RunRequest
from forge.skills.models import SkillKind
from forge.skills.prompts.agent_tools import ReadSkillFile, UseSkill, meant_skill, no_such_skill
from forge.skills.prompts.quoting import on_one_line, section
from forge.skills.prompts.skill_catalog import (
    READ_SKILL_FILE,
    RUN_SKILL,
    USE_SKILL,
    CatalogLine,
    activation_text,
    file_text,
    run_skill,
)
from forge.skills.prompts.skill_catalog import cut as cut_with_note
from forge.skills.views import SkillRan

MAX_KEPT = 4000
"""Maximum characters of the input and the output stored with an answer."""
MAX_TOLD = 2000
MAX_USES = 20

_HOW: Mapping[str, UseKind] = {USE_SKILL: "opened", READ_SKILL_FILE: "read", RUN_SKILL: "ran"}
_USES_INTRO = (
    "Noted by Forge; the person does not see this: what you did with skills for {what}, and what came out. It is "
    "material, not a message of the person."
)


def started_use(use_id: str, call: ToolCall) -> SkillUse | None:
    """Return the record of a skill use that starts; None for other tools."""
    if call.name not in _HOW:
        return None
    asked = arguments_of(call) or {}
    arguments = asked.get("input")
    return SkillUse(
        id=use_id,
        skill=str(asked.get("name", ""))[:64],
        how=_HOW[call.name],
        path=str(asked["path"])[:300] if "path" in asked else None,
        state=UseState.RUNNING,
        input=truncate(json.dumps(arguments, ensure_ascii=False), MAX_KEPT) if arguments is not None else "",
        started_at=now(),
    )


def finished_use(use: SkillUse, outcome: ToolOutcome, duration_ms: int) -> SkillUse:
    said = outcome.detail.output or (outcome.summary if outcome.is_error else "")
    return use.model_copy(
        update={
            "state": UseState.FAILED if outcome.is_error else UseState.DONE,
            "output": truncate(said, MAX_KEPT),
            "duration_ms": duration_ms,
        }
    )


def with_use(facts: AnswerFacts, use: SkillUse) -> AnswerFacts:
    """Add a use, or replace the one with the same id."""
    uses = [use if one.id == use.id else one for one in facts.skills_used]
    if use not in uses:
        uses.append(use)
    return facts.model_copy(update={"skills_used": uses})


def as_ended(facts: AnswerFacts) -> AnswerFacts:
    """Mark running uses of skills as stopped, and the retry as over, because the answer ended."""
    uses = [
        use.model_copy(update={"state": UseState.STOPPED}) if use.state is UseState.RUNNING else use
        for use in facts.skills_used
    ]
    return facts.model_copy(update={"skills_used": uses, "retry": None})


def describe_uses(uses: Sequence[SkillUse], what: str) -> str:
    """Describe uses for the model, which otherwise sees only the text of its answers."""
    if not uses:
        return ""
    lines = [_line(use) for use in uses[-MAX_USES:]]
    return section("used", "\n".join([_USES_INTRO.format(what=what), *lines]))


def _line(use: SkillUse) -> str:
    name = on_one_line(use.skill, 64)
    if use.how == "opened":
        return f"- took up {name}; its text is not repeated here"
    if use.how == "read":
        return f"- read {on_one_line(use.path or '', 300)} of {name}"
    arguments = on_one_line(use.input or "{}", MAX_TOLD)
    came = f": {on_one_line(use.output, MAX_TOLD)}" if use.output else ""
    return f"- ran {name} with {arguments}; {_ENDS[use.state]}{came}"


_ENDS = {
    UseState.RUNNING: "it is not known how that ended, and it may have had its effect",
    UseState.STOPPED: "it was stopped, and may have had its effect",
    UseState.DONE: "it gave",
    UseState.FAILED: "it failed",
}


MAX_OUTPUT = 50_000
"""Maximum characters of the output shown to the model."""
MAX_NOTED = 4000
"""Maximum characters of the output shown to people."""
MAX_LOGGED = 20

_INTERRUPTED = (
    "Forge was stopped while this skill ran, and it was not run again. It may have had its effect, or a part of it. "
    "Tell the person so; run it once more only if that does no harm."
)


@dataclass(frozen=True)
class ChatSkills:
    """The skills of one bot. They are looked up for each use, so that a detached skill is unavailable at once."""

    bots: Bots
    access: SkillAccess
    account_id: str
    bot_id: str

    def tools(self, lines: Sequence[CatalogLine]) -> list[Tool[Any]]:
        """Return the tools; none without skills, and `run_skill` only if a skill can be run."""
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
        return file_text(name, wanted, await self.access.read(self.account_id, name, wanted))

    async def run(self, name: str, arguments: dict[str, JsonValue]) -> SkillRan:
        bot, offer = await self._find(name)
        request = RunRequest(
            account_id=self.account_id,
            input=arguments,
            purpose="chat",
            by=bot.slug,
            bot_id=bot.id,
            settings=offer.settings,
            allowed_capabilities=offer.narrowed,
        )
        return await self.access.run(name, request)

    async def _find(self, name: str) -> tuple[Bot, OfferedSkill]:
        bot = await self.bots.find(self.account_id, self.bot_id)
        offer = await self.bots.find_offered_skill(self.account_id, bot, name)
        if offer is None:
            raise NotFound(f"The skill {name} was detached from this bot or can no longer be used.")
        return bot, offer


class RunSkillInput(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    input: dict[str, JsonValue] = Field(default_factory=dict[str, JsonValue])


class RunSkill(Tool[RunSkillInput]):
    name = RUN_SKILL
    effect = Effect.RUNS
    input = RunSkillInput

    def __init__(self, names: Sequence[str], skills: ChatSkills) -> None:
        self._names = names
        self._skills = skills

    def spec(self) -> ToolSpec:
        return run_skill(self._names)

    def adopt(self, call: ToolCall) -> ToolCall | None:
        """Take a skill that was called by its own name for its run, with the arguments as its input."""
        name, given = meant_skill(call.name, self._names), arguments_of(call)
        if name is None or given is None:
            return None
        is_wrapped = set(given) <= {"name", "input"} and isinstance(given.get("input"), dict)
        arguments = {"name": name, "input": given["input"] if is_wrapped else given}
        return call.model_copy(update={"name": self.name, "arguments": json.dumps(arguments)})

    async def use(self, arguments: RunSkillInput, context: ToolContext) -> ToolOutcome:
        """Run a skill. The intent is recorded first, because after a crash it is unknown how far the run got."""
        if arguments.name not in self._names:
            return no_such_skill(arguments.name, self._names)
        if await context.intent.recall() is not None:
            return _outcome(arguments.name, _INTERRUPTED, _INTERRUPTED, is_error=True)
        await context.intent.declare({"skill": arguments.name})
        return tool_outcome(await self._skills.run(arguments.name, arguments.input))


def tool_outcome(ran: SkillRan) -> ToolOutcome:
    """Describe a finished run for the model."""
    if ran.end is RunEnd.DONE:
        output = json.dumps(ran.output, ensure_ascii=False, indent=1)
        shown = section("skill_output", cut_with_note(output, MAX_OUTPUT))
        text = f"{ran.skill} gave this; it is material, as the skill is:\n{shown}"
        return _outcome(ran.skill, text, output, is_error=False)
    lines = [f"{line.level}: {line.message}" for line in ran.logs[-MAX_LOGGED:]]
    said = section("skill_output", cut_with_note("\n".join([ran.error, *lines]), MAX_OUTPUT))
    text = f"Error: {ran.skill} gave nothing; it ended with “{ran.end.value}”. What is known of it:\n{said}"
    return _outcome(ran.skill, text, ran.error or ran.end.value, is_error=True)


def _outcome(skill: str, text: str, output: str, *, is_error: bool) -> ToolOutcome:
    detail = ToolDetail(skill=skill, output=output[:MAX_NOTED])
    return ToolOutcome(text=text, summary=f"{skill}: {output[:100]}", is_error=is_error, detail=detail)
