"""The hands of a bot that talks: as an agent's, but what it says belongs to a conversation.

An answer whose process died is not asked for again by itself: a person has seen a part of it, and decides. So each
try is claimed before the model is asked, and a try that finds itself claimed says that it was interrupted.
"""

import asyncio
import time
from dataclasses import dataclass
from typing import Any

from forge.agents.hands import Hands, Thought
from forge.agents.loop import JOINT
from forge.agents.models import ToolOutcome
from forge.agents.spec import AgentSpec
from forge.bots.chat import store
from forge.bots.chat.branches import read_message, session_stream
from forge.bots.chat.models import AnswerFacts, ChatAnswered, ChatSkillUsed, MessageStatus, SkillUse
from forge.bots.chat.scene import Scene, resumed
from forge.bots.chat.skill_use import begun, ended, with_use, with_uses_over
from forge.bots.chat.voice import ChatVoice
from forge.errors import ForgeError
from forge.llm.messages import ToolCall
from forge.llm.models import Prompt, Reply, Role
from forge.llm.money import Spender
from forge.runs.attempt import StepInfo
from forge.runs.journal import Told
from forge.skills.catalogue import CatalogueLine
from forge.store.outage import survives_outage

MAX_ATTEMPTS = 1000
"""Of one step: so that the number of a try grows from step to step."""


@dataclass(frozen=True)
class Part:
    """Which answer is written, and what was there of it before."""

    bot_id: str
    session_id: str
    question_id: str
    answer_id: str
    said: str
    facts: AnswerFacts
    skills: list[CatalogueLine]
    sent: int
    """Tokens of all that the agent itself does not know of: the bot's files, what was said before."""


def joined(before: AnswerFacts | None, facts: AnswerFacts) -> AnswerFacts:
    """An answer that is resumed has cost something already, and remembers what it remembered."""
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
class ChatHands(Hands):
    scene: Scene
    part: Part

    def overhead_tokens(self, prompt: Prompt) -> int:
        return super().overhead_tokens(prompt) + self.part.sent

    async def think(
        self, step: StepInfo, turn: int, spec: AgentSpec, prompt: Prompt, spoken: str
    ) -> Told | dict[str, Any]:
        part, said = self.part, self.part.said + spoken
        if not await self._claim(step, said, is_first=turn == 1):
            await self.gateway.money.write_off(Spender(step.account_id, step.key, step.run_id, spec.scope))
            return Thought(interrupted=True).model_dump(mode="json")
        where = part.session_id, part.answer_id, step.run_id
        voice = ChatVoice(self.database, self.events, *where, said, joint=JOINT if spoken else "")
        whole = await self._whole(step.account_id, prompt)
        try:
            answered = await self.ask(step, turn, spec, whole, voice.say)
            if _wants_tools(answered):
                await voice.pause()
            return answered
        except asyncio.CancelledError:
            await asyncio.shield(self._note_stopped(step, voice))
            raise
        except ForgeError:
            await voice.keep()  # all that was seen of it, should it be the last try
            raise

    async def use(self, step: StepInfo, turn: int, spec: AgentSpec, call: ToolCall) -> Told:
        """With a note for those who read the conversation."""
        began, use = time.perf_counter(), begun(step.key, call)
        if use is not None:
            await self._note(step, use)
        try:
            done = await super().use(step, turn, spec, call)
        except asyncio.CancelledError:
            await asyncio.shield(self._note_stopped(step, None))
            raise
        if use is not None:
            took = round((time.perf_counter() - began) * 1000)
            await self._note(step, ended(use, ToolOutcome.model_validate(done.value["outcome"]), took))
        return done

    @survives_outage
    async def _note(self, step: StepInfo, use: SkillUse) -> None:
        """Several may be used side by side: the conversation's lock keeps their notes apart."""
        async with self.database.begin() as tx:
            await store.find_session(tx, self.part.session_id, lock=True)
            row = await store.find_message(tx, self.part.answer_id)
            if row is None or row.answer is None or row.run_id != step.run_id:
                return
            facts = with_use(row.answer, use).model_dump(mode="json")
            if await store.change_message(
                tx, row.id, {MessageStatus.WRITING}, of_run=step.run_id, answer=facts
            ):
                told = ChatSkillUsed(message_id=row.id, use=use)
                await self.events.append(tx, session_stream(row.session_id), told)

    @survives_outage
    async def _claim(self, step: StepInfo, said: str, *, is_first: bool) -> bool:
        """And note what the answer is made with, now that somebody is asked for it."""
        number = step.number * MAX_ATTEMPTS + step.attempt
        async with self.database.begin() as tx:
            row = await store.begin_try(tx, self.part.answer_id, step.run_id, number, said)
            if row is None:
                return False
            facts = joined(row.answer, self.part.facts)
            await store.change_message(
                tx, row.id, {MessageStatus.WRITING}, answer=facts.model_dump(mode="json")
            )
            if step.attempt == 1 and is_first:
                await self.scene.memories.note_recalled(tx, [one.id for one in self.part.facts.recalled])
            return True

    async def _whole(self, account_id: str, prompt: Prompt) -> Prompt:
        """With the bot's files and what was said before; the agent itself only knows the question."""
        part = self.part
        bot = await self.scene.bots.find(account_id, part.bot_id)
        branch = await self.scene.branch(part.session_id, part.question_id)
        history = await self.scene.history(part.bot_id, branch)
        if part.said:
            recalled = await self._recalled()
            asked = await self.scene.directive(part.bot_id, branch, recalled)
            history = resumed(history, asked, part.said)
        system = await self.scene.system(bot, branch.session, part.skills)
        return prompt.model_copy(
            update={"system": system, "messages": [*history, *prompt.messages], "settled": []}
        )

    async def _recalled(self) -> list[str]:
        async with self.database.read() as tx:
            row = await store.find_message(tx, self.part.answer_id)
        return [one.id for one in row.answer.recalled] if row and row.answer else []

    async def _note_stopped(self, step: StepInfo, voice: ChatVoice | None) -> None:
        """A person stopped it: it ends with all that was said, and with what that cost. Otherwise the process ends,
        and the next one finds what is kept here. Nobody speaks while a skill is used: what is there stays."""
        if voice is not None:
            await voice.keep()
        bill = await self.gateway.money.bill(step.account_id, step.run_id, Role.BOT)
        async with self.database.begin() as tx:
            row = await store.find_message(tx, self.part.answer_id)
            if row is None or row.status is not MessageStatus.STOPPED or row.answer is None:
                return
            facts = with_uses_over(row.answer).model_copy(
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
                text=voice.text if voice else row.text,
                answer=facts.model_dump(mode="json"),
                cost_micros=facts.cost_micros,
            )
            if row is not None:
                told = ChatAnswered(answer=await read_message(tx, row))
                await self.events.append(tx, session_stream(row.session_id), told)


def _wants_tools(answered: Told | dict[str, Any]) -> bool:
    """What was said is not all of the answer yet: it is kept before anything else happens."""
    return isinstance(answered, Told) and bool(
        Reply.model_validate(answered.value["reply"]).message.tool_calls
    )
