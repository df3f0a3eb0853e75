"""Patches of DBOS internals: polling on SQLite, waking the queue, outages of the database, threads.

They replace private methods of DBOS; `test_engine_contract.py` fails if a new release no longer has them.
"""

# pyright: reportPrivateUsage=false, reportPrivateImportUsage=false

import json
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import Context
from functools import partial
from threading import Event, Lock
from typing import Any, ParamSpec, TypeVar

from dbos import DBOS, _sys_db, _utils
from dbos._sys_db_sqlite import SQLiteSystemDatabase
from sqlalchemy.exc import SQLAlchemyError

from forge.store.database import LONGEST_RETRY_S, is_outage

log = logging.getLogger(__name__)

_MESSAGES = (
    "SELECT destination_uuid, topic FROM notifications "
    "WHERE consumed = 0 AND destination_uuid IN (SELECT value FROM json_each(?))"
)
"""Restricted to waiting runs, because unread messages are kept as long as their run."""
_EVENT = "SELECT 1 FROM workflow_events WHERE workflow_uuid = ? AND key = ?"
RETRY_S = 0.5


def install_message_polling() -> None:
    """Poll for messages on SQLite with one PRAGMA per tick instead of a query per waiter.

    `PRAGMA data_version` changes only when another connection has committed, so until then nothing needs to
    be read. 1,000 waiting runs cost 2 % of a core instead of 93 % (measured at 20 ms).
    """
    SQLiteSystemDatabase._notification_listener_polling = _poll  # pyright: ignore[reportPrivateUsage]


def _poll(self: Any) -> None:
    connection = _own_connection(self)
    seen: int | None = None
    while self._run_background_processes:
        time.sleep(self._notification_listener_polling_interval_sec)
        try:
            version = _version(connection)
            if version != seen:
                _signal_waiters(self, connection)
                seen = version
        except Exception:
            if self._run_background_processes:
                log.exception("cannot poll for messages; retrying")
                time.sleep(RETRY_S)
    connection.close()


def _signal_waiters(database: Any, connection: Any) -> None:
    if waiting := database.notifications_map.snapshot():
        run_ids = json.dumps([key[0] for _, key, _ in waiting])
        arrived = set(connection.execute(_MESSAGES, (run_ids,)).fetchall())
        for _, key, event in waiting:
            if tuple(key) in arrived:
                event.set()
    for _, key, event in database.workflow_events_map.snapshot():
        if connection.execute(_EVENT, tuple(key)).fetchone():
            event.set()


class CachedQueue:
    """Skips polling an unchanged queue, which was half of the cost of an idle server.

    The version is read before the queue, so that a concurrent commit is seen by the next poll.
    """

    def __init__(self, database: Any) -> None:
        self._dequeue, self._read_queue = database.start_queued_workflows, database.get_queue
        self._connection, self._lock = _own_connection(database), Lock()
        self._empty_at: dict[str, int] = {}
        self._read_at: dict[str, tuple[int, Any]] = {}
        database.start_queued_workflows, database.get_queue = self.dequeue, self.read_queue

    def dequeue(self, queue: Any, *args: Any, **more: Any) -> tuple[list[str], Any]:
        version = self._version()
        if self._empty_at.get(queue.name) == version:
            return [], None
        found, reason = self._dequeue(queue, *args, **more)
        if not found:
            self._empty_at[queue.name] = version
        return found, reason

    def read_queue(self, name: str, **more: Any) -> Any:
        version, known = self._version(), self._read_at.get(name)
        if known is not None and known[0] == version and not more:
            return known[1]
        queue = self._read_queue(name, **more)
        if not more:
            self._read_at[name] = version, queue
        return queue

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _version(self) -> int:
        with self._lock:
            return _version(self._connection)


def _own_connection(database: Any) -> Any:
    raw = database.engine.raw_connection()
    raw.detach()
    return raw.dbapi_connection


def _version(connection: Any) -> int:
    return connection.execute("PRAGMA data_version").fetchone()[0]


MAX_QUEUE_WAIT_S = 0.5
"""Poll interval without a wake-up, for runs that were returned to the queue silently."""
MIN_QUEUE_WAIT_S = 0.01
"""Minimum interval, so that runs enqueued at the same time are dequeued together."""


class WakeableQueue:
    """Starts a run when it is committed instead of at the next poll.

    DBOS polls with a minimal pause and blocks here, where a commit can wake it. Only used on SQLite, with its
    single process: of several, the one that enqueues a run would always win and execute everything.
    """

    def __init__(self, database: Any, name: str) -> None:
        self._dequeue, self._name = database.start_queued_workflows, name
        self._woken = Event()
        self._is_open = True
        database.start_queued_workflows = self.dequeue

    def wake(self) -> None:
        self._woken.set()

    def close(self) -> None:
        """Stop dequeuing and release waiting threads."""
        self._is_open = False
        self._woken.set()

    def dequeue(self, queue: Any, *args: Any, **more: Any) -> Any:
        if queue.name == self._name:
            self._woken.wait(MAX_QUEUE_WAIT_S)
            if not self._is_open:
                return [], None
            self._woken.clear()
        return self._dequeue(queue, *args, **more)


class OutageRetry:
    """Makes DBOS wait for an unavailable database and continue soon after it is back.

    DBOS recognizes an outage only by the messages of some drivers, does not recognize a full disk under
    SQLite at all, and waits up to 90 seconds between retries. This replaces the module `time` in `_sys_db`,
    whose only long sleep is that before a retry, and decides what is retried. It ends with the engine: a
    retrying thread would keep the process alive.
    """

    time = staticmethod(time.time)

    def __init__(self) -> None:
        self._is_over = threading.Event()

    def install(self) -> None:
        _sys_db.retriable_postgres_exception = self.is_worth_a_retry
        _sys_db.time = self  # pyright: ignore[reportAttributeAccessIssue]

    def end(self) -> None:
        self._is_over.set()

    def sleep(self, seconds: float) -> None:
        self._is_over.wait(min(seconds, LONGEST_RETRY_S))

    def is_worth_a_retry(self, error: Exception) -> bool:
        if self._is_over.is_set():
            return False
        known = _utils.retriable_postgres_exception(error)
        return known or (isinstance(error, SQLAlchemyError) and is_outage(error))


P = ParamSpec("P")
T = TypeVar("T")


class EngineThreads(ThreadPoolExecutor):
    """Thread pool of DBOS that delegates work of others to a second pool.

    DBOS installs its pool as the default of the event loop. On SQLite all its threads may wait for the write
    lock; if the holder of the lock then waits for a thread of the same pool, both are deadlocked.
    """

    def __init__(self, threads: int) -> None:
        super().__init__(max_workers=threads, thread_name_prefix="engine")
        self._others = ThreadPoolExecutor()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        pool = super() if _is_of_engine(fn) else self._others
        return pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait, cancel_futures=cancel_futures)
        self._others.shutdown(wait, cancel_futures=cancel_futures)


def install_engine_threads(engine: DBOS, threads: int) -> None:
    """Replace the thread pool of DBOS; running work finishes in the old one."""
    launched: ThreadPoolExecutor | None = engine._executor_field  # pyright: ignore[reportPrivateUsage]
    engine._executor_field = EngineThreads(threads)  # pyright: ignore[reportPrivateUsage]
    if launched is not None:
        launched.shutdown(wait=False)


def _is_of_engine(function: Any) -> bool:
    """Return whether a function belongs to DBOS, unwrapping the partials of `asyncio.to_thread`."""
    while isinstance(function, partial):
        is_in_context = isinstance(getattr(function.func, "__self__", None), Context)
        function = function.args[0] if is_in_context else function.func
    return str(getattr(function, "__module__", "")).partition(".")[0] == "dbos"
