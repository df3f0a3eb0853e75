"""The database. A running server is asked about its own; only when none runs is the file looked at here."""

import sqlite3
from contextlib import closing
from pathlib import Path

from forge.config import Settings
from forge.kernel.lock import DirectoryLock, LockHeld
from forge.server.checks.check import Check, Situation, bad, ok, warn
from forge.terminal.text import size

POSTGRESQL = 14
CONNECT_TIMEOUT_S = 5
_RESTORE = "Restore a backup, or move the file away to start with an empty one."


def check_database(situation: Situation) -> Check:
    if situation.server:
        database = situation.server.status.database
        return ok("database", f"{database.kind}, {size(database.size_bytes)}, in use by the server")
    if situation.settings.database_url:
        return _check_postgresql(situation.settings)
    return _check_sqlite(Path(situation.settings.store_url.removeprefix("sqlite:///")))


def _check_sqlite(path: Path) -> Check:
    try:
        if not path.exists():
            return ok("database", f"sqlite: {path} will be created")
        with DirectoryLock(path.parent):  # nobody starts while we look
            return _look_into(path)
    except LockHeld as error:
        finding = f"sqlite: in use by process {error.pid}, which does not answer"
        return warn("database", finding, "Wait until it has started, or stop it.")
    except OSError as error:
        return bad(
            "database", f"sqlite: {path}: {error.strerror}", "Use Forge as the user who started it first."
        )


def _look_into(path: Path) -> Check:
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
            (sound,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        return bad("database", f"sqlite: {path} cannot be read: {error}", _RESTORE)
    if sound != "ok":
        return bad("database", f"sqlite: {path} is damaged: {sound}", _RESTORE)
    return ok("database", f"sqlite: {path} is sound ({size(path.stat().st_size)}, {mode})")


def _check_postgresql(settings: Settings) -> Check:
    import psycopg

    try:
        with psycopg.connect(settings.store_url, connect_timeout=CONNECT_TIMEOUT_S) as connection:
            number = connection.info.server_version
            where = f"{connection.info.host}/{connection.info.dbname}"
    except psycopg.Error as error:
        finding = f"postgresql: {str(error).strip() or type(error).__name__}"
        return bad("database", finding, "Check FORGE_DATABASE_URL, and that PostgreSQL runs there.")
    if number < POSTGRESQL * 10_000:
        finding = f"postgresql {number // 10_000} at {where}"
        return bad("database", finding, f"Use PostgreSQL {POSTGRESQL} or newer.")
    return ok("database", f"postgresql {number // 10_000}.{number % 10_000} at {where}")
