"""The run kind `chat`: answer one question and do the follow-ups.

Preparation, summary, answer and title are separate steps. If the process is killed while the model is writing, the answer
is marked as interrupted; after a kill anywhere else the run continues.
"""

from dataclasses import replace
from typing import Any

from forge.agents.loop import Agent
from forge.agents.models import AgentEnd, AgentLimits, AgentResult
from forge.agents.spec import AgentSpec
from forge.agents.steps import AgentSteps
from forge.agents.tool import ToolBox, ToolContext
from forge.bots.chat.chat_steps import AnswerTarget, ChatSteps
from forge.bots.chat.completion import AnswerEnding, AnswerWriter, FollowUpRun, FollowUps
from forge.bots.chat.continuation import without_overlap
from forge.bots.chat.preparation import AnswerPreparation, PreparedAnswer
from forge.bots.chat.prompt_context import RESUME, PromptContext
from forge.bots.chat.retry_notes import RetryNotes
from forge.bots.chat.run_inputs import CHAT, ChatInput
from forge.bots.chat.side_calls import RETRY
from forge.bots.chat.skill_use import ChatSkills
from forge.bots.management.skill_access import SkillAccess
from forge.bots.models import MessageStatus
from forge.llm.models import Role
from forge.runs.attempt import StepInfo
from forge.runs.context import RunContext, StepFailed
from forge.runs.kinds import RunKind
from forge.runs.models import Problem

LIMITS = AgentLimits(turns=20, tokens=5_000_000, seconds=3600)
END_MESSAGES = {
    AgentEnd.REFUSED: "The model declined to answer.",
    AgentEnd.STUCK: "The model returned no usable answer several times in a row.",
    AgentEnd.MONEY: "The budget is used up and was not increased.",
    AgentEnd.TURNS: "The bot kept using skills without reaching an answer.",
    AgentEnd.LOOP: "The bot repeated the same failing skill call several times.",
    AgentEnd.TOKENS: "The answer exceeded the token limit.",
    AgentEnd.TIME: "The answer exceeded the time limit.",
}


class ChatRun:
    def __init__(
        self,
        steps: AgentSteps,
        prompt_context: PromptContext,
        skills: SkillAccess,
        preparation: AnswerPreparation,
        writer: AnswerWriter,
        follow_up_run: FollowUpRun,
        retry_notes: RetryNotes,
    ) -> None:
        self._steps = steps
        self._prompt_context = prompt_context
        self._skills = skills
        self._preparation = preparation
        self._writer = writer
        self._follow_up_run = follow_up_run
        self._retry_notes = retry_notes

    def kind(self) -> RunKind[ChatInput]:
        return RunKind(CHAT, ChatInput, self.run, title=lambda inputs: inputs.title)

    async def run(self, context: RunContext, inputs: ChatInput) -> dict[str, Any]:
        try:
            ending = await self._answer(context, inputs)
        except StepFailed as failed:
            ending = AnswerEnding(status=MessageStatus.FAILED, error=failed.problem)
        ending = replace(ending, began=context.run.created_at)
        if ending.result is None:
            ending = replace(
                ending, result=AgentResult.model_validate(await context.step("bill", self._bill))
            )
        due = await context.transact(
            "answered",
            lambda tx: self._writer.finish(tx, context.run_id, inputs, ending),
        )
        if due is not None:
            await self._follow_up_run.run_follow_ups(context, inputs, FollowUps.model_validate(due))
        return {"status": ending.status.value}

    async def _bill(self, step: StepInfo) -> dict[str, Any]:
        """Return the cost of an answer that did not complete."""
        bill = await self._steps.gateway.budgets.bill(step.account_id, step.run_id, Role.BOT)
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

    async def _answer(self, context: RunContext, inputs: ChatInput) -> AnswerEnding:
        found = await context.step("prepare", self._preparation.prepare, inputs)
        prepared = PreparedAnswer.model_validate(found)
        await self._summarize(context, inputs, prepared)
        steps = ChatSteps(
            gateway=self._steps.gateway,
            events=self._steps.events,
            database=self._steps.database,
            sandboxes=self._steps.sandboxes,
            prompt_context=self._prompt_context,
            retry_notes=self._retry_notes,
            target=AnswerTarget(
                inputs.bot_id,
                inputs.session_id,
                inputs.question_id,
                inputs.answer_id,
                inputs.said,
                prepared.facts,
                prepared.skills,
                prepared.sent,
                continues=bool(inputs.said) and not prepared.used,
            ),
        )
        agent = Agent(context, self._spec(context.account_id, inputs, prepared), steps)
        result = await agent.answer(prepared.at)
        return _ending(result, inputs.said + without_overlap(inputs.said, agent.spoken))

    def _spec(self, account_id: str, inputs: ChatInput, prepared: PreparedAnswer) -> AgentSpec:
        own = ChatSkills(self._prompt_context.bots, self._skills, account_id, inputs.bot_id)
        asked = RESUME if inputs.said else prepared.directive
        return AgentSpec(
            role=Role.BOT,
            system="",
            directive="\n\n".join(part for part in (prepared.used, asked) if part),
            tools=ToolBox(own.tools(prepared.skills)),
            open_context=self._no_workspace,
            limits=LIMITS,
            scope=inputs.scope,
            max_output=prepared.facts.max_tokens,
            temperature=prepared.facts.temperature,
            model=prepared.model,
            retry=RETRY,
            accepts_messages=False,
            accepts_truncated=True,
        )

    async def _no_workspace(self) -> ToolContext:
        """Bots have no workspace."""
        return ToolContext(None, self._steps.sandboxes)

    async def _summarize(self, context: RunContext, inputs: ChatInput, prepared: PreparedAnswer) -> None:
        """Summarize in several steps; each extends the summary of the previous one."""
        text = prepared.summary
        for number, ids in enumerate(prepared.stretches, start=1):
            said = await context.step(
                f"summary {number}",
                self._preparation.condense,
                inputs,
                prepared.model,
                text,
                ids,
                retry=RETRY,
            )
            text = said["text"]
        if prepared.stretches and text.strip():
            await context.transact(
                "summarised", lambda tx: self._writer.save_summary(tx, context.run_id, inputs, prepared, text)
            )


def _ending(result: AgentResult, text: str) -> AnswerEnding:
    if result.end is AgentEnd.INTERRUPTED:
        return AnswerEnding(status=MessageStatus.INTERRUPTED)
    if result.end is not AgentEnd.DONE:
        message = END_MESSAGES.get(result.end, f"The answer ended early ({result.end.value}).")
        problem = Problem(code=f"agent_{result.end.value}", message=message)
        return AnswerEnding(status=MessageStatus.FAILED, error=problem, result=result)
    return AnswerEnding(status=MessageStatus.DONE, text=text, result=result)
