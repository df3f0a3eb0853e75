"""Complete an answer: store its end, then do the follow-ups, which are a title and the extraction of facts.

A failed follow-up does not fail the answer; it is recorded in the log of its run.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from forge.agents.models import AgentResult
from forge.bots.chat import store
from forge.bots.chat.branches import read_message, read_session, session_stream
from forge.bots.chat.models import (
    AnswerFacts,
    ChatAnswered,
    ChatChanged,
    ChatRemembered,
    ChatSummarised,
    Recalled,
    Speaker,
    Summary,
)
from forge.bots.chat.preparation import PreparedAnswer, estimate_tokens
from forge.bots.chat.prompt_context import PromptContext
from forge.bots.chat.run_inputs import REMEMBER, ChatInput, RememberInput
from forge.bots.chat.side_calls import RETRY, UNUSABLE_MODEL_ERRORS, SideCalls, clean_title, title_prompt
from forge.bots.chat.skill_use import as_ended
from forge.bots.chat.store import MessageRow, SessionRow
from forge.bots.memory.extraction import ExtractedFact, PreparedFact, extract
from forge.bots.models import MessageStatus
from forge.bots.notifications import notify_changed
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.ids import derived_id
from forge.llm.budgets import Spender
from forge.llm.gateway import Gateway
from forge.llm.messages import StopReason
from forge.llm.models import Role
from forge.runs.attempt import Retry, StepInfo
from forge.runs.context import RunContext, StepFailed
from forge.runs.journal import StepResult
from forge.runs.kinds import RunKind
from forge.runs.models import Problem
from forge.store.database import Tx

EXCHANGES_PER_EXTRACTION = 6
"""Facts are extracted after this many exchanges, or earlier if the conversation is idle."""


@dataclass(frozen=True)
class AnswerEnding:
    status: MessageStatus
    text: str | None = None
    """None keeps the stored text."""
    error: Problem | None = None
    result: AgentResult | None = None
    began: datetime | None = None
    """Start of the run. A failed answer took all the time since, including the pauses between attempts."""


class FollowUps(BaseModel):
    """Follow-ups of an answer; stored in the journal of the run."""

    needs_title: bool = False
    remember_after: str | None = None
    remember_upto: str | None = None


class AnswerWriter:
    def __init__(self, events: EventLog) -> None:
        self._events = events

    async def save_summary(
        self, tx: Tx, run_id: str, inputs: ChatInput, prepared: PreparedAnswer, text: str
    ) -> None:
        if await store.find_session(tx, inputs.session_id) is None:
            return  # deleted in the meantime
        upto = prepared.stretches[-1][-1]
        summary = Summary(text=text, upto_id=upto, created_at=now())
        await store.insert_summary(tx, derived_id(run_id, "summary"), inputs.session_id, summary)
        ids = [one for stretch in prepared.stretches for one in stretch]
        condensed = sum(map(estimate_tokens, await store.list_texts(tx, ids)))
        event = ChatSummarised(
            upto_id=upto,
            messages=len(ids),
            tokens_before=prepared.tokens,
            tokens_after=prepared.tokens - condensed + estimate_tokens(text),
        )
        await self._events.append(tx, session_stream(inputs.session_id), event)

    async def finish(
        self, tx: Tx, run_id: str, inputs: ChatInput, ending: AnswerEnding
    ) -> dict[str, Any] | None:
        """Store the end of an answer and return its follow-ups; None if it was stopped, deleted or failed.

        The session is locked before its message, everywhere in this order.
        """
        session = await store.find_session(tx, inputs.session_id, lock=True)
        row = await store.find_message(tx, inputs.answer_id)
        if session is None or row is None or row.answer is None:
            return None
        values = _values(row, row.answer, ending)
        row = (
            await store.change_message(tx, row.id, {row.status}, of_run=run_id, **values) if values else None
        )
        if row is None:
            return None
        session = await store.change_session(tx, session.id, updated_at=now()) or session
        await store.touch_bot(tx, inputs.bot_id, now())
        event = ChatAnswered(answer=await read_message(tx, row))
        await self._events.append(tx, session_stream(session.id), event)
        await notify_changed(tx, self._events, session.bot_id, "session")
        if row.status is not MessageStatus.DONE:
            return None
        return (await self._follow_ups(tx, session, row)).model_dump()

    async def _follow_ups(self, tx: Tx, session: SessionRow, answer: MessageRow) -> FollowUps:
        branch = await store.list_branch(tx, session.id, answer.id)
        fresh = messages_after(branch, session.remembered_id)
        answers = sum(row.role is Speaker.ASSISTANT for row in fresh)
        needs_title = not session.is_titled and not is_cut_off(answer)
        if answers < EXCHANGES_PER_EXTRACTION or session.origin is not None:
            return FollowUps(needs_title=needs_title)
        await store.change_session(tx, session.id, remembered_id=answer.id)
        return FollowUps(
            needs_title=needs_title,
            remember_after=session.remembered_id,
            remember_upto=answer.id,
        )


def is_cut_off(row: MessageRow) -> bool:
    """Return whether the answer is incomplete although it ended: it does not feed titles and memories."""
    return row.answer is not None and row.answer.stop in (StopReason.LENGTH, StopReason.REPEATED)


def _values(row: MessageRow, answer: AnswerFacts, ending: AnswerEnding) -> dict[str, Any] | None:
    """Return the changed columns of the answer. An answer that was stopped just before its end stays stopped, with its
    complete text."""
    facts = as_ended(with_result(answer, ending.result) if ending.result else answer)
    if ending.status is MessageStatus.FAILED and ending.began is not None:
        took_ms = round((now() - ending.began).total_seconds() * 1000)
        facts = facts.model_copy(update={"duration_ms": (answer.duration_ms or 0) + took_ms})
    values: dict[str, Any] = {"answer": facts.model_dump(mode="json"), "cost_micros": facts.cost_micros}
    if ending.text is not None:
        values["text"] = ending.text
    if row.status is MessageStatus.STOPPED:
        return None if ending.text is None else values
    if row.status is not MessageStatus.WRITING:
        return None
    error = ending.error and ending.error.model_dump(mode="json")
    return values | {"status": ending.status.value, "error": error, "finished_at": now()}


def messages_after(branch: Sequence[MessageRow], message_id: str | None) -> Sequence[MessageRow]:
    """Return the messages after a message; all if it is not on this branch."""
    for place, row in enumerate(branch):
        if row.id == message_id:
            return branch[place + 1 :]
    return branch


def with_result(facts: AnswerFacts, result: AgentResult) -> AnswerFacts:
    """Add the costs of a result to those before the answer was resumed."""
    return facts.model_copy(
        update={
            "model": result.model or facts.model,
            "usage": facts.usage + result.usage,
            "cost_micros": facts.cost_micros + result.cost_micros,
            "first_token_ms": facts.first_token_ms or result.first_token_ms,
            "duration_ms": (facts.duration_ms or 0) + result.model_ms or None,
            "stop": result.stop,
        }
    )


EXTRACTION_RETRY = Retry(attempts=8, first_delay_s=2.0, factor=4.0, longest_delay_s=3600.0)
"""Nothing waits for the extraction, so it tolerates an outage of almost two hours; the messages are not scanned again."""
MAX_KNOWN = 100
"""Known facts shown to the model, so that it does not extract them again."""


class FollowUpRun:
    def __init__(
        self, gateway: Gateway, events: EventLog, prompt_context: PromptContext, side_calls: SideCalls
    ) -> None:
        self._gateway = gateway
        self._events = events
        self._prompt_context = prompt_context
        self._side_calls = side_calls

    def kind(self) -> RunKind[RememberInput]:
        """Return the run kind `remember`, which extracts facts without an answer."""
        return RunKind(REMEMBER, RememberInput, self.run, title=lambda inputs: f"Remember: {inputs.title}")

    async def run(self, context: RunContext, inputs: RememberInput) -> dict[str, Any]:
        return {"facts": await self._remember(context, inputs, EXTRACTION_RETRY)}

    async def run_follow_ups(self, context: RunContext, inputs: ChatInput, due: FollowUps) -> None:
        if due.needs_title:
            with suppress(StepFailed):  # the first words of the question are its title
                await self._give_title(context, inputs)
        if due.remember_upto is not None:
            remember_inputs = RememberInput(
                bot_id=inputs.bot_id,
                session_id=inputs.session_id,
                title=inputs.title,
                after_id=due.remember_after,
                upto_id=due.remember_upto,
            )
            try:
                await self._remember(context, remember_inputs, RETRY)
            except StepFailed as failed:  # recorded in the log of this run
                if failed.problem.retryable:
                    await context.transact(
                        "not remembered", lambda tx: _unclaim_messages(tx, remember_inputs)
                    )

    async def _give_title(self, context: RunContext, inputs: ChatInput) -> None:
        said = await context.step("title", self._make_title, inputs, retry=RETRY)
        title = clean_title(said["text"])

        async def save(tx: Tx) -> None:
            session = await store.find_session(tx, inputs.session_id, lock=True)
            if session is None or session.is_titled or not title:
                return
            row = await store.change_session(tx, session.id, title=title, is_titled=True)
            if row is not None:
                event = ChatChanged(session=await read_session(tx, row))
                await self._events.append(tx, session_stream(row.id), event)
                await notify_changed(tx, self._events, row.bot_id, "session")

        await context.transact("titled", save)

    async def _make_title(self, step: StepInfo, inputs: ChatInput) -> StepResult:
        branch = await self._prompt_context.branch(inputs.session_id, inputs.answer_id)
        bot = await self._prompt_context.bots.find(step.account_id, inputs.bot_id)
        prompt = title_prompt(branch.rows[0].text, branch.rows[-1].text)
        return await self._side_calls.call(step, inputs.scope, bot.identity.ref, prompt, is_background=True)

    async def _remember(self, context: RunContext, inputs: RememberInput, retry: Retry) -> int:
        found = await context.step("extract", self._extract, inputs, retry=retry)
        if not found:
            return 0

        async def keep(tx: Tx) -> list[dict[str, Any]]:
            prepared = [PreparedFact.model_validate(one) for one in found]
            added = await self._prompt_context.memories.add_extracted(
                tx, inputs.bot_id, inputs.session_id, prepared
            )
            facts = [Recalled(id=memory.id, fact=memory.fact) for memory in added]
            if facts and await store.find_session(tx, inputs.session_id) is not None:
                event = ChatRemembered(facts=facts)
                await self._events.append(tx, session_stream(inputs.session_id), event)
            return [fact.model_dump() for fact in facts]

        return len(await context.transact("remembered", keep))

    async def _extract(self, step: StepInfo, inputs: RememberInput) -> StepResult:
        bot = await self._prompt_context.bots.find(step.account_id, inputs.bot_id)
        if not bot.identity.memory:
            return StepResult([])
        branch = await self._prompt_context.branch(inputs.session_id, inputs.upto_id)
        said = [
            (row.role, row.text)
            for row in messages_after(branch.rows, inputs.after_id)
            if row.text.strip() and not is_cut_off(row)
        ]
        known = await self._prompt_context.memories.find(bot.id, limit=MAX_KNOWN)
        facts = await self._ask(step, inputs.scope, bot.identity.ref, said, [one.fact for one in known.items])
        prepared = await self._prompt_context.memories.prepare(facts)
        return StepResult([one.model_dump(mode="json") for one in prepared])

    async def _ask(
        self,
        step: StepInfo,
        scope: str,
        own_model: str | None,
        said: Sequence[tuple[Speaker, str]],
        known: Sequence[str],
    ) -> list[ExtractedFact]:
        """Extract with the utility model, or with the bot's own model if that cannot be used."""
        spender = Spender(step.account_id, step.key, step.run_id, scope)
        try:
            return await extract(self._gateway, spender, said, known)
        except UNUSABLE_MODEL_ERRORS:
            return await extract(self._gateway, spender, said, known, role=Role.BOT, model=own_model)


async def _unclaim_messages(tx: Tx, inputs: RememberInput) -> None:
    """Release the claim on the messages, so that they are scanned when the session is idle."""
    session = await store.find_session(tx, inputs.session_id, lock=True)
    if session is not None and session.remembered_id == inputs.upto_id:
        await store.change_session(tx, session.id, remembered_id=inputs.after_id)
