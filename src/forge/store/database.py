"""Transactions on SQLite or PostgreSQL.

SQLite has one writer: writes share a single connection and queue up in this process instead of failing with
"database is locked". Each begins IMMEDIATE, so a transaction never has to be upgraded. Reads have their own
connections and, in WAL mode, never wait for the writer.
"""

import asyncio
import errno
import logging
import sqlite3
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

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
    "PRAGMA journal_size_limit=16777216",  # shrink the write-ahead log after a burst of writes
)

STALE_TRANSACTION_MS = 5000
"""How long a frozen process can hold row locks; then PostgreSQL releases them."""

_SQLITE_TRANSIENT = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,  # a file system that the kernel remounted read-only after an error
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
    """A transaction. `after_commit` callbacks run only when it is durable."""

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
        """Return an INSERT that supports ON CONFLICT, which SQLAlchemy has per dialect."""
        return postgresql.insert(table) if self.is_postgresql else sqlite.insert(table)

    def before_commit(self, callback: BeforeCommit) -> None:
        """Run the callback last, for rows shared by many transactions: their locks are held briefly and taken in order."""
        self._before.append(callback)

    def after_commit(self, callback: AfterCommit) -> None:
        self._after.append(callback)

    async def run_before_commit(self) -> None:
        for callback in self._before:
            await callback()

    def run_after_commit(self) -> None:
        for callback in self._after:
            callback()


class Store:
    """The database: its engines and transactions."""

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
        """The SQLite file; None on PostgreSQL."""
        return Path(self.url.database) if self.is_sqlite and self.url.database else None

    @asynccontextmanager
    async def begin(self) -> AsyncGenerator[Tx]:
        """Open a write transaction: commits at the end, rolls back on any error."""
        async with self._writer.connect() as connection, connection.begin():
            tx = Tx(connection)
            yield tx
            await tx.run_before_commit()
        tx.run_after_commit()

    @asynccontextmanager
    async def read(self) -> AsyncGenerator[Tx]:
        """Open a read-only transaction on a consistent snapshot."""
        async with self._reader.connect() as connection, connection.begin():
            yield Tx(connection)

    async def enable_wal(self) -> None:
        """Switch SQLite to WAL mode. The file keeps the mode, so call this only once the file is known to be Forge's."""
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
    """Return whether the database is unreachable, busy or dropped the connection, so that a retry can succeed."""
    if isinstance(error, PoolTimeout):
        return True
    if not isinstance(error, DBAPIError):
        return False
    code: int | None = getattr(error.orig, "sqlite_errorcode", None)
    if code is not None:  # SQLite reports almost everything as operational, even a missing table
        return code & 0xFF in _SQLITE_TRANSIENT and code != sqlite3.SQLITE_READONLY_DBMOVED
    return isinstance(error, OperationalError | InterfaceError) or error.connection_invalidated


def is_disk_full(error: Exception) -> bool:
    """Return whether a file or database operation failed because the disk is full."""
    if isinstance(error, OSError):
        return error.errno in {errno.ENOSPC, errno.EDQUOT}
    original = error.orig if isinstance(error, DBAPIError) else None
    if isinstance(original, sqlite3.Error):
        return (original.sqlite_errorcode or 0) & 0xFF == sqlite3.SQLITE_FULL
    return getattr(original, "sqlstate", None) == _POSTGRESQL_FULL


def configure_sqlite(connection: Any, record: Any) -> None:
    """Configure a new connection to Forge's own file; also used for the run engine's connections."""
    _write_ahead(connection)
    _configure(connection, record)


def _write_ahead(connection: Any) -> None:
    """Set WAL mode. Must run outside a transaction."""
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.close()


def _configure(connection: Any, _record: Any) -> None:
    cursor = connection.cursor()
    for pragma in _SQLITE_PRAGMAS:
        cursor.execute(pragma)
    cursor.close()
    if sqlite3.sqlite_version_info < (3, 42):
        # From Python 3.12 on the run engine's tables use unixepoch('subsec'), also with an older SQLite.
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
    """Roll back before a connection is discarded, for instance after a cancelled statement. While a statement is still
    referenced (a traceback is enough), closing the connection would not release SQLite's lock."""
    driver = connection.driver_connection
    with suppress(ValueError):  # closed already
        driver._tx.put_nowait((None, driver._conn.rollback))


log = logging.getLogger(__name__)

FIRST_RETRY_S = 0.1
LONGEST_RETRY_S = 5.0

P = ParamSpec("P")
T = TypeVar("T")


def survives_outage(function: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """Retry until the database is back, so that an outage makes a run wait instead of fail. Log the outage once."""

    @wraps(function)
    async def persistent(*args: P.args, **kwargs: P.kwargs) -> T:
        delay_s = FIRST_RETRY_S
        while True:
            try:
                return await function(*args, **kwargs)
            except SQLAlchemyError as error:
                if not is_outage(error):
                    raise
                if delay_s == FIRST_RETRY_S:
                    log.warning("the database is unavailable, retrying until it is back: %s", error)
            await asyncio.sleep(delay_s)
            delay_s = min(delay_s * 2, LONGEST_RETRY_S)

    return persistent
