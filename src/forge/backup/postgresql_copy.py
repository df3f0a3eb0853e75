"""A consistent copy of a PostgreSQL database in use: every table, read in one snapshot."""

import contextlib
from collections.abc import Generator
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal

import psycopg
from psycopg import sql

from forge.backup.describing import describe
from forge.backup.models import DatabaseCopy, TableCopy
from forge.errors import NotFound, Unavailable
from forge.runs.engine_tables import SCHEMA as ENGINE_SCHEMA

CONNECT_TIMEOUT_S = 10
_TABLES = """
    SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = to_regnamespace(%s) AND c.relkind = 'r'
      AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    GROUP BY c.relname ORDER BY c.relname"""

Connection = psycopg.Connection[tuple[Any, ...]]


@contextlib.contextmanager
def connect(url: str) -> Generator[Connection]:
    try:
        with psycopg.connect(url, connect_timeout=CONNECT_TIMEOUT_S) as connection:
            yield connection
    except psycopg.Error as error:
        raise Unavailable(
            f"PostgreSQL: {str(error).strip() or type(error).__name__}",
            hint="Check FORGE_DATABASE_URL, and that PostgreSQL runs there.",
        ) from error


def copy_database(connection: Connection, folder: Path) -> DatabaseCopy:
    """A file for each table, as COPY writes it."""
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    own, engine = tables_of(connection, "forge"), tables_of(connection, "engine")
    if not own:
        raise NotFound("There is nothing in the database yet.", hint="Start Forge once: forge serve")
    for table in (*own, *engine):
        statement = sql.SQL("COPY {} ({}) TO STDOUT").format(place(table), columns(table))
        with (
            _create(folder / table.path) as file,
            connection.cursor() as cursor,
            cursor.copy(statement) as copy,
        ):
            for data in copy:
                file.write(data)
    return describe(
        "postgresql",
        partial(_values, connection),
        {table.name for table in own},
        engine=f"{ENGINE_SCHEMA}.dbos_migrations" if engine else None,
        tables=[*own, *engine],
    )


def tables_of(connection: Connection, home: Literal["forge", "engine"]) -> list[TableCopy]:
    schema = ENGINE_SCHEMA if home == "engine" else _values(connection, "SELECT current_schema()")[0]
    found = connection.execute(_TABLES, (schema,)).fetchall()
    return [TableCopy(home=home, name=name, columns=names) for name, names in found]


def place(table: TableCopy) -> sql.Identifier:
    """Forge's own tables are found where new ones are made."""
    return sql.Identifier(ENGINE_SCHEMA, table.name) if table.home == "engine" else sql.Identifier(table.name)


def columns(table: TableCopy) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, table.columns))


def _create(path: Path) -> IO[bytes]:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path.open("wb")


def _values(connection: Connection, query: str) -> list[Any]:
    return [value for (value,) in connection.execute(sql.SQL(query)).fetchall()]  # pyright: ignore[reportArgumentType]
