"""Conversations as things: found, read, named, searched, exported and deleted. What is said in them is `Chats`' part."""

from contextlib import suppress
from typing import Any

from forge.bots.chat import store
from forge.bots.chat.branches import (
    find_summary,
    newest_leaf,
    read_branch,
    read_session,
    session_stream,
    shown_session,
)
from forge.bots.chat.exporting import as_json, as_markdown
from forge.bots.chat.models import ChatChanged, Message, SearchHit, Session, SessionChange, SessionDetail
from forge.bots.chat.search import find_messages
from forge.bots.chat.settling import Settling
from forge.bots.chat.store import SessionRow, Tally
from forge.bots.models import Bot
from forge.bots.store import list_some
from forge.bots.telling import tell_changed
from forge.errors import Conflict, NotFound
from forge.events.log import EventLog
from forge.runs.service import Runs
from forge.store.engine import Store, Tx
from forge.store.paging import Cursor, Page, page_of


class Sessions:
    def __init__(self, database: Store, events: EventLog, runs: Runs, settling: Settling) -> None:
        self._database = database
        self._events = events
        self._runs = runs
        self._settling = settling

    async def find(self, bot: Bot, *, cursor: Cursor | None, limit: int) -> Page[Session]:
        async with self._database.read() as tx:
            found = await _list(tx, bot.id, cursor, limit + 1)
        answering = [session.id for session in found if session.is_answering]
        if answering:
            for session_id in answering:
                await self._settling.settle(session_id)
            async with self._database.read() as tx:
                found = await _list(tx, bot.id, cursor, limit + 1)
        return page_of(found, limit, lambda session: Cursor(session.updated_at, session.id))

    async def get(self, account_id: str, session_id: str) -> SessionDetail:
        await self._settling.settle(session_id)
        async with self._database.read() as tx:
            row = await own_session(tx, account_id, session_id)
            branch = await store.list_branch(tx, row.id, row.head_id)
            summary = await find_summary(tx, row.id, branch)
            return SessionDetail(**(await read_session(tx, row)).model_dump(), summary=summary)

    async def messages(self, account_id: str, session_id: str) -> list[Message]:
        await self._settling.settle(session_id)
        async with self._database.read() as tx:
            return await read_branch(tx, await own_session(tx, account_id, session_id))

    async def change(self, account_id: str, session_id: str, change: SessionChange) -> Session:
        """A title a person gave is never replaced by one that a model thinks of."""
        async with self._database.begin() as tx:
            row = await own_session(tx, account_id, session_id, lock=True)
            values = await _values(tx, row, change)
            if not values:
                return await read_session(tx, row)
            row = await store.change_session(tx, row.id, **values) or row
            session = await read_session(tx, row)
            await self._events.append(tx, session_stream(row.id), ChatChanged(session=session))
            await tell_changed(tx, self._events, row.bot_id, "session")
            return session

    async def delete(self, account_id: str, session_id: str) -> Session:
        """An answer that is being written is stopped first: nobody would read it."""
        await self._stop_writing(account_id, session_id)
        await self._settling.settle(session_id)  # tells those who follow the answer that it has ended
        async with self._database.begin() as tx:
            row = await own_session(tx, account_id, session_id, lock=True)
            session = await read_session(tx, row)
            if session.is_answering:
                raise Conflict(
                    "Somebody has just asked something in this conversation.", hint="Stop the answer first."
                )
            await tell_changed(tx, self._events, row.bot_id, "session")
            await store.delete_session(tx, row.id)  # the messages before the stream, as whoever writes them
            await self._events.delete(tx, session_stream(row.id))
            return session

    async def search(self, bot: Bot, words: str, *, limit: int) -> list[SearchHit]:
        async with self._database.read() as tx:
            return await find_messages(tx, bot.id, words, limit)

    async def export(self, account_id: str, session_id: str, *, markdown: bool) -> str:
        await self._settling.settle(session_id)
        async with self._database.read() as tx:
            row = await own_session(tx, account_id, session_id)
            session, messages = await read_session(tx, row), await read_branch(tx, row)
            [bot] = await list_some(tx, [row.bot_id])
        return as_markdown(bot, session, messages) if markdown else as_json(bot, session, messages)

    async def may_watch(self, account_id: str, session_id: str) -> bool:
        async with self._database.read() as tx:
            row = await store.find_session(tx, session_id)
        return row is not None and row.account_id == account_id

    async def _stop_writing(self, account_id: str, session_id: str) -> None:
        async with self._database.read() as tx:
            row = await own_session(tx, account_id, session_id)
            writing = await store.find_writing(tx, row.id)
        for message in writing:
            if message.run_id:
                with suppress(Conflict, NotFound):  # it has ended meanwhile
                    await self._runs.cancel(account_id, message.run_id, by="deleted")


async def own_session(tx: Tx, account_id: str, session_id: str, *, lock: bool = False) -> SessionRow:
    """A conversation of somebody else looks exactly like one that does not exist."""
    row = await store.find_session(tx, session_id, lock=lock)
    if row is None or row.account_id != account_id:
        raise NotFound(f"There is no conversation {session_id}.")
    return row


async def _list(tx: Tx, bot_id: str, cursor: Cursor | None, limit: int) -> list[Session]:
    rows = await store.list_sessions(tx, bot_id, cursor=cursor, limit=limit)
    tallies = await store.count_sessions(tx, [row.id for row in rows])
    return [shown_session(row, tallies.get(row.id, Tally())) for row in rows]


async def _values(tx: Tx, row: SessionRow, change: SessionChange) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if change.title is not None and (change.title != row.title or not row.is_titled):
        values |= {"title": change.title, "is_titled": True}
    if change.head_id is not None:
        head_id = await _leaf(tx, row, change.head_id)
        values |= {"head_id": head_id} if head_id != row.head_id else {}
    return values


async def _leaf(tx: Tx, row: SessionRow, message_id: str) -> str:
    places = await store.list_places(tx, row.id)
    if message_id not in {place.id for place in places}:
        raise NotFound(f"There is no message {message_id} in this conversation.")
    return newest_leaf(places, message_id)
