"""A consistent copy of a SQLite database that may be in use: SQLite's own backup, read as of one moment."""

import contextlib
import sqlite3
from pathlib import Path
from typing import Any

from forge.backup.describing import describe
from forge.backup.models import DatabaseCopy
from forge.errors import Unavailable
from forge.store.schema import copy_sqlite


def copy_database(source: Path, target: Path) -> DatabaseCopy:
    try:
        copy_sqlite(source, target)
        with contextlib.closing(sqlite3.connect(target)) as copy:
            (sound,) = copy.execute("PRAGMA quick_check(1)").fetchone()
            if sound != "ok":
                raise sqlite3.DatabaseError(sound)
            return _described(copy)
    except sqlite3.Error as error:
        raise Unavailable(
            f"The database {source} could not be copied: {error}.",
            hint="Look at it: forge doctor. If the disk is full, make room or write the backup elsewhere.",
        ) from error


def _described(copy: sqlite3.Connection) -> DatabaseCopy:
    def ask(query: str) -> list[Any]:
        return [value for (value,) in copy.execute(query)]

    tables = set(ask("SELECT name FROM sqlite_master WHERE type = 'table'"))
    engine = "dbos_migrations" if "dbos_migrations" in tables else None
    return describe("sqlite", ask, tables, engine=engine)
