"""Conversations: list, branches, deletion, search and export. On both databases."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from tests.bots.chat.rows import add_bot, add_exchange, add_message, add_session, answer_facts
from tests.support.engine import ACCOUNT, EngineUnderTest, kind, open_engine

from forge.bots.chat.branches import session_stream
from forge.bots.chat.maintenance import StaleAnswers
from forge.bots.chat.models import Session, SessionChange, Speaker
from forge.bots.chat.sessions import Sessions
from forge.bots.models import MessageStatus
from forge.errors import NotFound
from forge.runs.context import RunContext
from forge.runs.models import Problem, RunStatus
from forge.store.database import Store
from forge.store.pagination import Cursor

OTHER_ACCOUNT = "account-2"


@dataclass(frozen=True)
class SessionsEnvironment:
    store: Store
    engine: EngineUnderTest
    sessions: Sessions

    async def published(self, stream: str) -> list[tuple[str, dict[str, Any]]]:
        async with self.store.read() as tx:
            return [(event.type, event.data) for event in await self.engine.events.read(tx, stream)]

    async def texts(self, session_id: str) -> list[str]:
        return [message.text for message in await self.sessions.messages(ACCOUNT, session_id)]


async def _sleep(context: RunContext, _: Any) -> Any:
    await context.sleep(timedelta(hours=1))


@pytest.fixture
async def env(store: Store) -> AsyncIterator[SessionsEnvironment]:
    async with open_engine(store, kind("chat_test", _sleep)) as engine:
        stale_answers = StaleAnswers(store, engine.events, engine.runs)
        yield SessionsEnvironment(store, engine, Sessions(store, engine.events, engine.runs, stale_answers))


async def test_conversations_are_listed_newest_first_in_pages(env: SessionsEnvironment):
    bot, other = await add_bot(env.store), await add_bot(env.store, "other")
    sessions = [await add_session(env.store, bot, f"talk {n}", minutes=n) for n in range(5)]
    await add_session(env.store, other, "elsewhere", minutes=9)
    await add_exchange(env.store, sessions[4], "Hello", "Hi")
    seen: list[Session] = []
    cursor = None
    for _ in range(3):
        page = await env.sessions.find(bot, cursor=Cursor.decode(cursor), limit=2)
        seen += page.items
        cursor = page.next_cursor
    assert [session.title for session in seen] == ["talk 4", "talk 3", "talk 2", "talk 1", "talk 0"]
    assert cursor is None
    assert (seen[0].messages, seen[0].cost_micros, seen[0].is_answering) == (2, 4100, False)


async def test_selected_branch_is_shown_to_its_newest_leaf(env: SessionsEnvironment):
    session = await add_session(env.store, await add_bot(env.store))
    question_id, first = await add_exchange(env.store, session, "What is the tide?", "A rise of the sea.")
    _, deep = await add_exchange(env.store, session, "And the moon?", "It pulls.", first)
    retried = await add_message(
        env.store, session, Speaker.ASSISTANT, "Ask the harbour.", question_id, answer=answer_facts()
    )
    assert await env.texts(session.id) == ["What is the tide?", "Ask the harbour."]

    changed = await env.sessions.change(ACCOUNT, session.id, SessionChange(head_id=first))

    assert changed.head_id == deep
    messages = await env.sessions.messages(ACCOUNT, session.id)
    assert [message.text for message in messages] == [
        "What is the tide?",
        "A rise of the sea.",
        "And the moon?",
        "It pulls.",
    ]
    assert [len(message.siblings) for message in messages] == [1, 2, 1, 1]
    assert messages[1].siblings == [first, retried]
    assert await env.published(session_stream(session.id)) == [
        ("chat.changed", {"session": changed.model_dump(mode="json")})
    ]
    (event,) = await env.published(f"account:{ACCOUNT}")
    assert event[0] == "bot.changed" and event[1]["part"] == "session"


async def test_unchanged_session_publishes_no_event(env: SessionsEnvironment):
    session = await add_session(env.store, await add_bot(env.store))
    _, answer = await add_exchange(env.store, session, "Hello", "Hi")
    named = await env.sessions.change(ACCOUNT, session.id, SessionChange(title="The moon"))
    assert (named.title, named.head_id) == ("The moon", answer)
    again = await env.sessions.change(ACCOUNT, session.id, SessionChange(title="The moon", head_id=answer))
    assert again == named
    assert len(await env.published(session_stream(session.id))) == 1


async def test_message_of_another_conversation_is_rejected_as_head(env: SessionsEnvironment):
    bot = await add_bot(env.store)
    session, other = await add_session(env.store, bot), await add_session(env.store, bot)
    _, elsewhere = await add_exchange(env.store, other, "Hello", "Hi")
    with pytest.raises(NotFound, match="no message"):
        await env.sessions.change(ACCOUNT, session.id, SessionChange(head_id=elsewhere))


async def test_other_account_has_no_access(env: SessionsEnvironment):
    session = await add_session(env.store, await add_bot(env.store))
    await add_exchange(env.store, session, "Hello", "Hi")
    for attempt in (
        env.sessions.get(OTHER_ACCOUNT, session.id),
        env.sessions.messages(OTHER_ACCOUNT, session.id),
        env.sessions.change(OTHER_ACCOUNT, session.id, SessionChange(title="mine")),
        env.sessions.delete(OTHER_ACCOUNT, session.id),
        env.sessions.export(OTHER_ACCOUNT, session.id, markdown=True),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert not await env.sessions.can_follow(OTHER_ACCOUNT, session.id)
    assert await env.sessions.can_follow(ACCOUNT, session.id)
    assert not await env.sessions.can_follow(ACCOUNT, "nothing")


async def test_deletion_removes_messages_and_events(env: SessionsEnvironment):
    bot = await add_bot(env.store)
    session, kept = await add_session(env.store, bot), await add_session(env.store, bot, "kept")
    await add_exchange(env.store, session, "a pelican", "yes")
    await add_exchange(env.store, kept, "a heron", "yes")
    await env.sessions.change(ACCOUNT, session.id, SessionChange(title="gone soon"))

    deleted = await env.sessions.delete(ACCOUNT, session.id)

    assert deleted.title == "gone soon"
    assert await env.published(session_stream(session.id)) == []
    with pytest.raises(NotFound):
        await env.sessions.get(ACCOUNT, session.id)
    assert [one.id for one in (await env.sessions.find(bot, cursor=None, limit=10)).items] == [kept.id]
    assert await env.sessions.search(bot, "pelican", limit=10) == []


async def test_deletion_cancels_a_running_answer(env: SessionsEnvironment):
    session = await add_session(env.store, await add_bot(env.store))
    run = await env.engine.start("chat_test")
    await add_exchange(env.store, session, "Hello", "Well", status=MessageStatus.WRITING, run_id=run.id)
    assert (await env.sessions.get(ACCOUNT, session.id)).is_answering
    await env.sessions.delete(ACCOUNT, session.id)
    assert (await env.engine.runs.find_one(ACCOUNT, run.id)).status is RunStatus.CANCELLED
    assert await env.published(session_stream(session.id)) == []


async def test_answer_of_a_cancelled_run_is_ended(env: SessionsEnvironment):
    session = await add_session(env.store, await add_bot(env.store))
    run = await env.engine.start("chat_test")
    await add_exchange(env.store, session, "Hello", "Well", status=MessageStatus.WRITING, run_id=run.id)
    await env.engine.runs.cancel(ACCOUNT, run.id, by="somebody")
    messages = await env.sessions.messages(ACCOUNT, session.id)
    assert messages[-1].text == "Well" and messages[-1].status.can_resume
    assert not (await env.sessions.get(ACCOUNT, session.id)).is_answering


async def test_search_finds_messages_of_one_bot(env: SessionsEnvironment):
    bot, other = await add_bot(env.store), await add_bot(env.store, "other")
    session, elsewhere = await add_session(env.store, bot), await add_session(env.store, other)
    question_id, answer_id = await add_exchange(env.store, session, "Where do pelicans nest?", "On islands.")
    await add_exchange(env.store, elsewhere, "pelicans", "pelicans")
    (hit,) = await env.sessions.search(bot, "PELICAN", limit=10)
    assert (hit.session_id, hit.session_title, hit.message_id) == (session.id, "Tides", question_id)
    assert hit.role is Speaker.USER and hit.excerpt == "Where do ⟦pelicans⟧ nest?"
    (hit,) = await env.sessions.search(bot, "islands", limit=10)
    assert hit.message_id == answer_id
    for words in ('"', "NEAR(", "* : -", "'; DROP TABLE chat_messages", "\x00"):
        assert await env.sessions.search(bot, words, limit=10) == []


async def test_concurrent_renames_leave_one_title(env: SessionsEnvironment):
    session = await add_session(env.store, await add_bot(env.store))
    titles = [f"title {n}" for n in range(8)]
    await asyncio.gather(
        *(env.sessions.change(ACCOUNT, session.id, SessionChange(title=title)) for title in titles)
    )
    assert (await env.sessions.get(ACCOUNT, session.id)).title in titles
    assert len(await env.published(session_stream(session.id))) == len(titles)


async def test_conversation_is_exported_as_markdown_and_json(env: SessionsEnvironment):
    session = await add_session(env.store, await add_bot(env.store), "Tides\n# and more")
    _, first = await add_exchange(env.store, session, "What is\n\nthe tide?", "A **rise** of the sea.")
    problem = Problem(code="model_key", message="There is no key.")
    await add_exchange(
        env.store, session, "And the moon?", "", first, status=MessageStatus.FAILED, error=problem
    )
    markdown = await env.sessions.export(ACCOUNT, session.id, markdown=True)
    footer = "scripted:talker · temperature 0.7 · 2,200 tokens in (1,000 cached), 34 out · $0.0041 · 2.4 s"
    assert markdown == "\n".join(
        [
            "# Tides # and more",
            "",
            "A conversation with Atlas (`atlas`), 2026-03-01 12:00 UTC to 2026-03-01 12:00 UTC.",
            "",
            "## You, 2026-03-01 12:00 UTC",
            "",
            "What is\n\nthe tide?",
            "",
            "## Atlas, 2026-03-01 12:00 UTC",
            "",
            "A **rise** of the sea.",
            "",
            f"*{footer}*",
            "",
            "## You, 2026-03-01 12:00 UTC",
            "",
            "And the moon?",
            "",
            "## Atlas, 2026-03-01 12:00 UTC",
            "",
            "> There is no key.",
            "",
            f"*failed · {footer}*",
            "",
        ]
    )
    data = json.loads(await env.sessions.export(ACCOUNT, session.id, markdown=False))
    messages = await env.sessions.messages(ACCOUNT, session.id)
    assert data["messages"] == [message.model_dump(mode="json") for message in messages]
    assert (data["bot"], data["bot_name"]) == ("atlas", "Atlas")
