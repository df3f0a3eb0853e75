"""Why Forge could not start, for a person: what the system or the database said, and what to do about it."""

import errno
import os
import sqlite3

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from forge.config import Settings
from forge.errors import ConfigError, ForgeError, Unavailable
from forge.store.engine import is_disk_full

_DOCTOR = "forge doctor looks closer."
_RESTORE = f"Restore a backup: forge restore FILE --replace (it keeps what is there). {_DOCTOR}"
_ROOM = "Nothing is lost. Make room, or use another disk: FORGE_DATA_DIR."
_TOO_MANY = {errno.EMFILE, errno.ENFILE}

_SQLITE: dict[int, tuple[type[ConfigError] | type[Unavailable], str, str]] = {
    sqlite3.SQLITE_NOTADB: (ConfigError, "is not a database of SQLite", _RESTORE),
    sqlite3.SQLITE_CORRUPT: (ConfigError, "is damaged", _RESTORE),
    sqlite3.SQLITE_READONLY: (ConfigError, "cannot be written to", f"Is the disk read-only? {_DOCTOR}"),
    sqlite3.SQLITE_CANTOPEN: (
        ConfigError,
        "cannot be opened",
        f"Is it a file, and yours, and are there files left to open (ulimit -n)? {_DOCTOR}",
    ),
    sqlite3.SQLITE_FULL: (Unavailable, "cannot grow: the disk is full", _ROOM),
    sqlite3.SQLITE_IOERR: (Unavailable, "could not be read or written: the disk failed, or is full", _ROOM),
    sqlite3.SQLITE_BUSY: (Unavailable, "is locked by another program", "Close what has it open."),
}


def explain(settings: Settings, error: OSError | SQLAlchemyError | sqlite3.Error) -> ForgeError:
    if isinstance(error, OSError):
        return _system(settings, error)
    if isinstance(error, sqlite3.Error):  # of the copy that is made before a migration
        return _sqlite(settings, error)
    original = error.orig if isinstance(error, DBAPIError) else None
    if isinstance(original, sqlite3.Error):
        return _sqlite(settings, original)
    where = "the database" if original is None else "PostgreSQL"
    why = str(original or error).strip()
    return Unavailable(f"{where}: {why}", hint="Check FORGE_DATABASE_URL, and that PostgreSQL runs there.")


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
        return Unavailable(f"The disk of {settings.data_dir} is full.", hint=_ROOM)
    if error.errno in _TOO_MANY:
        return Unavailable(
            "Too many files are open for this process or machine.",
            hint="Allow more before starting: ulimit -n 4096",
        )
    why = error.strerror or os.strerror(error.errno or 0)
    where = error.filename or settings.data_dir
    return ConfigError(
        [f"FORGE_DATA_DIR: {where} cannot be used: {why}."],
        hint=f"It has to be a folder you may write to. {_DOCTOR}",
    )
