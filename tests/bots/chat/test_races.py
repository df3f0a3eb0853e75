"""Concurrent writers of one answer: stopped and resumed runs, readers and deletions. On both databases."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
import sqlalchemy as sa
from tests.bots.chat.rows import START, add_bot, add_message, add_session, answer_facts
from tests.support.engine import ACCOUNT, EngineUnderTest, kind, open_engine
from tests.support.timeouts import PATIENCE_S

from forge.agents.models import AgentEnd, AgentResult
from forge.bots.chat import store as chats
from forge.bots.chat.branches import session_stream
from forge.bots.chat.chat_steps import ChatAnswerSink
from forge.bots.chat.completion import AnswerEnding, AnswerWriter
from forge.bots.chat.maintenance import StaleAnswers
from forge.bots.chat.models import Speaker
from forge.bots.chat.preparation import PreparedAnswer
from forge.bots.chat.run_inputs import ChatInput
from forge.bots.chat.service import Chats
from forge.bots.chat.sessions import Sessions
from forge.bots.chat.store import MessageRow
from forge.bots.models import MessageStatus
from forge.llm.models import Usage
from forge.runs.context import RunContext
from forge.store.database import Store

WHOLE = AnswerEnding(
    status=MessageStatus.DONE,
    text="It rises and falls.",
    result=AgentResult(
        end=AgentEnd.DONE, text="", turns=1, tool_calls=0, usage=Usage(output=5), cost_micros=70
    ),
)


@dataclass(frozen=True)
class AnswerEnvironment:
    store: Store
    engine: EngineUnderTest
    given: ChatInput

    async def answer(self) -> MessageRow:
        async with self.store.read() as tx:
            row = await chats.find_message(tx, self.given.answer_id)
        assert row is not None
        return row

    async def change(self, status: MessageStatus, **values: Any) -> None:
        async with self.store.begin() as tx:
            await chats.change_message(
                tx, self.given.answer_id, set(MessageStatus), status=status.value, **values
            )

    async def end(self, run_id: str, ending: AnswerEnding = WHOLE) -> Any:
        async with self.store.begin() as tx:
            return await AnswerWriter(self.engine.events).finish(tx, run_id, self.given, ending)

    async def event_types(self) -> list[str]:
        async with self.store.read() as tx:
            stream = session_stream(self.given.session_id)
            return [event.type for event in await self.engine.events.read(tx, stream)]


async def _return(_: RunContext, __: Any) -> None:
    pass


@pytest.fixture
async def env(store: Store) -> AsyncIterator[AnswerEnvironment]:
    """Add an answer written by the run `new`, and by `old` before it was resumed."""
    session = await add_session(store, await add_bot(store))
    question_id = await add_message(store, session, Speaker.USER, "What is the tide?", None)
    more = {"status": MessageStatus.WRITING, "answer": answer_facts(), "run_id": "new"}
    answer = await add_message(store, session, Speaker.ASSISTANT, "It", question_id, **more)
    given = ChatInput(
        bot_id=session.bot_id,
        session_id=session.id,
        question_id=question_id,
        answer_id=answer,
        title=session.title,
    )
    async with open_engine(store, kind("chat_test", _return)) as engine:
        yield AnswerEnvironment(store, engine, given)


async def test_superseded_run_cannot_write_the_answer(env: AnswerEnvironment):
    given = env.given
    async with env.store.begin() as tx:
        assert await chats.claim_attempt(tx, given.answer_id, "old", 2001, "stale") is None
    sink = ChatAnswerSink(env.store, env.engine.events, given.session_id, given.answer_id, "old", "stale")
    await sink.save()
    assert await env.end("old") is None
    assert ((await env.answer()).text, (await env.answer()).status) == ("It", MessageStatus.WRITING)
    async with env.store.begin() as tx:
        assert await chats.claim_attempt(tx, given.answer_id, "new", 2001, "") is not None
        assert await chats.claim_attempt(tx, given.answer_id, "new", 2001, "") is None


async def test_stopped_answer_is_not_started(env: AnswerEnvironment):
    await env.change(MessageStatus.STOPPED)
    async with env.store.begin() as tx:
        assert await chats.claim_attempt(tx, env.given.answer_id, "new", 2001, "") is None


async def test_resumed_answer_is_not_ended_by_a_reader(env: AnswerEnvironment):
    """The reader saw the end of the old run, but the answer was resumed since."""

    class LateReader(StaleAnswers):
        async def _end(self, writing: MessageRow, run: Any) -> None:
            await super()._end(replace(writing, run_id="old"), run)

    await LateReader(env.store, env.engine.events, env.engine.runs).end(env.given.session_id)
    assert (await env.answer()).status is MessageStatus.WRITING


async def test_answer_stopped_just_before_its_end_has_the_whole_text(env: AnswerEnvironment):
    await env.change(MessageStatus.STOPPED, finished_at=START)
    assert await env.end("new") is None
    row = await env.answer()
    assert (row.status, row.text, row.finished_at) == (MessageStatus.STOPPED, "It rises and falls.", START)
    assert row.cost_micros == answer_facts().cost_micros + 70
    assert await env.event_types() == ["chat.answered"]


async def test_stopping_an_answer_whose_run_just_ended_succeeds(env: AnswerEnvironment):
    run = await env.engine.finished((await env.engine.start("chat_test")).id)
    await env.change(MessageStatus.WRITING, run_id=run.id)

    class EarlyReader(StaleAnswers):
        async def end(self, session_id: str) -> None:
            """Do nothing, as if the run had not ended yet."""

    unused: Any = None
    stale_answers = EarlyReader(env.store, env.engine.events, env.engine.runs)
    service = Chats(
        database=env.store,
        events=env.engine.events,
        runs=env.engine.runs,
        bots=unused,
        questions=unused,
        stale_answers=stale_answers,
        idle_sessions=unused,
    )
    stopped = await service.stop(ACCOUNT, env.given.session_id, by="person")
    assert stopped.status is MessageStatus.STOPPED


async def test_conversation_is_locked_before_its_answer(env: AnswerEnvironment):
    """Stopping locks the conversation before the answer: finishing must not hold the
    answer while it waits for the conversation, or both would deadlock."""
    if env.store.is_sqlite:
        pytest.skip("SQLite has one writer")
    async with env.store.begin() as tx:
        assert await chats.find_session(tx, env.given.session_id, lock=True)
        ending = asyncio.create_task(env.end("new"))
        await _wait_for_lock(env.store)
        stopped = await chats.change_message(
            tx, env.given.answer_id, {MessageStatus.WRITING}, status=MessageStatus.STOPPED.value
        )
        assert stopped is not None
    assert await ending is None
    assert (await env.answer()).status is MessageStatus.STOPPED


async def test_writes_after_a_deletion_have_no_effect(env: AnswerEnvironment):
    given = env.given
    await env.change(MessageStatus.STOPPED)
    parts = env.store, env.engine.events, env.engine.runs
    await Sessions(*parts, StaleAnswers(*parts)).delete(ACCOUNT, given.session_id)
    prepared = PreparedAnswer(
        at=START, directive="", model=None, facts=answer_facts(), stretches=[[given.question_id]]
    )
    async with env.store.begin() as tx:
        await AnswerWriter(env.engine.events).save_summary(tx, "new", given, prepared, "The sea.")
    assert await env.end("new") is None
    assert await env.event_types() == []


async def _wait_for_lock(store: Store) -> None:
    waiting = sa.text(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    async with asyncio.timeout(PATIENCE_S):
        while True:
            async with store.read() as tx:
                if (await tx.execute(waiting)).scalar_one():
                    return
