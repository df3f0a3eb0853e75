"""List, read, rename, search, export and delete conversations. `Chats` handles questions and answers."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from forge.bots.chat import store
from forge.bots.chat.branches import (
    find_summary,
    newest_leaf,
    read_branch,
    read_session,
    session_stream,
    to_session,
)
from forge.bots.chat.footer import footer
from forge.bots.chat.maintenance import StaleAnswers
from forge.bots.chat.models import (
    ChatChanged,
    Message,
    SearchHit,
    Session,
    SessionChange,
    SessionDetail,
    SkillUse,
    Speaker,
)
from forge.bots.chat.store import SessionRow, SessionTotals, find_messages
from forge.bots.models import Bot
from forge.bots.notifications import notify_changed
from forge.bots.store import find_many
from forge.errors import Conflict, NotFound
from forge.events.log import EventLog
from forge.runs.service import Runs
from forge.store.database import Store, Tx
from forge.store.pagination import Cursor, Page, make_page


class Sessions:
    def __init__(self, database: Store, events: EventLog, runs: Runs, stale_answers: StaleAnswers) -> None:
        self._database = database
        self._events = events
        self._runs = runs
        self._stale_answers = stale_answers

    async def find(self, bot: Bot, *, cursor: Cursor | None, limit: int) -> Page[Session]:
        async with self._database.read() as tx:
            found = await _list(tx, bot.id, cursor, limit + 1)
        answering = [session.id for session in found if session.is_answering]
        if answering:
            for session_id in answering:
                await self._stale_answers.end(session_id)
            async with self._database.read() as tx:
                found = await _list(tx, bot.id, cursor, limit + 1)
        return make_page(found, limit, lambda session: Cursor(session.updated_at, session.id))

    async def get(self, account_id: str, session_id: str) -> SessionDetail:
        await self._stale_answers.end(session_id)
        async with self._database.read() as tx:
            row = await find_own_session(tx, account_id, session_id)
            branch = await store.list_branch(tx, row.id, row.head_id)
            summary = await find_summary(tx, row.id, branch)
            return SessionDetail(**(await read_session(tx, row)).model_dump(), summary=summary)

    async def messages(self, account_id: str, session_id: str) -> list[Message]:
        await self._stale_answers.end(session_id)
        async with self._database.read() as tx:
            return await read_branch(tx, await find_own_session(tx, account_id, session_id))

    async def change(self, account_id: str, session_id: str, change: SessionChange) -> Session:
        """Change the title or the branch that is shown. A title set by a person is never replaced by a generated one."""
        async with self._database.begin() as tx:
            row = await find_own_session(tx, account_id, session_id, lock=True)
            values = await _values(tx, row, change)
            if not values:
                return await read_session(tx, row)
            row = await store.change_session(tx, row.id, **values) or row
            session = await read_session(tx, row)
            await self._events.append(tx, session_stream(row.id), ChatChanged(session=session))
            await notify_changed(tx, self._events, row.bot_id, "session")
            return session

    async def delete(self, account_id: str, session_id: str) -> Session:
        """Stop the current answer, then delete the session."""
        await self._stop_writing(account_id, session_id)
        await self._stale_answers.end(session_id)  # tells those who follow the answer that it has ended
        async with self._database.begin() as tx:
            row = await find_own_session(tx, account_id, session_id, lock=True)
            session = await read_session(tx, row)
            if session.is_answering:
                raise Conflict(
                    "A new question was just asked in this conversation.", hint="Stop the answer first."
                )
            await notify_changed(tx, self._events, row.bot_id, "session")
            await store.delete_session(tx, row.id)  # lock the messages before the stream, as everywhere
            await self._events.delete(tx, session_stream(row.id))
            return session

    async def search(self, bot: Bot, words: str, *, limit: int) -> list[SearchHit]:
        async with self._database.read() as tx:
            return await find_messages(tx, bot.id, words, limit)

    async def export(self, account_id: str, session_id: str, *, markdown: bool) -> str:
        await self._stale_answers.end(session_id)
        async with self._database.read() as tx:
            row = await find_own_session(tx, account_id, session_id)
            session, messages = await read_session(tx, row), await read_branch(tx, row)
            [bot] = await find_many(tx, [row.bot_id])
        return as_markdown(bot, session, messages) if markdown else as_json(bot, session, messages)

    async def can_follow(self, account_id: str, session_id: str) -> bool:
        async with self._database.read() as tx:
            row = await store.find_session(tx, session_id)
        return row is not None and row.account_id == account_id

    async def _stop_writing(self, account_id: str, session_id: str) -> None:
        async with self._database.read() as tx:
            row = await find_own_session(tx, account_id, session_id)
            writing = await store.find_writing(tx, row.id)
        for message in writing:
            if message.run_id:
                with suppress(Conflict, NotFound):  # it has just ended
                    await self._runs.cancel(account_id, message.run_id, by="deleted")


async def find_own_session(tx: Tx, account_id: str, session_id: str, *, lock: bool = False) -> SessionRow:
    """Find a session of this account. Sessions of other accounts raise the same error as missing ones."""
    row = await store.find_session(tx, session_id, lock=lock)
    if row is None or row.account_id != account_id:
        raise NotFound(f"There is no conversation {session_id}.")
    return row


async def _list(tx: Tx, bot_id: str, cursor: Cursor | None, limit: int) -> list[Session]:
    rows = await store.list_sessions(tx, bot_id, cursor=cursor, limit=limit)
    tallies = await store.count_sessions(tx, [row.id for row in rows])
    return [to_session(row, tallies.get(row.id, SessionTotals())) for row in rows]


async def _values(tx: Tx, row: SessionRow, change: SessionChange) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if change.title is not None and (change.title != row.title or not row.is_titled):
        values |= {"title": change.title, "is_titled": True}
    if change.head_id is not None:
        head_id = await _leaf_below(tx, row, change.head_id)
        values |= {"head_id": head_id} if head_id != row.head_id else {}
    return values


async def _leaf_below(tx: Tx, row: SessionRow, message_id: str) -> str:
    places = await store.list_tree(tx, row.id)
    if message_id not in {place.id for place in places}:
        raise NotFound(f"There is no message {message_id} in this conversation.")
    return newest_leaf(places, message_id)


class Export(BaseModel):
    """The JSON export, with the models of the API."""

    bot: str
    """Slug of the bot."""
    bot_name: str
    session: Session
    messages: list[Message]


def as_json(bot: Bot, session: Session, messages: Sequence[Message]) -> str:
    name = bot.identity.display_name
    whole = Export(bot=bot.slug, bot_name=name, session=session, messages=list(messages))
    return whole.model_dump_json(indent=2) + "\n"


def as_markdown(bot: Bot, session: Session, messages: Sequence[Message]) -> str:
    name = _one_line(bot.identity.display_name)
    head = [
        f"# {_one_line(session.title)}",
        f"A conversation with {name} (`{bot.slug}`), "
        f"{_time(session.created_at)} to {_time(session.updated_at)}.",
    ]
    parts = [part for message in messages for part in _parts(name, message)]
    return "\n\n".join([*head, *parts]) + "\n"


def _parts(name: str, message: Message) -> list[str]:
    speaker = "You" if message.role is Speaker.USER else name
    parts = [f"## {speaker}, {_time(message.created_at)}"]
    if message.answer and message.answer.skills_used:
        parts.append("\n".join(_skill_line(use) for use in message.answer.skills_used))
    if message.text.strip():
        parts.append(message.text.strip("\n"))
    if message.error:
        parts.append(f"> {_one_line(message.error.message)}")
    if message.answer:
        parts.append(f"*{_one_line(footer(message))}*")
    return parts


def _skill_line(use: SkillUse) -> str:
    what = f"{use.path} of " if use.path else ""
    return _one_line(f"- *{use.how} {what}{use.skill} ({use.state.value})*")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _time(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M} UTC"
