"""Conversations that have fallen quiet are looked through once, by whoever comes first. On both databases."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from tests.bots.chat.rows import START, add_bot, add_session, exchange
from tests.support.engine import ACCOUNT, EngineUnderTest, kind, open_engine

from forge.bots.chat import maintenance as quiet_module
from forge.bots.chat import store as chats
from forge.bots.chat.maintenance import IDLE_AFTER, MAX_IDLE, IdleSessions, StaleAnswers
from forge.bots.chat.run_inputs import REMEMBER
from forge.bots.chat.store import SessionRow
from forge.bots.models import Bot, MessageStatus
from forge.bots.tables import bots
from forge.runs.context import RunContext
from forge.store.database import Store

SOON = START + IDLE_AFTER + timedelta(seconds=1)


async def _at_once(_: RunContext, __: Any) -> None:
    pass


async def _for_ever(context: RunContext, _: Any) -> None:
    await context.sleep(timedelta(hours=1))


@dataclass(frozen=True)
class Desk:
    store: Store
    engine: EngineUnderTest
    bot: Bot

    async def sweep(self, at: datetime = SOON) -> int:
        settling = StaleAnswers(self.store, self.engine.events, self.engine.runs)
        return await IdleSessions(self.store, self.engine.runs, settling, clock=lambda: at).sweep()

    async def session(self, **more: Any) -> SessionRow:
        session = await add_session(self.store, self.bot)
        await exchange(self.store, session, "I live in Oslo.", "I see.", **more)
        return session

    async def remembered(self) -> list[dict[str, Any]]:
        """What was given to the runs that remember, the first first."""
        runs = (await self.engine.runs.find(ACCOUNT, kind=REMEMBER)).items
        found = [await self.engine.runs.get(ACCOUNT, run.id) for run in runs]
        return [detail.input for detail in reversed(found)]


@pytest.fixture
async def desk(store: Store) -> AsyncIterator[Desk]:
    bot = await add_bot(store)
    async with open_engine(store, kind(REMEMBER, _at_once), kind("chat_test", _for_ever)) as engine:
        yield Desk(store, engine, bot)


async def test_a_quiet_conversation_is_looked_through_once_and_again_when_there_is_more(desk: Desk):
    session = await desk.session()
    assert await desk.sweep(START + IDLE_AFTER - timedelta(seconds=1)) == 0
    assert await desk.sweep() == 1
    assert await desk.sweep() == 0
    async with desk.store.read() as tx:
        before = await chats.find_session(tx, session.id)
    assert before is not None and before.head_id is not None
    _, answer = await exchange(desk.store, session, "No, in Bergen.", "Oh.", before.head_id)
    assert await desk.sweep() == 1
    first, second = await desk.remembered()
    assert (first["after_id"], first["upto_id"]) == (None, before.head_id)
    assert (second["after_id"], second["upto_id"]) == (before.head_id, answer)


async def test_two_who_look_at_the_same_time_start_it_once(desk: Desk):
    await desk.session()
    await asyncio.gather(desk.sweep(), desk.sweep())
    assert len(await desk.remembered()) == 1


async def test_old_conversations_and_those_of_deleted_bots_are_left_alone(desk: Desk):
    await desk.session()
    assert await desk.sweep(START + MAX_IDLE + timedelta(seconds=1)) == 0
    async with desk.store.begin() as tx:
        await tx.execute(sa.update(bots).values(deleted_at=START))
    assert await desk.sweep() == 0


async def test_what_a_workflow_or_another_bot_says_is_not_remembered(desk: Desk):
    session = await desk.session()
    origin = {"type": "bot", "bot_id": "1", "slug": "ada", "name": "Ada", "conversation_id": "c"}
    async with desk.store.begin() as tx:
        await chats.change_session(tx, session.id, origin=origin)
    assert await desk.sweep() == 0
    settling = StaleAnswers(desk.store, desk.engine.events, desk.engine.runs)
    async with desk.store.begin() as tx:
        assert not await IdleSessions(desk.store, desk.engine.runs, settling).extract_facts(tx, session.id)


async def test_answers_that_take_long_keep_nobody_else_waiting(desk: Desk, monkeypatch: pytest.MonkeyPatch):
    """An answer may wait for days, as for somebody who allows more money."""
    monkeypatch.setattr(quiet_module, "BATCH", 1)
    run = await desk.engine.start("chat_test")
    await desk.session(status=MessageStatus.WRITING, run_id=run.id)
    quiet = await desk.session()
    assert await desk.sweep() == 1
    assert [given["session_id"] for given in await desk.remembered()] == [quiet.id]


async def test_an_answer_that_nobody_writes_any_more_is_ended(desk: Desk):
    session = await desk.session(status=MessageStatus.WRITING, run_id="gone")
    await desk.sweep()
    async with desk.store.read() as tx:
        assert await chats.list_answering(tx) == []
        found = await chats.find_session(tx, session.id)
        assert found is not None and found.head_id is not None
        row = await chats.find_message(tx, found.head_id)
    assert row is not None and row.status is MessageStatus.INTERRUPTED
