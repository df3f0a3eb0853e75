"""Copy a SQLite or PostgreSQL database in use, and describe it for the manifest."""

import contextlib
import sqlite3
from collections.abc import Callable, Collection, Generator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, Any, Literal

import psycopg
from psycopg import sql

from forge.accounts.vault import OWN_SCOPE
from forge.backup.models import DatabaseCopy, TableCopy
from forge.errors import NotFound, Unavailable
from forge.runs.engine import SCHEMA as ENGINE_SCHEMA
from forge.store.schema import copy_sqlite

_REVISION = "SELECT version_num FROM alembic_version"
_SECRETS = (
    "SELECT CASE scope WHEN '' THEN name ELSE name || ' of ' || scope END FROM secrets "  # noqa: S608  (our own)
    f"WHERE scope <> '{OWN_SCOPE}' ORDER BY scope, name"
)
_EXTERNAL_FOLDERS = "SELECT path FROM workspaces WHERE path IS NOT NULL ORDER BY 1"

Query = Callable[[str], list[Any]]
"""Runs a query and returns its first column."""


def describe(
    kind: Literal["sqlite", "postgresql"],
    query: Query,
    names: Collection[str],
    *,
    engine: str | None,
    tables: Sequence[TableCopy] = (),
) -> DatabaseCopy:
    """`names` are Forge's own tables; `engine` is the table with the run engine's schema version."""
    return DatabaseCopy(
        kind=kind,
        revision=query(_REVISION)[0],
        engine_revision=next(iter(query(f"SELECT version FROM {engine}")), None) if engine else None,  # noqa: S608
        tables=list(tables),
        secrets=query(_SECRETS),
        outside=query(_EXTERNAL_FOLDERS) if "workspaces" in names else [],
    )


def copy_sqlite_database(source: Path, target: Path) -> DatabaseCopy:
    try:
        copy_sqlite(source, target)
        with contextlib.closing(sqlite3.connect(target)) as copy:
            (check_result,) = copy.execute("PRAGMA quick_check(1)").fetchone()
            if check_result != "ok":
                raise sqlite3.DatabaseError(check_result)
            return _describe(copy)
    except sqlite3.Error as error:
        raise Unavailable(
            f"Cannot copy the database {source}: {error}.",
            hint="Check it: forge doctor. If the disk is full, free some space or write the backup elsewhere.",
        ) from error


def _describe(copy: sqlite3.Connection) -> DatabaseCopy:
    def query(statement: str) -> list[Any]:
        return [value for (value,) in copy.execute(statement)]

    tables = set(query("SELECT name FROM sqlite_master WHERE type = 'table'"))
    engine = "dbos_migrations" if "dbos_migrations" in tables else None
    return describe("sqlite", query, tables, engine=engine)


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
            hint="Check FORGE_DATABASE_URL, and that PostgreSQL is running.",
        ) from error


def copy_postgresql_database(connection: Connection, folder: Path) -> DatabaseCopy:
    """Write each table to a file in the format of COPY."""
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    connection.read_only = True
    own, engine = tables_of(connection, "forge"), tables_of(connection, "engine")
    if not own:
        raise NotFound("The database is empty.", hint="Start Forge once: forge serve")
    for table in (*own, *engine):
        statement = sql.SQL("COPY {} ({}) TO STDOUT").format(table_identifier(table), column_list(table))
        with (
            _create(folder / table.path) as file,
            connection.cursor() as cursor,
            cursor.copy(statement) as copy,
        ):
            for data in copy:
                file.write(data)
    return describe(
        "postgresql",
        partial(_query_column, connection),
        {table.name for table in own},
        engine=f"{ENGINE_SCHEMA}.dbos_migrations" if engine else None,
        tables=[*own, *engine],
    )


def tables_of(connection: Connection, home: Literal["forge", "engine"]) -> list[TableCopy]:
    schema = ENGINE_SCHEMA if home == "engine" else _query_column(connection, "SELECT current_schema()")[0]
    found = connection.execute(_TABLES, (schema,)).fetchall()
    return [TableCopy(home=home, name=name, columns=names) for name, names in found]


def table_identifier(table: TableCopy) -> sql.Identifier:
    """Forge's tables need no schema: the search path finds them."""
    return sql.Identifier(ENGINE_SCHEMA, table.name) if table.home == "engine" else sql.Identifier(table.name)


def column_list(table: TableCopy) -> sql.Composed:
    return sql.SQL(", ").join(map(sql.Identifier, table.columns))


def _create(path: Path) -> IO[bytes]:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path.open("wb")


def _query_column(connection: Connection, query: str) -> list[Any]:
    return [value for (value,) in connection.execute(sql.SQL(query)).fetchall()]  # pyright: ignore[reportArgumentType]
