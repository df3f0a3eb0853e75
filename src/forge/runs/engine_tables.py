"""The tables of DBOS in PostgreSQL: their place, and making them before there is anything to run."""

from typing import Literal

from dbos import DBOS
from dbos._migration import get_dbos_migrations, sqlite_migrations

SCHEMA = "dbos"


def make_engine_tables(store_url: str) -> None:
    """As this version of DBOS has them; makes what is missing, changes nothing that is there."""
    DBOS.migrate(store_url, schema=SCHEMA)


def newest_engine_revision(database: Literal["sqlite", "postgresql"]) -> int:
    """Up to where this version of DBOS knows its tables."""
    if database == "sqlite":
        return len(sqlite_migrations)
    return len(get_dbos_migrations(SCHEMA, use_listen_notify=True, is_cockroach=False))
