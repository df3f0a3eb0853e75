"""Takes the sealed secrets out of a copy, for whoever has lost the key they were sealed with."""

import contextlib
import sqlite3
from pathlib import Path

from forge.backup.models import SQLITE_FILE, DatabaseCopy

TABLE = "secrets"


def forget_secrets(copy: DatabaseCopy, staging: Path) -> None:
    if copy.kind == "sqlite":
        with contextlib.closing(sqlite3.connect(staging / SQLITE_FILE)) as database:
            database.execute(f"DELETE FROM {TABLE}")  # noqa: S608
            database.commit()
        return
    for table in copy.tables:
        if table.home == "forge" and table.name == TABLE:
            (staging / table.path).write_bytes(b"")
