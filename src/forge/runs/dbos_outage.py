"""Lets DBOS wait for a database that is away, also when the driver puts it in words that DBOS does not look for."""

# pyright: reportPrivateUsage=false, reportPrivateImportUsage=false

from dbos import _sys_db
from sqlalchemy.exc import SQLAlchemyError

from forge.store.engine import is_outage


def install() -> None:
    known = _sys_db.retriable_postgres_exception

    def may_pass(error: Exception) -> bool:
        return known(error) or (isinstance(error, SQLAlchemyError) and is_outage(error))

    _sys_db.retriable_postgres_exception = may_pass
