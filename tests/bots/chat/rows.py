"""Insert bots and conversations as database rows."""

from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa
from tests.support.engine import ACCOUNT

from forge.bots.chat import store as chat_store
from forge.bots.chat.models import AnswerFacts, Speaker
from forge.bots.chat.store import MessageRow, SessionRow
from forge.bots.models import Bot, BotStatus, Identity, MessageStatus
from forge.bots.tables import bots
from forge.kernel.ids import new_id
from forge.llm.models import Usage
from forge.store.database import Store

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


async def add_bot(store: Store, slug: str = "atlas", *, account: str = ACCOUNT) -> Bot:
    bot = Bot(
        id=new_id(),
        slug=slug,
        status=BotStatus.ACTIVE,
        identity=Identity(display_name=slug.title()),
        created_at=START,
        updated_at=START,
    )
    values = bot.model_dump(mode="json", include={"id", "slug", "status", "identity"})
    async with store.begin() as tx:
        await tx.execute(
            sa.insert(bots).values(**values, account_id=account, created_at=START, updated_at=START)
        )
    return bot


async def add_session(
    store: Store, bot: Bot, title: str = "Tides", *, minutes: int = 0, account: str = ACCOUNT
) -> SessionRow:
    at = START + timedelta(minutes=minutes)
    row = SessionRow(new_id(), account, bot.id, title, False, None, [], None, START, at)
    async with store.begin() as tx:
        await chat_store.insert_session(tx, row)
    return row


async def add_message(
    store: Store, session: SessionRow, role: Speaker, text: str, parent: str | None, **more: Any
) -> str:
    """Add a message below its parent and make it the head of the conversation."""
    row = MessageRow(
        id=new_id(),
        session_id=session.id,
        parent_id=parent,
        role=role,
        text=text,
        status=more.get("status", MessageStatus.DONE),
        error=more.get("error"),
        answer=more.get("answer"),
        run_id=more.get("run_id"),
        tries=0,
        cost_micros=more["answer"].cost_micros if "answer" in more else 0,
        created_at=START,
        finished_at=START,
    )
    async with store.begin() as tx:
        await chat_store.insert_message(tx, row)
        await chat_store.change_session(tx, session.id, head_id=row.id)
    return row.id


async def add_exchange(
    store: Store, session: SessionRow, question: str, answer: str, parent: str | None = None, **more: Any
) -> tuple[str, str]:
    question_id = await add_message(store, session, Speaker.USER, question, parent)
    facts = {"answer": answer_facts(), **more}
    return question_id, await add_message(store, session, Speaker.ASSISTANT, answer, question_id, **facts)


def answer_facts(run_id: str = "run-1") -> AnswerFacts:
    return AnswerFacts(
        run_id=run_id,
        model="scripted:talker",
        temperature=0.7,
        max_tokens=4096,
        soul_version=1,
        usage=Usage(input=1200, output=34, cache_read=1000),
        cost_micros=4100,
        duration_ms=2400,
    )
