"""SQLite for asyncio, with one round trip to the connection's thread per statement.

aiosqlite makes four: create a cursor, execute, fetch, close. SQLAlchemy fetches all rows at once anyway, so they are
one call here. A transaction begins in the call of its first statement, and a read-only one ends on the event loop,
because that never blocks. A read took nine round trips, which were most of its cost, and now takes one.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import aiosqlite

ITERATION_ROWS = 64
"""aiosqlite's default; unused here."""


def connect(database: str, *, writes: bool, **options: Any) -> "Connection":
    """Return a connection for SQLAlchemy to await."""
    return Connection(partial(sqlite3.connect, database, **options), writes=writes)


class Connection(aiosqlite.Connection):
    def __init__(self, connector: Callable[[], sqlite3.Connection], *, writes: bool) -> None:
        super().__init__(connector, ITERATION_ROWS)
        self._thread.daemon = True  # as SQLAlchemy does for its own connections
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
        """End a transaction. The pool also calls it for a returned connection, where it does nothing unless a commit failed."""
        self.begin_with = None
        if not self._conn.in_transaction:
            return
        if self._writes:
            await self.run(end)
        else:
            end()

    def stop(self) -> "asyncio.Future[None] | None":
        """Stop the thread once: a second call to a stopped thread would never return."""
        if self._stopping is None:
            self._stopping = super().stop()  # pyright: ignore[reportUnknownMemberType]
        return self._stopping

    async def run(self, function: Callable[..., None], *arguments: Any) -> None:
        """Run the function in the connection's thread."""
        await self._execute(function, *arguments)  # pyright: ignore[reportUnknownMemberType]

    def perform(self, cursor: "Cursor", method: str, sql: str, parameters: Any) -> None:
        raw = self._conn.cursor()
        try:
            if self.begin_with:
                raw.execute(self.begin_with)
                self.begin_with = (
                    None  # after BEGIN: if that fails, the next statement must not run outside a transaction
                )
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
    """The part of a cursor that SQLAlchemy uses."""

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
