"""Read and check the database in an unpacked backup.

Whoever creates an archive chooses its contents. A schema other than Forge's could hide credentials or change data whenever Forge
uses it, and the run engine executes code from values that were serialized as Python objects.
"""

import contextlib
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Generator, Iterable, Iterator, Sequence
from pathlib import Path

import sqlalchemy as sa

from forge.backup.layout import SQLITE_FILE
from forge.backup.models import DatabaseCopy, TableCopy
from forge.errors import Invalid
from forge.runs.engine import make_sqlite_engine_tables
from forge.store.schema import upgrade

NULL = "\\N"
"""How COPY writes NULL."""
SERIALIZATION = "serialization"
"""The column of the run engine's tables that says how a row is deserialized."""
_SAFE = frozenset({None, "portable_json"})
_PROGRAMS = (
    "SELECT name, sql FROM sqlite_master WHERE type IN ('trigger', 'view') OR sql LIKE 'create virtual%'"
)
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite^_%' ESCAPE '^'"

Row = tuple[str | None, ...]


class ArchivedDatabase(ABC):
    @abstractmethod
    def check(self) -> None:
        """Raise Invalid if it is not a database that Forge created."""

    @abstractmethod
    def rows(self, table: str, columns: Sequence[str]) -> list[Row]:
        """Return these columns of all rows of a table; nothing if the table does not exist."""

    @abstractmethod
    def delete(self, table: str, *, unless_null: str | None = None) -> None:
        """Delete the rows of a table, or only those with a value in this column."""


@contextlib.contextmanager
def open_database(copy: DatabaseCopy, staging: Path) -> Generator[ArchivedDatabase]:
    if copy.kind == "postgresql":
        yield _CopiedTables(copy, staging)
        return
    try:
        with contextlib.closing(sqlite3.connect(staging / SQLITE_FILE)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            yield _SqliteFile(copy, connection)
            connection.commit()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise Invalid(f"The database in the backup cannot be read: {error}.") from error


class _SqliteFile(ArchivedDatabase):
    def __init__(self, copy: DatabaseCopy, connection: sqlite3.Connection) -> None:
        self._copy = copy
        self._connection = connection

    def check(self) -> None:
        if self._column("PRAGMA integrity_check(1)") != ["ok"]:
            raise Invalid("The database in the backup is damaged.")
        self._check_schema()
        engine = self._column("SELECT version FROM dbos_migrations") if self._has("dbos_migrations") else []
        versions = (self._column("SELECT version_num FROM alembic_version"), engine)
        stated = self._copy.engine_revision
        if versions != ([self._copy.revision], [] if stated is None else [stated]):
            raise Invalid("The database in the backup has another schema than its manifest says.")
        for table in self._column(_TABLES):
            if SERIALIZATION in [name for name, *_ in self._columns(table)]:
                _require_safe(self._column(f"SELECT DISTINCT {SERIALIZATION} FROM {table}"))  # noqa: S608

    def rows(self, table: str, columns: Sequence[str]) -> list[Row]:
        if not self._has(table):
            return []
        return self._connection.execute(f"SELECT {', '.join(columns)} FROM {table}").fetchall()  # noqa: S608  (our own names)

    def delete(self, table: str, *, unless_null: str | None = None) -> None:
        if self._has(table):
            which = f"WHERE {unless_null} IS NOT NULL" if unless_null else ""
            self._connection.execute(f"DELETE FROM {table} {which}")  # noqa: S608  (our own names)

    def _check_schema(self) -> None:
        """Compare tables by their columns: the text of a statement depends on the version that executed it."""
        with contextlib.closing(sqlite3.connect(":memory:")) as reference:
            _create_schema(reference, self._copy)
            known = _SqliteFile(self._copy, reference)
            programs = set(reference.execute(_PROGRAMS))
            if unknown := set(self._connection.execute(_PROGRAMS)) - programs:
                names = ", ".join(sorted(repr(name) for name, _ in unknown))
                raise Invalid(f"The database in the backup contains {names}, which Forge did not create.")
            tables, expected = set(self._column(_TABLES)), set(known._column(_TABLES))
            for table in sorted(tables | expected):
                if table not in tables & expected or self._columns(table) != known._columns(table):
                    raise Invalid(f"The table {table!r} in the backup is not as Forge creates it.")

    def _has(self, table: str) -> bool:
        return bool(self._columns(table))

    def _columns(self, table: str) -> list[Row]:
        """Return name, type, constraints and default of each column."""
        query = 'SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?)'
        return self._connection.execute(query, (table,)).fetchall()

    def _column(self, query: str) -> list[str]:
        return [value for value, *_ in self._connection.execute(query)]


def _create_schema(reference: sqlite3.Connection, copy: DatabaseCopy) -> None:
    """Create the tables of Forge and of the run engine at the revisions of the copy."""
    engine = sa.create_engine("sqlite://", creator=lambda: reference, poolclass=sa.StaticPool)
    with engine.begin() as connection:
        upgrade(connection, copy.revision)
        if copy.engine_revision is not None:
            make_sqlite_engine_tables(connection, copy.engine_revision)


class _CopiedTables(ArchivedDatabase):
    """PostgreSQL tables in the text format of COPY. Forge creates their schema when it restores them."""

    def __init__(self, copy: DatabaseCopy, staging: Path) -> None:
        self._tables = copy.tables
        self._staging = staging

    def check(self) -> None:
        if len({(table.home, table.name) for table in self._tables}) < len(self._tables):
            raise Invalid("The manifest of the backup lists a table twice.")
        for table in self._tables:
            if SERIALIZATION in table.columns:
                _require_safe(row[0] for row in self._read(table, [SERIALIZATION]))

    def rows(self, table: str, columns: Sequence[str]) -> list[Row]:
        found = self._find(table)
        return list(self._read(found, columns)) if found else []

    def delete(self, table: str, *, unless_null: str | None = None) -> None:
        if (found := self._find(table)) is None:
            return
        path = self._staging / found.path
        kept = b""
        if unless_null:
            lines = path.read_bytes().splitlines(keepends=True)
            rows = self._read(found, [unless_null])
            kept = b"".join(line for line, (value,) in zip(lines, rows, strict=True) if value is None)
        path.write_bytes(kept)

    def _find(self, name: str) -> TableCopy | None:
        return next((table for table in self._tables if table.home == "forge" and table.name == name), None)

    def _read(self, table: TableCopy, columns: Sequence[str]) -> Iterator[Row]:
        try:
            places = [table.columns.index(column) for column in columns]
            with (self._staging / table.path).open(encoding="utf-8") as file:
                for line in file:
                    cells = line.rstrip("\n").split("\t")
                    yield tuple(None if cells[place] == NULL else cells[place] for place in places)
        except (ValueError, IndexError, FileNotFoundError) as error:
            raise Invalid(f"The table {table.name} in the backup is damaged.") from error


def _require_safe(values: Iterable[str | None]) -> None:
    if not _SAFE.issuperset(values):
        raise Invalid("The backup contains serialized Python objects, which can execute any code.")
