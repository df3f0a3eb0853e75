"""Explain an error of the system or the database at startup."""

import errno
import os
import sqlite3

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from forge.config import Settings
from forge.errors import ConfigError, ForgeError, Unavailable
from forge.store.database import is_disk_full

_DOCTOR = "Details: forge doctor"
_RESTORE = f"Restore a backup: forge restore FILE --replace (existing data is moved aside). {_DOCTOR}"
_FREE_SPACE = "No data was lost. Free some space, or use another disk: FORGE_DATA_DIR."
_TOO_MANY_FILES = {errno.EMFILE, errno.ENFILE}

_SQLITE: dict[int, tuple[type[ConfigError] | type[Unavailable], str, str]] = {
    sqlite3.SQLITE_NOTADB: (ConfigError, "is not a SQLite database", _RESTORE),
    sqlite3.SQLITE_CORRUPT: (ConfigError, "is damaged", _RESTORE),
    sqlite3.SQLITE_READONLY: (ConfigError, "is not writable", f"Is the disk read-only? {_DOCTOR}"),
    sqlite3.SQLITE_CANTOPEN: (
        ConfigError,
        "cannot be opened",
        f"Check that it is a file you own, and the limit of open files (ulimit -n). {_DOCTOR}",
    ),
    sqlite3.SQLITE_FULL: (Unavailable, "cannot grow: the disk is full", _FREE_SPACE),
    sqlite3.SQLITE_IOERR: (Unavailable, "cannot be read or written: the disk failed or is full", _FREE_SPACE),
    sqlite3.SQLITE_BUSY: (Unavailable, "is locked by another program", "Close the program that uses it."),
}


def explain_startup_error(settings: Settings, error: OSError | SQLAlchemyError | sqlite3.Error) -> ForgeError:
    if isinstance(error, OSError):
        return _system(settings, error)
    if isinstance(error, sqlite3.Error):  # from the copy made before a migration
        return _sqlite(settings, error)
    original = error.orig if isinstance(error, DBAPIError) else None
    if isinstance(original, sqlite3.Error):
        return _sqlite(settings, original)
    where = "the database" if original is None else "PostgreSQL"
    why = str(original or error).strip()
    return Unavailable(f"{where}: {why}", hint="Check FORGE_DATABASE_URL, and that PostgreSQL is running.")


def _sqlite(settings: Settings, error: sqlite3.Error) -> ForgeError:
    path = settings.data_dir / "forge.db"
    known = _SQLITE.get((error.sqlite_errorcode or 0) & 0xFF)
    if known is None:
        return Unavailable(f"The database {path}: {error}", hint=_DOCTOR)
    kind, what, hint = known
    message = f"The database {path} {what}."
    return ConfigError([message], hint=hint) if kind is ConfigError else Unavailable(message, hint=hint)


def _system(settings: Settings, error: OSError) -> ForgeError:
    if is_disk_full(error):
        return Unavailable(f"The disk of {settings.data_dir} is full.", hint=_FREE_SPACE)
    if error.errno in _TOO_MANY_FILES:
        return Unavailable(
            "Too many open files in this process or on this machine.",
            hint="Raise the limit before starting: ulimit -n 4096",
        )
    why = error.strerror or os.strerror(error.errno or 0)
    where = error.filename or settings.data_dir
    return ConfigError(
        [f"FORGE_DATA_DIR: cannot use {where}: {why}."],
        hint=f"It must be a directory you can write to. {_DOCTOR}",
    )
