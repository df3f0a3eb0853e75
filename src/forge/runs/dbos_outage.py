"""Lets DBOS wait for a database that is away, and go on soon after it is back.

DBOS knows an outage by the words of some drivers, and a full disk under SQLite not at all: a run would fail of it. And it waits
longer and longer, up to a minute and a half, each time with one of its few threads.
"""

# pyright: reportPrivateUsage=false, reportPrivateImportUsage=false

import time

from dbos import _sys_db, _utils
from sqlalchemy.exc import SQLAlchemyError

from forge.store.engine import is_outage
from forge.store.outage import LONGEST_RETRY_S


class Impatient:
    """The module `time` as `_sys_db` uses it; no sleep there is meant to be longer than this but that of a retry."""

    time = staticmethod(time.time)

    @staticmethod
    def sleep(seconds: float) -> None:
        time.sleep(min(seconds, LONGEST_RETRY_S))


def install() -> None:
    _sys_db.retriable_postgres_exception = may_pass
    _sys_db.time = Impatient  # pyright: ignore[reportAttributeAccessIssue]


def may_pass(error: Exception) -> bool:
    known = _utils.retriable_postgres_exception(error)
    return known or (isinstance(error, SQLAlchemyError) and is_outage(error))
