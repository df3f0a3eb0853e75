"""Transactions on SQLite or PostgreSQL.

SQLite has one writer: writes share a single connection and queue up in this process instead of failing with
"database is locked"; each begins IMMEDIATE, so a transaction never has to be upgraded half-way. Reads have
connections of their own and, in WAL mode, never wait for the writer.
"""

import errno
import sqlite3
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import AsyncAdaptedQueuePool

from forge.store import sqlite_driver

_SQLITE_PRAGMAS = (
    "PRAGMA synchronous=FULL",  # a commit survives power loss, not only kill -9
    "PRAGMA busy_timeout=30000",
    "PRAGMA foreign_keys=ON",
    "PRAGMA journal_size_limit=16777216",  # what a busy moment made of the write-ahead log is given back
)

STALE_TRANSACTION_MS = 5000
"""A frozen process may hold row locks this long; after that PostgreSQL frees them for the others."""

_SQLITE_PASSING = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,  # a file system that the kernel has closed for writing, until somebody looks at it
}

READERS = 4
_POSTGRESQL_FULL = "53100"

_SIZE = {
    "sqlite": "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
    "postgresql": "SELECT pg_database_size(current_database())",
}

BeforeCommit = Callable[[], Awaitable[object]]
AfterCommit = Callable[[], None]


class Tx:
    """One transaction; `after_commit` callbacks run only when it is durable."""

    def __init__(self, connection: AsyncConnection) -> None:
        self.connection = connection
        self._before: list[BeforeCommit] = []
        self._after: list[AfterCommit] = []

    @property
    def is_postgresql(self) -> bool:
        return self.connection.dialect.name == "postgresql"

    async def execute(self, statement: sa.Executable, parameters: Any = None) -> sa.CursorResult[Any]:
        return await self.connection.execute(statement, parameters)  # pyright: ignore[reportReturnType]

    def insert(self, table: sa.Table) -> postgresql.Insert | sqlite.Insert:
        """An INSERT with ON CONFLICT: both databases know it, SQLAlchemy only knows it per database."""
        return postgresql.insert(table) if self.is_postgresql else sqlite.insert(table)

    def before_commit(self, callback: BeforeCommit) -> None:
        """Write this last: for rows many transactions share, whose lock should be held shortly and taken in order."""
        self._before.append(callback)

    def after_commit(self, callback: AfterCommit) -> None:
        self._after.append(callback)

    async def finish_writing(self) -> None:
        for callback in self._before:
            await callback()

    def announce(self) -> None:
        for callback in self._after:
            callback()


class Store:
    """The only door to the database."""

    def __init__(self, url: str) -> None:
        self.url = sa.make_url(url)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        if self.is_sqlite:
            self._writer = _sqlite_engine(self.url, writes=True)
            self._reader = _sqlite_engine(self.url, writes=False)
        else:
            self._writer = self._reader = create_async_engine(
                self.url.set(drivername="postgresql+psycopg"),
                pool_size=10,
                max_overflow=10,
                pool_pre_ping=True,
                connect_args={"options": f"-c idle_in_transaction_session_timeout={STALE_TRANSACTION_MS}"},
            )

    @property
    def kind(self) -> str:
        return "sqlite" if self.is_sqlite else "postgresql"

    @property
    def path(self) -> Path | None:
        """Where SQLite keeps its file; None on PostgreSQL."""
        return Path(self.url.database) if self.is_sqlite and self.url.database else None

    @asynccontextmanager
    async def begin(self) -> AsyncGenerator[Tx]:
        """A transaction that writes: commits at the end, rolls back on any error."""
        async with self._writer.connect() as connection, connection.begin():
            tx = Tx(connection)
            yield tx
            await tx.finish_writing()
        tx.announce()

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[Tx]:
        """A transaction that only reads, from one consistent picture."""
        async with self._reader.connect() as connection, connection.begin():
            yield Tx(connection)

    async def use_write_ahead_log(self) -> None:
        """SQLite keeps it in the file for good: so only once that is known to be ours."""
        if self.is_sqlite:
            async with self._writer.connect() as connection:
                pooled = await connection.get_raw_connection()
                await connection.run_sync(lambda _: _write_ahead(pooled.dbapi_connection))

    async def size_bytes(self) -> int:
        async with self.read() as tx:
            return (await tx.execute(sa.text(_SIZE[self.kind]))).scalar_one()

    async def close(self) -> None:
        await self._writer.dispose()
        await self._reader.dispose()


def is_outage(error: SQLAlchemyError) -> bool:
    """The database is away, busy or took the connection back; what was asked may well work a moment later."""
    if isinstance(error, PoolTimeout):
        return True
    if not isinstance(error, DBAPIError):
        return False
    code: int | None = getattr(error.orig, "sqlite_errorcode", None)
    if code is not None:  # SQLite calls almost everything operational, a missing table included
        return code & 0xFF in _SQLITE_PASSING and code != sqlite3.SQLITE_READONLY_DBMOVED
    return isinstance(error, OperationalError | InterfaceError) or error.connection_invalidated


def is_disk_full(error: Exception) -> bool:
    """Of a file or of the database: it goes on when there is room again, and nothing that was saved is lost."""
    if isinstance(error, OSError):
        return error.errno in {errno.ENOSPC, errno.EDQUOT}
    original = error.orig if isinstance(error, DBAPIError) else None
    if isinstance(original, sqlite3.Error):
        return (original.sqlite_errorcode or 0) & 0xFF == sqlite3.SQLITE_FULL
    return getattr(original, "sqlstate", None) == _POSTGRESQL_FULL


def configure_sqlite(connection: Any, record: Any) -> None:
    """Set up a new connection to a file that is ours, as those of the run engine are."""
    _write_ahead(connection)
    _configure(connection, record)


def _write_ahead(connection: Any) -> None:
    """Not within a transaction."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.close()


def _configure(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for pragma in _SQLITE_PRAGMAS:
        cursor.execute(pragma)
    cursor.close()
    if sqlite3.sqlite_version_info < (3, 42):
        # The run engine's tables use unixepoch('subsec') from Python 3.12 on, whatever SQLite there is.
        connection.create_function("unixepoch", 1, _unixepoch)


def _unixepoch(_: str) -> float:
    return time.time()


def _sqlite_engine(url: sa.URL, *, writes: bool) -> AsyncEngine:
    engine = create_async_engine(
        url.set(drivername="sqlite+aiosqlite"),
        connect_args={
            "isolation_level": None,
            "async_creator_fn": partial(sqlite_driver.connect, writes=writes),
        },
        poolclass=AsyncAdaptedQueuePool,
        pool_size=1 if writes else READERS,
        max_overflow=0,
    )
    event.listen(engine.sync_engine, "connect", _configure)

    def begin_later(connection: sa.Connection) -> None:
        driver: Any = connection.connection.driver_connection
        driver.begin_with = "BEGIN IMMEDIATE" if writes else "BEGIN"

    event.listen(engine.sync_engine, "begin", begin_later)
    event.listen(engine.sync_engine, "invalidate", _roll_back)
    return engine


def _roll_back(connection: Any, _record: Any, _error: Any) -> None:
    """Before a connection is given up, as after a cancelled statement. SQLite closes one with a statement that somebody
    still refers to (a traceback is enough) only in name, and its lock would stay with nobody to release it."""
    driver = connection.driver_connection
    with suppress(ValueError):  # closed already
        driver._tx.put_nowait((None, driver._conn.rollback))
