"""Facts are extracted once from idle conversations. On both databases."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from tests.bots.chat.rows import START, add_bot, add_exchange, add_session
from tests.support.engine import ACCOUNT, EngineUnderTest, kind, open_engine

from forge.bots.chat import maintenance as maintenance
from forge.bots.chat import store as chats
from forge.bots.chat.maintenance import IDLE_AFTER, MAX_IDLE, IdleSessions, StaleAnswers
from forge.bots.chat.run_inputs import REMEMBER
from forge.bots.chat.store import SessionRow
from forge.bots.models import Bot, MessageStatus
from forge.bots.tables import bots
from forge.runs.context import RunContext
from forge.store.database import Store

SOON = START + IDLE_AFTER + timedelta(seconds=1)


async def _return(_: RunContext, __: Any) -> None:
    pass


async def _sleep(context: RunContext, _: Any) -> None:
    await context.sleep(timedelta(hours=1))


@dataclass(frozen=True)
class IdleEnvironment:
    store: Store
    engine: EngineUnderTest
    bot: Bot

    async def sweep(self, at: datetime = SOON) -> int:
        stale_answers = StaleAnswers(self.store, self.engine.events, self.engine.runs)
        return await IdleSessions(self.store, self.engine.runs, stale_answers, clock=lambda: at).sweep()

    async def session(self, **more: Any) -> SessionRow:
        session = await add_session(self.store, self.bot)
        await add_exchange(self.store, session, "I live in Oslo.", "I see.", **more)
        return session

    async def extraction_inputs(self) -> list[dict[str, Any]]:
        """Return the inputs of the extraction runs, oldest first."""
        runs = (await self.engine.runs.find(ACCOUNT, kind=REMEMBER)).items
        found = [await self.engine.runs.get(ACCOUNT, run.id) for run in runs]
        return [detail.input for detail in reversed(found)]


@pytest.fixture
async def env(store: Store) -> AsyncIterator[IdleEnvironment]:
    bot = await add_bot(store)
    async with open_engine(store, kind(REMEMBER, _return), kind("chat_test", _sleep)) as engine:
        yield IdleEnvironment(store, engine, bot)


async def test_idle_conversation_is_scanned_once_and_again_after_new_messages(env: IdleEnvironment):
    session = await env.session()
    assert await env.sweep(START + IDLE_AFTER - timedelta(seconds=1)) == 0
    assert await env.sweep() == 1
    assert await env.sweep() == 0
    async with env.store.read() as tx:
        before = await chats.find_session(tx, session.id)
    assert before is not None and before.head_id is not None
    _, answer = await add_exchange(env.store, session, "No, in Bergen.", "Oh.", before.head_id)
    assert await env.sweep() == 1
    first, second = await env.extraction_inputs()
    assert (first["after_id"], first["upto_id"]) == (None, before.head_id)
    assert (second["after_id"], second["upto_id"]) == (before.head_id, answer)


async def test_concurrent_sweeps_start_one_run(env: IdleEnvironment):
    await env.session()
    await asyncio.gather(env.sweep(), env.sweep())
    assert len(await env.extraction_inputs()) == 1


async def test_old_conversations_and_deleted_bots_are_skipped(env: IdleEnvironment):
    await env.session()
    assert await env.sweep(START + MAX_IDLE + timedelta(seconds=1)) == 0
    async with env.store.begin() as tx:
        await tx.execute(sa.update(bots).values(deleted_at=START))
    assert await env.sweep() == 0


async def test_conversation_started_by_a_bot_is_skipped(env: IdleEnvironment):
    session = await env.session()
    origin = {"type": "bot", "bot_id": "1", "slug": "ada", "name": "Ada", "conversation_id": "c"}
    async with env.store.begin() as tx:
        await chats.change_session(tx, session.id, origin=origin)
    assert await env.sweep() == 0
    stale_answers = StaleAnswers(env.store, env.engine.events, env.engine.runs)
    async with env.store.begin() as tx:
        assert not await IdleSessions(env.store, env.engine.runs, stale_answers).extract_facts(tx, session.id)


async def test_long_answer_does_not_block_other_conversations(
    env: IdleEnvironment, monkeypatch: pytest.MonkeyPatch
):
    """An answer may wait for days, for example for a larger budget."""
    monkeypatch.setattr(maintenance, "BATCH", 1)
    run = await env.engine.start("chat_test")
    await env.session(status=MessageStatus.WRITING, run_id=run.id)
    idle = await env.session()
    assert await env.sweep() == 1
    assert [given["session_id"] for given in await env.extraction_inputs()] == [idle.id]


async def test_abandoned_answer_is_ended(env: IdleEnvironment):
    session = await env.session(status=MessageStatus.WRITING, run_id="gone")
    await env.sweep()
    async with env.store.read() as tx:
        assert await chats.list_answering(tx) == []
        found = await chats.find_session(tx, session.id)
        assert found is not None and found.head_id is not None
        row = await chats.find_message(tx, found.head_id)
    assert row is not None and row.status is MessageStatus.INTERRUPTED
