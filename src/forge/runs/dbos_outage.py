"""Lets DBOS wait for a database that is away, and go on soon after it is back.

DBOS knows an outage by the words of some drivers, and a full disk under SQLite not at all: a run would fail of it. And it waits
longer and longer, up to a minute and a half, each time with one of its few threads.
"""

# pyright: reportPrivateUsage=false, reportPrivateImportUsage=false

import threading
import time

from dbos import _sys_db, _utils
from sqlalchemy.exc import SQLAlchemyError

from forge.store.engine import is_outage
from forge.store.outage import LONGEST_RETRY_S


class Patience:
    """Takes the place of the module `time` in `_sys_db`, whose only long sleep is that before a retry; and says what is worth
    one. It ends with the engine: a thread that went on trying would keep the process from ending."""

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
