"""SQLite for asyncio, with one trip to the connection's thread for a statement instead of four.

aiosqlite goes there to make a cursor, to execute, to fetch and to close; SQLAlchemy fetches all rows at once anyway, so all of it
is one errand. A transaction begins with its first statement, on the same trip, and one that only reads ends where it is: that
waits for nothing. A read was nine trips and is one; they were most of what it cost.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import aiosqlite

ITERATION_ROWS = 64
"""aiosqlite's own; nobody iterates here."""


def connect(database: str, *, writes: bool, **options: Any) -> "Connection":
    """To be awaited, as SQLAlchemy does."""
    return Connection(partial(sqlite3.connect, database, **options), writes=writes)


class Connection(aiosqlite.Connection):
    def __init__(self, connector: Callable[[], sqlite3.Connection], *, writes: bool) -> None:
        super().__init__(connector, ITERATION_ROWS)
        self._thread.daemon = True  # as SQLAlchemy makes it where it connects by itself
        self._writes = writes
        self.begin_with: str | None = None
        """Executed before the next statement."""
        self._stopping: asyncio.Future[None] | None = None

    def cursor(self) -> "Cursor":  # pyright: ignore[reportIncompatibleMethodOverride]
        return Cursor(self)

    async def commit(self) -> None:
        await self._end(self._conn.commit)

    async def rollback(self) -> None:
        await self._end(self._conn.rollback)

    async def _end(self, end: Callable[[], None]) -> None:
        """Also called when a connection goes back to its pool, and has nothing to do then: unless a commit failed."""
        self.begin_with = None
        if not self._conn.in_transaction:
            return
        if self._writes:
            await self.run(end)
        else:
            end()

    def stop(self) -> "asyncio.Future[None] | None":
        """Once: to a thread that has ended, a second call would be a question without an answer."""
        if self._stopping is None:
            self._stopping = super().stop()  # pyright: ignore[reportUnknownMemberType]
        return self._stopping

    async def run(self, function: Callable[..., None], *arguments: Any) -> None:
        """In the thread of the connection."""
        await self._execute(function, *arguments)  # pyright: ignore[reportUnknownMemberType]

    def perform(self, cursor: "Cursor", method: str, sql: str, parameters: Any) -> None:
        raw = self._conn.cursor()
        try:
            if self.begin_with:
                raw.execute(self.begin_with)
                self.begin_with = None  # not before: without it, what follows would be on its own
            getattr(raw, method)(sql, parameters)
            cursor.rows = raw.fetchall() if raw.description else []
            cursor.description, cursor.rowcount, cursor.lastrowid = (
                raw.description,
                raw.rowcount,
                raw.lastrowid,
            )
        finally:
            raw.close()


class Cursor:
    """What SQLAlchemy asks of one."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.rows: list[Any] = []
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.arraysize = 1

    async def __aenter__(self) -> "Cursor":
        return self

    async def execute(self, sql: str, parameters: Any = ()) -> "Cursor":
        await self._connection.run(self._connection.perform, self, "execute", sql, parameters)
        return self

    async def executemany(self, sql: str, parameters: Sequence[Any]) -> "Cursor":
        await self._connection.run(self._connection.perform, self, "executemany", sql, parameters)
        return self

    async def fetchall(self) -> list[Any]:
        rows, self.rows = self.rows, []
        return rows

    async def close(self) -> None:
        self.rows = []
