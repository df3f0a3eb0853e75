"""Agent steps of a chat answer, which is stored in a conversation while it is written.

An interrupted answer is not requested again automatically: a person has seen a part of it and decides. So each attempt is
claimed before the model is called, and an attempt that is already claimed was interrupted.
"""

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from forge.agents.loop import TEXT_SEPARATOR
from forge.agents.models import ToolOutcome
from forge.agents.spec import AgentSpec
from forge.agents.steps import FLUSH_S, MAX_DELTA_CHARS, AgentSteps, ModelAnswer
from forge.bots.chat import store
from forge.bots.chat.branches import read_message, session_stream
from forge.bots.chat.continuation import OverlapFilter, without_overlap
from forge.bots.chat.models import AnswerFacts, ChatAnswered, ChatDelta, ChatSkillUsed, SkillUse
from forge.bots.chat.prompt_context import PromptContext, with_partial_answer
from forge.bots.chat.retry_notes import RetryNotes
from forge.bots.chat.skill_use import as_ended, finished_use, started_use, with_use
from forge.bots.models import MessageStatus
from forge.errors import ForgeError
from forge.events.log import EventLog
from forge.kernel.text import repair_surrogates
from forge.llm.budgets import Spender
from forge.llm.messages import ToolCall
from forge.llm.models import Prompt, Reply, Role
from forge.runs.attempt import StepInfo
from forge.runs.journal import StepResult
from forge.skills.prompts.skill_catalog import CatalogLine
from forge.store.database import Store, survives_outage

if TYPE_CHECKING:
    from forge.llm.messages import DeltaKind


SAVE_INTERVAL_S = 1.0


class ChatAnswerSink:
    """Publish an answer while it is written, and save it regularly: a kill loses only the unsaved text."""

    def __init__(
        self,
        database: Store,
        events: EventLog,
        session_id: str,
        message_id: str,
        run_id: str,
        said: str,
        *,
        joint: str = "",
    ) -> None:
        """`said` is the existing text; `joint` separates it from the first new text. Without `joint` the new text
        continues it."""
        self._database = database
        self._events = events
        self._stream = session_stream(session_id)
        self._message_id = message_id
        self._run_id = run_id
        self._said, self._joint = said, joint
        self._before_turn = said + joint
        self._overlap = OverlapFilter("" if joint else said)
        self._texts = {"text": said, "thinking": ""}
        self._published = {"text": len(said), "thinking": 0}
        self._published_at = 0.0
        self._saved_at = time.monotonic()

    @property
    def text(self) -> str:
        """The answer so far."""
        return repair_surrogates(self._texts["text"])

    async def add(self, kind: "DeltaKind", text: str) -> None:
        if kind == "text":
            text = self._overlap.add(text)
        if kind == "text" and text:
            text, self._joint = self._joint + text, ""
        self._texts[kind] += text
        if time.monotonic() - self._published_at >= FLUSH_S:
            await self._publish()
        if time.monotonic() - self._saved_at >= SAVE_INTERVAL_S:
            await self.save()

    def end_turn(self, text: str) -> None:
        """Keep only this text of the turn: tool calls that the model wrote as text are not part of the answer."""
        self._texts["text"] += self._overlap.rest()
        whole = self._before_turn + text if text else self._said
        if self._texts["text"].startswith(whole):
            self._texts["text"] = whole

    async def flush(self) -> None:
        """Publish and save everything, before a pause."""
        self._texts["text"] += self._overlap.rest()
        await self._publish()
        await self.save()

    async def _publish(self) -> None:
        self._published_at = time.monotonic()
        for kind in ("thinking", "text"):
            whole = self._texts[kind]
            while (start := self._published[kind]) < len(whole):
                piece = whole[start : start + MAX_DELTA_CHARS]
                self._published[kind] += len(piece)
                delta = ChatDelta(
                    message_id=self._message_id, kind=kind, offset=start, text=repair_surrogates(piece)
                )
                await self._events.publish_ephemeral(self._stream, delta)

    @survives_outage
    async def save(self) -> None:
        self._saved_at = time.monotonic()
        async with self._database.begin() as tx:
            await store.change_message(
                tx, self._message_id, {MessageStatus.WRITING}, of_run=self._run_id, text=self.text
            )


MAX_ATTEMPTS = 1000
"""Upper bound per step, so that attempt numbers grow from step to step."""


@dataclass(frozen=True)
class AnswerTarget:
    """The answer to write, and its existing text."""

    bot_id: str
    session_id: str
    question_id: str
    answer_id: str
    said: str
    facts: AnswerFacts
    skills: list[CatalogLine]
    sent: int
    """Tokens of what the agent does not count: the bot's files and the history."""
    continues: bool = False
    """The question only asks to continue the existing text."""


def merge_facts(before: AnswerFacts | None, facts: AnswerFacts) -> AnswerFacts:
    """Add the costs and recalled memories of an answer that is resumed."""
    if before is None:
        return facts
    return facts.model_copy(
        update={
            "usage": before.usage,
            "cost_micros": before.cost_micros,
            "recalled": facts.recalled or before.recalled,
            "first_token_ms": before.first_token_ms,
            "duration_ms": before.duration_ms,
            "skills_used": before.skills_used,
        }
    )


@dataclass(frozen=True)
class ChatSteps(AgentSteps):
    prompt_context: PromptContext
    retry_notes: RetryNotes
    target: AnswerTarget

    def overhead_tokens(self, prompt: Prompt) -> int:
        return super().overhead_tokens(prompt) + self.target.sent

    async def think(
        self, step: StepInfo, turn: int, spec: AgentSpec, prompt: Prompt, spoken: str
    ) -> StepResult | dict[str, Any]:
        target = self.target
        said = target.said + without_overlap(target.said, spoken)
        if not await self._claim(step, said, is_first=turn == 1):
            await self.gateway.budgets.write_off(Spender(step.account_id, step.key, step.run_id, spec.scope))
            return ModelAnswer(interrupted=True).model_dump(mode="json")
        where = target.session_id, target.answer_id, step.run_id
        sink = ChatAnswerSink(
            self.database, self.events, *where, said, joint=TEXT_SEPARATOR if spoken else ""
        )
        whole = await self._full_prompt(step.account_id, prompt)
        try:
            async with self.retry_notes.around(step, spec.retry, target.answer_id):
                answered = await self.ask(step, turn, spec, whole, sink.add)
            reply = _reply(answered)
            if reply is not None and reply.message.tool_calls:
                sink.end_turn(reply.message.text)
                await sink.flush()
            return answered
        except asyncio.CancelledError:
            await asyncio.shield(self._note_stopped(step, sink))
            raise
        except ForgeError:
            await sink.save()  # all that was seen of it, should it be the last try
            raise

    async def use(self, step: StepInfo, turn: int, spec: AgentSpec, call: ToolCall) -> StepResult:
        """Run a tool call and record the use of a skill in the conversation."""
        began, use = time.perf_counter(), started_use(step.key, call)
        if use is not None:
            await self._note(step, use)
        try:
            done = await super().use(step, turn, spec, call)
        except asyncio.CancelledError:
            await asyncio.shield(self._note_stopped(step, None))
            raise
        if use is not None:
            took = round((time.perf_counter() - began) * 1000)
            await self._note(step, finished_use(use, ToolOutcome.model_validate(done.value["outcome"]), took))
        return done

    @survives_outage
    async def _note(self, step: StepInfo, use: SkillUse) -> None:
        """Record the use of a skill. The session is locked, because skills may run concurrently."""
        async with self.database.begin() as tx:
            await store.find_session(tx, self.target.session_id, lock=True)
            row = await store.find_message(tx, self.target.answer_id)
            if row is None or row.answer is None or row.run_id != step.run_id:
                return
            facts = with_use(row.answer, use).model_dump(mode="json")
            if await store.change_message(
                tx, row.id, {MessageStatus.WRITING}, of_run=step.run_id, answer=facts
            ):
                event = ChatSkillUsed(message_id=row.id, use=use)
                await self.events.append(tx, session_stream(row.session_id), event)

    @survives_outage
    async def _claim(self, step: StepInfo, said: str, *, is_first: bool) -> bool:
        """Claim an attempt, and store the parameters of the answer; False if it was claimed before."""
        number = step.number * MAX_ATTEMPTS + step.attempt
        async with self.database.begin() as tx:
            row = await store.claim_attempt(tx, self.target.answer_id, step.run_id, number, said)
            if row is None:
                return False
            facts = merge_facts(row.answer, self.target.facts)
            await store.change_message(
                tx, row.id, {MessageStatus.WRITING}, answer=facts.model_dump(mode="json")
            )
            if step.attempt == 1 and is_first:
                await self.prompt_context.memories.count_recalled(
                    tx, [one.id for one in self.target.facts.recalled]
                )
            return True

    async def _full_prompt(self, account_id: str, prompt: Prompt) -> Prompt:
        """Add the bot's files and the history to the prompt of the agent, which only has the question."""
        target = self.target
        bot = await self.prompt_context.bots.find(account_id, target.bot_id)
        branch = await self.prompt_context.branch(target.session_id, target.question_id)
        history = await self.prompt_context.history(target.bot_id, branch)
        if target.said:
            recalled = await self._recalled()
            asked = await self.prompt_context.directive(target.bot_id, branch, recalled)
            history = with_partial_answer(history, asked, target.said)
        system = await self.prompt_context.system(bot, branch.session, target.skills)
        return prompt.model_copy(
            update={
                "system": system,
                "messages": [*history, *prompt.messages],
                "settled": [],
                "continues": target.continues and len(prompt.messages) == 1,
            }
        )

    async def _recalled(self) -> list[str]:
        async with self.database.read() as tx:
            row = await store.find_message(tx, self.target.answer_id)
        return [one.id for one in row.answer.recalled] if row and row.answer else []

    async def _note_stopped(self, step: StepInfo, sink: ChatAnswerSink | None) -> None:
        """Save the text and the costs of a cancelled step. If a person stopped the answer, they are final; if the process is
        ending, the next one continues from here. Without `sink`, the stored text is kept."""
        if sink is not None:
            await sink.save()
        bill = await self.gateway.budgets.bill(step.account_id, step.run_id, Role.BOT)
        async with self.database.begin() as tx:
            row = await store.find_message(tx, self.target.answer_id)
            if row is None or row.status is not MessageStatus.STOPPED or row.answer is None:
                return
            facts = as_ended(row.answer).model_copy(
                update={
                    "model": bill.model,
                    "usage": row.answer.usage + bill.usage,
                    "cost_micros": row.answer.cost_micros + bill.cost_micros,
                    "duration_ms": (row.answer.duration_ms or 0) + bill.latency_ms or None,
                }
            )
            row = await store.change_message(
                tx,
                row.id,
                {MessageStatus.STOPPED},
                of_run=step.run_id,
                text=sink.text if sink else row.text,
                answer=facts.model_dump(mode="json"),
                cost_micros=facts.cost_micros,
            )
            if row is not None:
                event = ChatAnswered(answer=await read_message(tx, row))
                await self.events.append(tx, session_stream(row.session_id), event)


def _reply(answered: StepResult | dict[str, Any]) -> Reply | None:
    return Reply.model_validate(answered.value["reply"]) if isinstance(answered, StepResult) else None
