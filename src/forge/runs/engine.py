"""Adapter to DBOS. All calls to the engine go through this module, so that it can be replaced.

DBOS has one instance per process, and so has Forge (in `app.py`). Its tables are in our database, so that a run
and its queue entry, or an answer and its message, are committed together.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Literal

import sqlalchemy as sa
from dbos import DBOS, DBOSClient, DBOSConfig
from dbos._migration import get_dbos_migrations, sqlite_migrations
from dbos._serialization import DBOSPortableJSONSerializer
from sqlalchemy import event

from forge.runs import dbos_patches
from forge.runs.dbos_patches import MIN_QUEUE_WAIT_S, CachedQueue, OutageRetry, WakeableQueue
from forge.store.database import STALE_TRANSACTION_MS, Store, Tx, configure_sqlite, survives_outage

QUEUE = "forge"
WORKFLOW = "forge.run"
QUEUE_POLL_S = 0.1
"""Poll interval of a queue that several processes share."""
APPLICATION = "forge"
ENGINE_VERSION = "forge-1"
"""Changed only when the sequence of engine calls of runs changes. With the default of DBOS, a hash of the
source, any edit would strand unfinished runs."""

MESSAGE_POLL_S = 0.02
THREADS = 8


class Engine:
    def __init__(self, store: Store, worker_id: str) -> None:
        self._store = store
        self._worker_id = worker_id
        self._sqlite = _sqlite_engine(store.url) if store.is_sqlite else None
        self._client: DBOSClient | None = None
        self._patience = OutageRetry()
        self._quiet: CachedQueue | None = None
        self._prompt: WakeableQueue | None = None

    async def open(self, execute: Callable[[str], Awaitable[None]]) -> None:
        """Start executing runs on the running event loop."""
        engine = DBOS(config=self._config())
        logging.getLogger("dbos").addFilter(_is_relevant)

        @DBOS.workflow(name=WORKFLOW, max_recovery_attempts=None)
        async def run(run_id: str) -> None:  # pyright: ignore[reportUnusedFunction]
            await execute(run_id)

        self._patience.install()
        if self._store.is_sqlite:
            dbos_patches.install_message_polling()
        DBOS.launch()
        dbos_patches.install_engine_threads(engine, THREADS)
        database: Any = engine._sys_db  # pyright: ignore[reportPrivateUsage]
        if self._store.is_sqlite:
            self._quiet, self._prompt = CachedQueue(database), WakeableQueue(database, QUEUE)
        await self._register_queue()
        self._client = await asyncio.to_thread(self._open_client)

    async def enqueue(self, tx: Tx, run_id: str) -> None:
        """Enqueue a run if the transaction commits."""
        options: Any = {
            "queue_name": QUEUE,
            "workflow_name": WORKFLOW,
            "workflow_id": run_id,
            "app_version": ENGINE_VERSION,
        }
        client = self._opened()

        def enqueue(sync: sa.Connection) -> None:
            client.enqueue_in_transaction(sync, options, run_id)

        await tx.connection.run_sync(enqueue)
        if self._prompt:
            tx.after_commit(self._prompt.wake)

    async def send(self, tx: Tx, run_id: str, topic: str, message: Any, *, key: str) -> None:
        """Send a message to a run; a repeated `key` sends nothing."""
        client = self._opened()
        await tx.connection.run_sync(
            lambda sync: client.send_in_transaction(sync, run_id, message, topic, idempotency_key=key)
        )

    async def cancel(self, run_ids: Sequence[str]) -> None:
        await DBOS.cancel_workflows_async(list(run_ids))

    async def forget(self, run_ids: Sequence[str]) -> None:
        """Delete the journal of finished runs."""
        await DBOS.delete_workflows_async(list(run_ids))

    async def take_over(self, worker_id: str) -> int:
        """Return the runs of a dead worker to the queue. Idempotent."""
        recover: Any = DBOS._recover_pending_workflows  # pyright: ignore[reportPrivateUsage]
        return len(await asyncio.to_thread(recover, [worker_id]))

    async def close(self) -> None:
        self._patience.end()
        if self._prompt:
            self._prompt.close()
        if self._client:
            await asyncio.to_thread(self._client.destroy)
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1) as closer:
            await loop.run_in_executor(closer, partial(DBOS.destroy, destroy_registry=True))
        loop.set_default_executor(
            ThreadPoolExecutor()
        )  # DBOS installed its own executor and has just closed it
        if self._quiet:
            self._quiet.close()
        if self._sqlite:
            self._sqlite.dispose()

    @survives_outage
    async def _register_queue(self) -> None:
        """Register the queue: the only statement at startup that DBOS does not retry itself."""
        pause_s = MIN_QUEUE_WAIT_S if self._prompt else QUEUE_POLL_S
        await DBOS.register_queue_async(QUEUE, polling_interval_sec=pause_s, on_conflict="always_update")

    def _opened(self) -> DBOSClient:
        if self._client is None:
            raise RuntimeError("the run engine is not open")
        return self._client

    def _open_client(self) -> DBOSClient:
        where: Any = (
            {"system_database_engine": self._sqlite}
            if self._sqlite
            else {"system_database_url": _plain_url(self._store.url), "system_database_pool_size": 1}
        )
        return DBOSClient(
            **where, serializer=DBOSPortableJSONSerializer(), application_name=APPLICATION, lazy=True
        )

    def _config(self) -> DBOSConfig:
        config: DBOSConfig = {
            "name": APPLICATION,
            "system_database_url": _plain_url(self._store.url),
            "application_version": ENGINE_VERSION,
            "executor_id": self._worker_id,
            "serializer": DBOSPortableJSONSerializer(),
            "log_level": "WARNING",
            "max_executor_threads": THREADS,
            "notification_listener_polling_interval_sec": MESSAGE_POLL_S,
            "sys_db_idle_transaction_timeout_sec": STALE_TRANSACTION_MS / 1000,
            "sys_db_pool_size": 10,
            "enable_otlp": False,
        }
        if self._sqlite:
            config["system_database_engine"] = self._sqlite
        return config


def _plain_url(url: sa.URL) -> str:
    return url.render_as_string(hide_password=False)


def _sqlite_engine(url: sa.URL) -> sa.Engine:
    engine = sa.create_engine(url, pool_size=THREADS, max_overflow=THREADS, hide_parameters=True)

    def configure(connection: Any, record: Any) -> None:
        configure_sqlite(connection, record)
        connection.isolation_level = "IMMEDIATE"

    event.listen(engine, "connect", configure)
    return engine


def _is_relevant(record: logging.LogRecord) -> bool:
    """Drop log records about interrupted steps, of which there are many at every shutdown."""
    return record.module != "_outcome"


SCHEMA = "dbos"


def make_engine_tables(store_url: str) -> None:
    """Create missing tables of this version of DBOS; existing ones are not changed."""
    DBOS.migrate(store_url, schema=SCHEMA)


def make_sqlite_engine_tables(connection: sa.Connection, revision: int) -> None:
    """Create the tables of a schema revision of DBOS in an empty SQLite database."""
    connection.exec_driver_sql("CREATE TABLE dbos_migrations (version INTEGER NOT NULL PRIMARY KEY)")
    for script in sqlite_migrations[:revision]:
        for statement in filter(str.strip, script.split(";")):
            connection.exec_driver_sql(statement)


def newest_engine_revision(database: Literal["sqlite", "postgresql"]) -> int:
    """Return the latest schema revision of this version of DBOS."""
    if database == "sqlite":
        return len(sqlite_migrations)
    return len(get_dbos_migrations(SCHEMA, use_listen_notify=True, is_cockroach=False))
