"""Writes down what becomes of an answer: its row, its event and what is due after it, in one transaction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel

from forge.agents.models import AgentResult
from forge.bots.chat import store
from forge.bots.chat.branches import read_message, session_stream
from forge.bots.chat.given import ChatInput
from forge.bots.chat.models import (
    AnswerFacts,
    ChatAnswered,
    ChatSummarised,
    MessageStatus,
    Speaker,
    Summary,
)
from forge.bots.chat.preparing import Prepared
from forge.bots.chat.skill_use import with_uses_over
from forge.bots.chat.store import MessageRow, SessionRow
from forge.bots.chat.summary import tokens
from forge.bots.telling import tell_changed
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.ids import derived_id
from forge.runs.models import Problem
from forge.store.engine import Tx

EXCHANGES = 6
"""So many questions and answers, and facts are taken from them; earlier when a conversation falls quiet."""


@dataclass(frozen=True)
class Ending:
    status: MessageStatus
    text: str | None = None
    """None keeps what is there."""
    error: Problem | None = None
    result: AgentResult | None = None


class Due(BaseModel):
    """What is to be done after an answer."""

    needs_title: bool = False
    remember_after: str | None = None
    remember_upto: str | None = None


class Endings:
    def __init__(self, events: EventLog) -> None:
        self._events = events

    async def summarised(self, tx: Tx, run_id: str, given: ChatInput, prepared: Prepared, text: str) -> None:
        if await store.find_session(tx, given.session_id) is None:
            return  # deleted meanwhile
        upto = prepared.stretches[-1][-1]
        summary = Summary(text=text, upto_id=upto, created_at=now())
        await store.insert_summary(tx, derived_id(run_id, "summary"), given.session_id, summary)
        ids = [one for stretch in prepared.stretches for one in stretch]
        condensed = sum(map(tokens, await store.list_texts(tx, ids)))
        told = ChatSummarised(
            upto_id=upto,
            messages=len(ids),
            tokens_before=prepared.tokens,
            tokens_after=prepared.tokens - condensed + tokens(text),
        )
        await self._events.append(tx, session_stream(given.session_id), told)

    async def end(self, tx: Tx, run_id: str, given: ChatInput, ending: Ending) -> dict[str, Any] | None:
        """None when nothing is due: it was stopped or deleted meanwhile, or did not come to an answer.

        The conversation is locked before its message, as by everybody who locks both.
        """
        session = await store.find_session(tx, given.session_id, lock=True)
        row = await store.find_message(tx, given.answer_id)
        if session is None or row is None or row.answer is None:
            return None
        values = _values(row, row.answer, ending)
        row = (
            await store.change_message(tx, row.id, {row.status}, of_run=run_id, **values) if values else None
        )
        if row is None:
            return None
        session = await store.change_session(tx, session.id, updated_at=now()) or session
        await store.touch_bot(tx, given.bot_id, now())
        told = ChatAnswered(answer=await read_message(tx, row))
        await self._events.append(tx, session_stream(session.id), told)
        await tell_changed(tx, self._events, session.bot_id, "session")
        if row.status is not MessageStatus.DONE:
            return None
        return (await self._due(tx, session, row)).model_dump()

    async def _due(self, tx: Tx, session: SessionRow, answer: MessageRow) -> Due:
        branch = await store.list_branch(tx, session.id, answer.id)
        fresh = after(branch, session.remembered_id)
        answers = sum(row.role is Speaker.ASSISTANT for row in fresh)
        if answers < EXCHANGES or session.origin is not None:
            return Due(needs_title=not session.is_titled)
        await store.change_session(tx, session.id, remembered_id=answer.id)
        return Due(
            needs_title=not session.is_titled,
            remember_after=session.remembered_id,
            remember_upto=answer.id,
        )


def _values(row: MessageRow, answer: AnswerFacts, ending: Ending) -> dict[str, Any] | None:
    """What is different in the answer's row. An answer that was stopped just before it was whole stays stopped, with
    all of its words."""
    facts = with_uses_over(taken(answer, ending.result) if ending.result else answer)
    values: dict[str, Any] = {"answer": facts.model_dump(mode="json"), "cost_micros": facts.cost_micros}
    if ending.text is not None:
        values["text"] = ending.text
    if row.status is MessageStatus.STOPPED:
        return None if ending.text is None else values
    if row.status is not MessageStatus.WRITING:
        return None
    error = ending.error and ending.error.model_dump(mode="json")
    return values | {"status": ending.status.value, "error": error, "finished_at": now()}


def after(branch: Sequence[MessageRow], message_id: str | None) -> Sequence[MessageRow]:
    """What comes behind a message; all when it is not on this branch."""
    for place, row in enumerate(branch):
        if row.id == message_id:
            return branch[place + 1 :]
    return branch


def taken(facts: AnswerFacts, result: AgentResult) -> AnswerFacts:
    """What an answer took in the end, with what it had taken before it was resumed."""
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
