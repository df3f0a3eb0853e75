"""Conversations as things: what is listed, which branch is shown, what a deletion takes along. On both databases."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from tests.bots.chat.rows import add_bot, add_session, exchange, made_with, say
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

STRANGER = "account-2"


@dataclass(frozen=True)
class Desk:
    store: Store
    engine: EngineUnderTest
    sessions: Sessions

    async def told(self, stream: str) -> list[tuple[str, dict[str, Any]]]:
        async with self.store.read() as tx:
            return [(event.type, event.data) for event in await self.engine.events.read(tx, stream)]

    async def texts(self, session_id: str) -> list[str]:
        return [message.text for message in await self.sessions.messages(ACCOUNT, session_id)]


async def _writes_for_ever(context: RunContext, _: Any) -> Any:
    await context.sleep(timedelta(hours=1))


@pytest.fixture
async def desk(store: Store) -> AsyncIterator[Desk]:
    async with open_engine(store, kind("chat_test", _writes_for_ever)) as engine:
        settling = StaleAnswers(store, engine.events, engine.runs)
        yield Desk(store, engine, Sessions(store, engine.events, engine.runs, settling))


async def test_the_latest_conversation_comes_first_a_page_at_a_time(desk: Desk):
    bot, other = await add_bot(desk.store), await add_bot(desk.store, "other")
    made = [await add_session(desk.store, bot, f"talk {n}", minutes=n) for n in range(5)]
    await add_session(desk.store, other, "elsewhere", minutes=9)
    await exchange(desk.store, made[4], "Hello", "Hi")
    seen: list[Session] = []
    cursor = None
    for _ in range(3):
        page = await desk.sessions.find(bot, cursor=Cursor.decode(cursor), limit=2)
        seen += page.items
        cursor = page.next_cursor
    assert [session.title for session in seen] == ["talk 4", "talk 3", "talk 2", "talk 1", "talk 0"]
    assert cursor is None
    assert (seen[0].messages, seen[0].cost_micros, seen[0].is_answering) == (2, 4100, False)


async def test_the_branch_with_a_message_is_shown_down_to_its_newest_leaf(desk: Desk):
    session = await add_session(desk.store, await add_bot(desk.store))
    asked, first = await exchange(desk.store, session, "What is the tide?", "A rise of the sea.")
    _, deep = await exchange(desk.store, session, "And the moon?", "It pulls.", first)
    retried = await say(desk.store, session, Speaker.ASSISTANT, "Ask the harbour.", asked, answer=made_with())
    assert await desk.texts(session.id) == ["What is the tide?", "Ask the harbour."]

    changed = await desk.sessions.change(ACCOUNT, session.id, SessionChange(head_id=first))

    assert changed.head_id == deep
    messages = await desk.sessions.messages(ACCOUNT, session.id)
    assert [message.text for message in messages] == [
        "What is the tide?",
        "A rise of the sea.",
        "And the moon?",
        "It pulls.",
    ]
    assert [len(message.siblings) for message in messages] == [1, 2, 1, 1]
    assert messages[1].siblings == [first, retried]
    assert await desk.told(session_stream(session.id)) == [
        ("chat.changed", {"session": changed.model_dump(mode="json")})
    ]
    (told,) = await desk.told(f"account:{ACCOUNT}")
    assert told[0] == "bot.changed" and told[1]["part"] == "session"


async def test_a_title_is_changed_and_an_unchanged_head_tells_nobody(desk: Desk):
    session = await add_session(desk.store, await add_bot(desk.store))
    _, answer = await exchange(desk.store, session, "Hello", "Hi")
    named = await desk.sessions.change(ACCOUNT, session.id, SessionChange(title="The moon"))
    assert (named.title, named.head_id) == ("The moon", answer)
    again = await desk.sessions.change(ACCOUNT, session.id, SessionChange(title="The moon", head_id=answer))
    assert again == named
    assert len(await desk.told(session_stream(session.id))) == 1


async def test_a_message_of_another_conversation_cannot_be_shown(desk: Desk):
    bot = await add_bot(desk.store)
    session, other = await add_session(desk.store, bot), await add_session(desk.store, bot)
    _, elsewhere = await exchange(desk.store, other, "Hello", "Hi")
    with pytest.raises(NotFound, match="no message"):
        await desk.sessions.change(ACCOUNT, session.id, SessionChange(head_id=elsewhere))


async def test_a_stranger_finds_nothing(desk: Desk):
    session = await add_session(desk.store, await add_bot(desk.store))
    await exchange(desk.store, session, "Hello", "Hi")
    for attempt in (
        desk.sessions.get(STRANGER, session.id),
        desk.sessions.messages(STRANGER, session.id),
        desk.sessions.change(STRANGER, session.id, SessionChange(title="mine")),
        desk.sessions.delete(STRANGER, session.id),
        desk.sessions.export(STRANGER, session.id, markdown=True),
    ):
        with pytest.raises(NotFound):
            await attempt
    assert not await desk.sessions.can_follow(STRANGER, session.id)
    assert await desk.sessions.can_follow(ACCOUNT, session.id)
    assert not await desk.sessions.can_follow(ACCOUNT, "nothing")


async def test_deleting_takes_messages_and_events_along(desk: Desk):
    bot = await add_bot(desk.store)
    session, kept = await add_session(desk.store, bot), await add_session(desk.store, bot, "kept")
    await exchange(desk.store, session, "a pelican", "yes")
    await exchange(desk.store, kept, "a heron", "yes")
    await desk.sessions.change(ACCOUNT, session.id, SessionChange(title="gone soon"))

    deleted = await desk.sessions.delete(ACCOUNT, session.id)

    assert deleted.title == "gone soon"
    assert await desk.told(session_stream(session.id)) == []
    with pytest.raises(NotFound):
        await desk.sessions.get(ACCOUNT, session.id)
    assert [one.id for one in (await desk.sessions.find(bot, cursor=None, limit=10)).items] == [kept.id]
    assert await desk.sessions.search(bot, "pelican", limit=10) == []


async def test_deleting_stops_an_answer_that_is_being_written(desk: Desk):
    session = await add_session(desk.store, await add_bot(desk.store))
    run = await desk.engine.start("chat_test")
    await exchange(desk.store, session, "Hello", "Well", status=MessageStatus.WRITING, run_id=run.id)
    assert (await desk.sessions.get(ACCOUNT, session.id)).is_answering
    await desk.sessions.delete(ACCOUNT, session.id)
    assert (await desk.engine.runs.find_one(ACCOUNT, run.id)).status is RunStatus.CANCELLED
    assert await desk.told(session_stream(session.id)) == []


async def test_an_answer_whose_run_was_cancelled_is_not_written_for_ever(desk: Desk):
    session = await add_session(desk.store, await add_bot(desk.store))
    run = await desk.engine.start("chat_test")
    await exchange(desk.store, session, "Hello", "Well", status=MessageStatus.WRITING, run_id=run.id)
    await desk.engine.runs.cancel(ACCOUNT, run.id, by="somebody")
    messages = await desk.sessions.messages(ACCOUNT, session.id)
    assert messages[-1].text == "Well" and messages[-1].status.can_resume
    assert not (await desk.sessions.get(ACCOUNT, session.id)).is_answering


async def test_words_are_found_in_the_conversations_of_one_bot(desk: Desk):
    bot, other = await add_bot(desk.store), await add_bot(desk.store, "other")
    session, elsewhere = await add_session(desk.store, bot), await add_session(desk.store, other)
    asked, answered = await exchange(desk.store, session, "Where do pelicans nest?", "On islands.")
    await exchange(desk.store, elsewhere, "pelicans", "pelicans")
    (hit,) = await desk.sessions.search(bot, "PELICAN", limit=10)
    assert (hit.session_id, hit.session_title, hit.message_id) == (session.id, "Tides", asked)
    assert hit.role is Speaker.USER and hit.excerpt == "Where do ⟦pelicans⟧ nest?"
    (hit,) = await desk.sessions.search(bot, "islands", limit=10)
    assert hit.message_id == answered
    for words in ('"', "NEAR(", "* : -", "'; DROP TABLE chat_messages", "\x00"):
        assert await desk.sessions.search(bot, words, limit=10) == []


async def test_many_changes_at_once_leave_one_of_the_titles(desk: Desk):
    session = await add_session(desk.store, await add_bot(desk.store))
    titles = [f"title {n}" for n in range(8)]
    await asyncio.gather(
        *(desk.sessions.change(ACCOUNT, session.id, SessionChange(title=title)) for title in titles)
    )
    assert (await desk.sessions.get(ACCOUNT, session.id)).title in titles
    assert len(await desk.told(session_stream(session.id))) == len(titles)


async def test_an_exported_conversation_reads_as_it_was(desk: Desk):
    session = await add_session(desk.store, await add_bot(desk.store), "Tides\n# and more")
    _, first = await exchange(desk.store, session, "What is\n\nthe tide?", "A **rise** of the sea.")
    problem = Problem(code="model_key", message="There is no key.")
    await exchange(
        desk.store, session, "And the moon?", "", first, status=MessageStatus.FAILED, error=problem
    )
    markdown = await desk.sessions.export(ACCOUNT, session.id, markdown=True)
    made = "scripted:talker · temperature 0.7 · 2,200 tokens in (1,000 cached), 34 out · $0.0041 · 2.4 s"
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
            f"*{made}*",
            "",
            "## You, 2026-03-01 12:00 UTC",
            "",
            "And the moon?",
            "",
            "## Atlas, 2026-03-01 12:00 UTC",
            "",
            "> There is no key.",
            "",
            f"*failed · {made}*",
            "",
        ]
    )
    data = json.loads(await desk.sessions.export(ACCOUNT, session.id, markdown=False))
    messages = await desk.sessions.messages(ACCOUNT, session.id)
    assert data["messages"] == [message.model_dump(mode="json") for message in messages]
    assert (data["bot"], data["bot_name"]) == ("atlas", "Atlas")
