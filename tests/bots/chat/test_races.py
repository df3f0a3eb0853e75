"""Who may write an answer, when two want to: a run that was stopped or taken over, the one after it, a reader, a deletion.
On both databases."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
import sqlalchemy as sa
from tests.bots.chat.rows import START, add_bot, add_session, made_with, say
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
class Desk:
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

    async def told(self) -> list[str]:
        async with self.store.read() as tx:
            stream = session_stream(self.given.session_id)
            return [event.type for event in await self.engine.events.read(tx, stream)]


async def _at_once(_: RunContext, __: Any) -> None:
    pass


@pytest.fixture
async def desk(store: Store) -> AsyncIterator[Desk]:
    """Somebody asked, and the run `new` writes the answer; `old` did before it was resumed."""
    session = await add_session(store, await add_bot(store))
    asked = await say(store, session, Speaker.USER, "What is the tide?", None)
    more = {"status": MessageStatus.WRITING, "answer": made_with(), "run_id": "new"}
    answer = await say(store, session, Speaker.ASSISTANT, "It", asked, **more)
    given = ChatInput(
        bot_id=session.bot_id,
        session_id=session.id,
        question_id=asked,
        answer_id=answer,
        title=session.title,
    )
    async with open_engine(store, kind("chat_test", _at_once)) as engine:
        yield Desk(store, engine, given)


async def test_a_run_that_comes_back_late_writes_nothing_into_a_resumed_answer(desk: Desk):
    given = desk.given
    async with desk.store.begin() as tx:
        assert await chats.claim_attempt(tx, given.answer_id, "old", 2001, "stale") is None
    voice = ChatAnswerSink(desk.store, desk.engine.events, given.session_id, given.answer_id, "old", "stale")
    await voice.save()
    assert await desk.end("old") is None
    assert ((await desk.answer()).text, (await desk.answer()).status) == ("It", MessageStatus.WRITING)
    async with desk.store.begin() as tx:
        assert await chats.claim_attempt(tx, given.answer_id, "new", 2001, "") is not None
        assert await chats.claim_attempt(tx, given.answer_id, "new", 2001, "") is None


async def test_nothing_is_begun_once_it_was_stopped(desk: Desk):
    await desk.change(MessageStatus.STOPPED)
    async with desk.store.begin() as tx:
        assert await chats.claim_attempt(tx, desk.given.answer_id, "new", 2001, "") is None


async def test_an_answer_that_was_resumed_while_somebody_looked_is_not_ended(desk: Desk):
    """The reader saw that the old run is over; meanwhile a person has resumed the answer."""

    class Late(StaleAnswers):
        async def _end(self, writing: MessageRow, run: Any) -> None:
            await super()._end(replace(writing, run_id="old"), run)

    await Late(desk.store, desk.engine.events, desk.engine.runs).end(desk.given.session_id)
    assert (await desk.answer()).status is MessageStatus.WRITING


async def test_an_answer_that_was_stopped_just_before_it_was_whole_has_all_its_words(desk: Desk):
    await desk.change(MessageStatus.STOPPED, finished_at=START)
    assert await desk.end("new") is None
    row = await desk.answer()
    assert (row.status, row.text, row.finished_at) == (MessageStatus.STOPPED, "It rises and falls.", START)
    assert row.cost_micros == made_with().cost_micros + 70
    assert await desk.told() == ["chat.answered"]


async def test_stopping_an_answer_whose_run_ends_at_that_moment_is_no_mistake(desk: Desk):
    run = await desk.engine.finished((await desk.engine.start("chat_test")).id)
    await desk.change(MessageStatus.WRITING, run_id=run.id)

    class Early(StaleAnswers):
        async def end(self, session_id: str) -> None:
            """The run had not ended when it looked."""

    unused: Any = None
    settling = Early(desk.store, desk.engine.events, desk.engine.runs)
    service = Chats(
        database=desk.store,
        events=desk.engine.events,
        runs=desk.engine.runs,
        bots=unused,
        questions=unused,
        stale_answers=settling,
        idle_sessions=unused,
    )
    stopped = await service.stop(ACCOUNT, desk.given.session_id, by="person")
    assert stopped.status is MessageStatus.STOPPED


async def test_a_conversation_is_locked_before_its_answer(desk: Desk):
    """Whoever stops an answer has locked the conversation, and changes the answer then: its end must not hold the
    answer while it waits for the conversation."""
    if desk.store.is_sqlite:
        pytest.skip("SQLite has one writer")
    async with desk.store.begin() as tx:
        assert await chats.find_session(tx, desk.given.session_id, lock=True)
        ending = asyncio.create_task(desk.end("new"))
        await _until_somebody_waits(desk.store)
        stopped = await chats.change_message(
            tx, desk.given.answer_id, {MessageStatus.WRITING}, status=MessageStatus.STOPPED.value
        )
        assert stopped is not None
    assert await ending is None
    assert (await desk.answer()).status is MessageStatus.STOPPED


async def test_what_comes_after_a_deletion_leaves_nothing_behind(desk: Desk):
    given = desk.given
    await desk.change(MessageStatus.STOPPED)
    parts = desk.store, desk.engine.events, desk.engine.runs
    await Sessions(*parts, StaleAnswers(*parts)).delete(ACCOUNT, given.session_id)
    prepared = PreparedAnswer(
        at=START, directive="", model=None, facts=made_with(), stretches=[[given.question_id]]
    )
    async with desk.store.begin() as tx:
        await AnswerWriter(desk.engine.events).save_summary(tx, "new", given, prepared, "The sea.")
    assert await desk.end("new") is None
    assert await desk.told() == []


async def _until_somebody_waits(store: Store) -> None:
    waiting = sa.text(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    async with asyncio.timeout(PATIENCE_S):
        while True:
            async with store.read() as tx:
                if (await tx.execute(waiting)).scalar_one():
                    return
