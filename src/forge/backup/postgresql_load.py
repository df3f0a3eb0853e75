"""Puts a copy into PostgreSQL. What was there is moved to a schema of its own first; from then until all of the copy is
in, which is one transaction, the database says of itself that a restore is unfinished, and no Forge starts on it."""

from pathlib import Path

import psycopg
import sqlalchemy as sa
from psycopg import sql
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from forge.backup.models import DatabaseCopy, TableCopy
from forge.backup.postgresql_copy import Connection, columns, connect, place, tables_of
from forge.errors import Conflict, Invalid, Unavailable
from forge.runs.engine_tables import SCHEMA as ENGINE_SCHEMA
from forge.runs.engine_tables import make_engine_tables
from forge.runs.workers import LEASE_S
from forge.store.schema import UNFINISHED, upgrade

CHUNK = 1 << 20
LONG_AGO = "1970-01-01T00:00:00Z"
_FUNCTIONS = """
    SELECT p.oid::regprocedure::text FROM pg_proc p
    WHERE p.pronamespace = to_regnamespace(current_schema()) AND NOT EXISTS
      (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')"""


def check_free(url: str, *, replace: bool) -> None:
    """Refused while a Forge works on the database, and when there is something in it that nobody gave up."""
    with connect(url) as connection:
        names = {table.name for table in tables_of(connection, "forge")}
        if "workers" in names and (who := _living(connection)):
            raise Conflict(
                f"Forge works on this database: {who}.", hint="Stop every server and worker of it first."
            )
        if names and not replace and not is_unfinished(connection):
            raise Conflict(
                "The database is not empty.",
                hint="Restore into an empty one, or add --replace: what is there is kept, in a schema of its own.",
            )


def is_unfinished(connection: Connection) -> bool:
    if not any(table.name == "alembic_version" for table in tables_of(connection, "forge")):
        return False
    return connection.execute("SELECT version_num FROM alembic_version").fetchone() == (UNFINISHED,)


def load_database(url: str, copy: DatabaseCopy, folder: Path, *, aside: str) -> str | None:
    """The name of the schema that what was there is in now; None when there was nothing."""
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
        raise Unavailable(f"PostgreSQL: {why}", hint="Do it again: forge restore FILE") from error
    finally:
        engine.dispose()
    return moved


def _set_aside(connection: Connection, aside: str) -> str | None:
    """In one transaction with the mark. What an unfinished restore has left is of no use to anybody."""
    connection.execute("SET LOCAL lock_timeout = '10s'")
    own, engine = tables_of(connection, "forge"), tables_of(connection, "engine")
    if is_unfinished(connection) or not own:
        moved = None
    else:
        moved = aside
        target = sql.Identifier(aside)
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(target))
        for table in own:
            connection.execute(sql.SQL("ALTER TABLE {} SET SCHEMA {}").format(place(table), target))
        for (signature,) in connection.execute(_FUNCTIONS).fetchall():
            connection.execute(sql.SQL("ALTER FUNCTION {} SET SCHEMA {}").format(sql.SQL(signature), target))
    if engine and moved:
        renamed = sql.Identifier(f"{aside}_{ENGINE_SCHEMA}")
        connection.execute(
            sql.SQL("ALTER SCHEMA {} RENAME TO {}").format(sql.Identifier(ENGINE_SCHEMA), renamed)
        )
    connection.execute("CREATE TABLE IF NOT EXISTS alembic_version (version_num VARCHAR(32) PRIMARY KEY)")
    connection.execute("DELETE FROM alembic_version")
    connection.execute("INSERT INTO alembic_version VALUES (%s)", (UNFINISHED,))
    return moved


def _fill(transaction: sa.Connection, copy: DatabaseCopy, folder: Path) -> None:
    raw: Connection = transaction.connection.driver_connection  # pyright: ignore[reportAssignmentType]
    given = {(table.home, table.name): table for table in copy.tables}
    present = {table.name for table in tables_of(raw, "forge")}
    if strange := sorted(name for home, name in given if home == "forge" and name not in present):
        raise Invalid(f"The backup has tables that are not Forge's: {', '.join(strange)}.")
    for name in _in_order(transaction, None):
        if table := given.get(("forge", name)):
            _copy_in(raw, table, folder)
    for name in _in_order(transaction, ENGINE_SCHEMA):
        if (table := given.get(("engine", name))) and name != "dbos_migrations":
            _copy_in(raw, table, folder)
    raw.execute(
        "UPDATE workers SET seen_at = %s", (LONG_AGO,)
    )  # their runs are taken over by whoever starts first


def _in_order(transaction: sa.Connection, schema: str | None) -> list[str]:
    """What others refer to first."""
    found = sa.inspect(transaction).get_sorted_table_and_fkc_names(schema)
    return [name for name, _ in found if name]


def _copy_in(connection: Connection, table: TableCopy, folder: Path) -> None:
    connection.execute(sql.SQL("DELETE FROM {}").format(place(table)))
    statement = sql.SQL("COPY {} ({}) FROM STDIN").format(place(table), columns(table))
    with (
        (folder / table.path).open("rb") as file,
        connection.cursor() as cursor,
        cursor.copy(statement) as copy,
    ):
        while data := file.read(CHUNK):
            copy.write(data)


def _living(connection: Connection) -> str:
    found = connection.execute(
        "SELECT host || ':' || pid FROM workers WHERE seen_at > clock_timestamp() - make_interval(secs => %s)",
        (LEASE_S,),
    )
    return ", ".join(who for (who,) in found.fetchall())
