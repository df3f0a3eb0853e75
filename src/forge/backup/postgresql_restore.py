"""Load a copy into PostgreSQL.

The existing tables are moved to another schema first. From then until the whole copy is loaded, in one transaction,
the database is marked as having an unfinished restore, and no Forge starts on it.
"""

from pathlib import Path

import psycopg
import sqlalchemy as sa
from psycopg import sql
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from forge.backup.database_copy import Connection, column_list, connect, table_identifier, tables_of
from forge.backup.models import DatabaseCopy, TableCopy
from forge.errors import Conflict, Invalid, Unavailable
from forge.runs.engine import SCHEMA as ENGINE_SCHEMA
from forge.runs.engine import make_engine_tables
from forge.runs.workers import LEASE_S
from forge.store.schema import UNFINISHED_RESTORE, upgrade

CHUNK = 1 << 20
LONG_AGO = "1970-01-01T00:00:00Z"
_FUNCTIONS = """
    SELECT p.oid::regprocedure::text FROM pg_proc p
    WHERE p.pronamespace = to_regnamespace(current_schema()) AND NOT EXISTS
      (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')"""


def check_replaceable(url: str, *, replace: bool) -> None:
    """Raise Conflict while a Forge uses the database, and when it is not empty unless `replace` is set."""
    with connect(url) as connection:
        names = {table.name for table in tables_of(connection, "forge")}
        if "workers" in names and (workers := _active_workers(connection)):
            raise Conflict(
                f"Forge is using this database: {workers}.", hint="Stop all servers and workers first."
            )
        if names and not replace and not is_unfinished(connection):
            raise Conflict(
                "The database is not empty.",
                hint="Restore into an empty one, or add --replace: existing tables are moved to another schema.",
            )


def is_unfinished(connection: Connection) -> bool:
    if not any(table.name == "alembic_version" for table in tables_of(connection, "forge")):
        return False
    return connection.execute("SELECT version_num FROM alembic_version").fetchone() == (UNFINISHED_RESTORE,)


def load_database(url: str, copy: DatabaseCopy, folder: Path, *, aside: str) -> str | None:
    """Return the name of the schema the existing tables were moved to, or None if there were none."""
    with connect(url) as connection:
        moved = _set_aside(connection, aside)
    make_engine_tables(url)
    engine = sa.create_engine(sa.make_url(url).set(drivername="postgresql+psycopg"))
    try:
        with engine.begin() as transaction:
            transaction.execute(sa.text("DELETE FROM alembic_version"))
            upgrade(transaction, copy.revision)
            _fill(transaction, copy, folder)
    except (SQLAlchemyError, psycopg.Error) as error:
        why = str(error.orig if isinstance(error, DBAPIError) else error).strip()
        raise Unavailable(f"PostgreSQL: {why}", hint="Run it again: forge restore FILE") from error
    finally:
        engine.dispose()
    return moved


def _set_aside(connection: Connection, aside: str) -> str | None:
    """Move the existing tables and set the marker in one transaction. Tables of an unfinished restore are not kept."""
    connection.execute("SET LOCAL lock_timeout = '10s'")
    own, engine = tables_of(connection, "forge"), tables_of(connection, "engine")
    if is_unfinished(connection) or not own:
        moved = None
    else:
        moved = aside
        target = sql.Identifier(aside)
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(target))
        for table in own:
            connection.execute(
                sql.SQL("ALTER TABLE {} SET SCHEMA {}").format(table_identifier(table), target)
            )
        for (signature,) in connection.execute(_FUNCTIONS).fetchall():
            connection.execute(sql.SQL("ALTER FUNCTION {} SET SCHEMA {}").format(sql.SQL(signature), target))
    if engine and moved:
        renamed = sql.Identifier(f"{aside}_{ENGINE_SCHEMA}")
        connection.execute(
            sql.SQL("ALTER SCHEMA {} RENAME TO {}").format(sql.Identifier(ENGINE_SCHEMA), renamed)
        )
    connection.execute("CREATE TABLE IF NOT EXISTS alembic_version (version_num VARCHAR(32) PRIMARY KEY)")
    connection.execute("DELETE FROM alembic_version")
    connection.execute("INSERT INTO alembic_version VALUES (%s)", (UNFINISHED_RESTORE,))
    return moved


def _fill(transaction: sa.Connection, copy: DatabaseCopy, folder: Path) -> None:
    raw: Connection = transaction.connection.driver_connection  # pyright: ignore[reportAssignmentType]
    copied = {(table.home, table.name): table for table in copy.tables}
    present = {table.name for table in tables_of(raw, "forge")}
    if unknown := sorted(name for home, name in copied if home == "forge" and name not in present):
        raise Invalid(f"The backup contains unknown tables: {', '.join(unknown)}.")
    for name in _tables_in_order(transaction, None):
        if table := copied.get(("forge", name)):
            _copy_in(raw, table, folder)
    for name in _tables_in_order(transaction, ENGINE_SCHEMA):
        if (table := copied.get(("engine", name))) and name != "dbos_migrations":
            _copy_in(raw, table, folder)
    # Expired, so that the first server to start takes over their runs.
    raw.execute("UPDATE workers SET seen_at = %s", (LONG_AGO,))


def _tables_in_order(transaction: sa.Connection, schema: str | None) -> list[str]:
    """Return table names, referenced tables first."""
    found = sa.inspect(transaction).get_sorted_table_and_fkc_names(schema)
    return [name for name, _ in found if name]


def _copy_in(connection: Connection, table: TableCopy, folder: Path) -> None:
    connection.execute(sql.SQL("DELETE FROM {}").format(table_identifier(table)))
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(table_identifier(table), column_list(table))
    with (
        (folder / table.path).open("rb") as file,
        connection.cursor() as cursor,
        cursor.copy(statement) as copy,
    ):
        while data := file.read(CHUNK):
            copy.write(data)


def _active_workers(connection: Connection) -> str:
    found = connection.execute(
        "SELECT host || ':' || pid FROM workers WHERE seen_at > clock_timestamp() - make_interval(secs => %s)",
        (LEASE_S,),
    )
    return ", ".join(workers for (workers,) in found.fetchall())
