"""The run kind `chat`: one question, its answer, and what is due after it.

Each part is a step: what a bot knows about the question, the summary of a long conversation, the model's answer, a
title. A kill while the model writes leaves the answer interrupted; a kill anywhere else is not noticed.
"""

from dataclasses import replace
from typing import Any

from forge.agents.hands import Hands
from forge.agents.loop import Agent
from forge.agents.models import AgentEnd, AgentLimits, AgentResult
from forge.agents.spec import AgentSpec
from forge.agents.tools import ToolBox, ToolContext
from forge.bots.chat.aside import RETRY
from forge.bots.chat.endings import Due, Ending, Endings
from forge.bots.chat.given import ChatInput
from forge.bots.chat.hands import ChatHands, Part
from forge.bots.chat.models import MessageStatus
from forge.bots.chat.preparing import Prepared, Preparing
from forge.bots.chat.prompt import RESUME
from forge.bots.chat.scene import Scene
from forge.bots.chat.skill_tools import BotSkills
from forge.bots.chat.upkeep import Upkeep
from forge.bots.skill_hands import SkillHands
from forge.llm.models import Role
from forge.runs.attempt import StepInfo
from forge.runs.context import RunContext, StepFailed
from forge.runs.kinds import RunKind
from forge.runs.models import Problem

KIND = "chat"
LIMITS = AgentLimits(turns=20, tokens=5_000_000, seconds=3600)
ENDS = {
    AgentEnd.REFUSED: "The model declined to answer.",
    AgentEnd.STUCK: "The model gave no usable answer, several times in a row.",
    AgentEnd.MONEY: "The budget is used up, and nobody allowed more.",
    AgentEnd.TURNS: "The bot used skills again and again without coming to an answer.",
    AgentEnd.LOOP: "The bot tried the same thing with a skill several times, and it failed each time.",
    AgentEnd.TOKENS: "The answer took more tokens than one may.",
    AgentEnd.TIME: "The answer took longer than one may.",
}


class ChatKind:
    def __init__(
        self,
        hands: Hands,
        scene: Scene,
        skills: SkillHands,
        preparing: Preparing,
        endings: Endings,
        upkeep: Upkeep,
    ) -> None:
        self._hands = hands
        self._scene = scene
        self._skills = skills
        self._preparing = preparing
        self._endings = endings
        self._upkeep = upkeep

    def kind(self) -> RunKind[ChatInput]:
        return RunKind(KIND, ChatInput, self.run, title=lambda given: given.title)

    async def run(self, context: RunContext, given: ChatInput) -> dict[str, Any]:
        try:
            ending = await self._answer(context, given)
        except StepFailed as failed:
            ending = Ending(status=MessageStatus.FAILED, error=failed.problem)
        if ending.result is None:
            ending = replace(
                ending, result=AgentResult.model_validate(await context.step("bill", self._bill))
            )
        due = await context.transact(
            "answered", lambda tx: self._endings.end(tx, context.run_id, given, ending)
        )
        if due is not None:
            await self._upkeep.do(context, given, Due.model_validate(due))
        return {"status": ending.status.value}

    async def _bill(self, step: StepInfo) -> dict[str, Any]:
        """What was spent on an answer that never came to its end."""
        bill = await self._hands.gateway.money.bill(step.account_id, step.run_id, Role.BOT)
        return AgentResult(
            end=AgentEnd.INTERRUPTED,
            text="",
            turns=0,
            tool_calls=0,
            usage=bill.usage,
            cost_micros=bill.cost_micros,
            model=bill.model,
            model_ms=bill.latency_ms,
        ).model_dump(mode="json")

    async def _answer(self, context: RunContext, given: ChatInput) -> Ending:
        found = await context.step("prepare", self._preparing.prepare, given)
        prepared = Prepared.model_validate(found)
        await self._summarise(context, given, prepared)
        hands = ChatHands(
            gateway=self._hands.gateway,
            events=self._hands.events,
            database=self._hands.database,
            sandboxes=self._hands.sandboxes,
            scene=self._scene,
            part=Part(
                given.bot_id,
                given.session_id,
                given.question_id,
                given.answer_id,
                given.said,
                prepared.facts,
                prepared.skills,
                prepared.sent,
            ),
        )
        agent = Agent(context, self._spec(context.account_id, given, prepared), hands)
        result = await agent.answer(prepared.at)
        return _ending(result, given.said + agent.spoken)

    def _spec(self, account_id: str, given: ChatInput, prepared: Prepared) -> AgentSpec:
        own = BotSkills(self._scene.bots, self._skills, account_id, given.bot_id)
        asked = RESUME if given.said else prepared.directive
        return AgentSpec(
            role=Role.BOT,
            system="",
            directive="\n\n".join(part for part in (prepared.used, asked) if part),
            tools=ToolBox(own.tools(prepared.skills)),
            place=self._nowhere,
            limits=LIMITS,
            scope=given.scope,
            max_output=prepared.facts.max_tokens,
            temperature=prepared.facts.temperature,
            model=prepared.model,
            retry=RETRY,
            hears=False,
            takes_cut_off=True,
        )

    async def _nowhere(self) -> ToolContext:
        """A bot works on no files."""
        return ToolContext(None, self._hands.sandboxes)

    async def _summarise(self, context: RunContext, given: ChatInput, prepared: Prepared) -> None:
        """Piece by piece, each step with what was condensed before it."""
        text = prepared.summary
        for number, ids in enumerate(prepared.stretches, start=1):
            said = await context.step(
                f"summary {number}", self._preparing.condense, given, prepared.model, text, ids, retry=RETRY
            )
            text = said["text"]
        if prepared.stretches and text.strip():
            await context.transact(
                "summarised", lambda tx: self._endings.summarised(tx, context.run_id, given, prepared, text)
            )


def _ending(result: AgentResult, text: str) -> Ending:
    if result.end is AgentEnd.INTERRUPTED:
        return Ending(status=MessageStatus.INTERRUPTED)
    if result.end is not AgentEnd.DONE:
        message = ENDS.get(result.end, f"The answer ended early ({result.end.value}).")
        problem = Problem(code=f"agent_{result.end.value}", message=message)
        return Ending(status=MessageStatus.FAILED, error=problem, result=result)
    return Ending(status=MessageStatus.DONE, text=text, result=result)
