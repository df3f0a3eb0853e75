"""Cache analysis results by content in an SQLite file shared by several processes.

The file may be deleted at any time. A broken or incompatible file is recreated; a locked or read-only one is not used.
"""

import contextlib
import logging
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Self, TypeVar

T = TypeVar("T")

log = logging.getLogger(__name__)

VERSION = 1
MAX_BYTES = 256 << 20
BUSY_S = 2.0
MAX_PARAMETERS = 500
"""The maximum of parameters in one query."""
DAY_S = 86_400
STALE_DAYS = 7
"""The last use of an entry is only updated after this many days, so that reads rarely write."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS scopes (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS facts (
    scope INTEGER NOT NULL, blob TEXT NOT NULL, day INTEGER NOT NULL, value BLOB NOT NULL, PRIMARY KEY (scope, blob)
) WITHOUT ROWID;
"""


class ResultCache:
    """Not thread-safe; the caller holds a lock."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection: sqlite3.Connection | None = connection
        self._path = path
        self._scopes: dict[str, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._try(self._trim, None)
        self.close()

    def close(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None

    def load(self, scope: str, blobs: Sequence[str]) -> Mapping[str, bytes]:
        """Return the cached results of these blobs. The scope is the analyzer key and file suffix."""
        return self._try(lambda db: self._load(db, scope, blobs), {})

    def store(self, results: Mapping[tuple[str, str], bytes]) -> None:
        """Store results by scope and blob in one transaction."""
        self._try(lambda db: self._store(db, results), None)

    def _try(self, act: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        if self._connection is None:
            return otherwise
        try:
            return act(self._connection)
        except sqlite3.OperationalError as error:  # locked, full or read-only: keep the file
            log.debug("cannot use the analysis cache: %s", error)
        except (sqlite3.DatabaseError, ValueError, TypeError) as error:
            log.debug("recreating the broken analysis cache: %s", error)
            self.close()
            _remove(self._path)
        return otherwise

    def _load(self, db: sqlite3.Connection, name: str, blobs: Sequence[str]) -> dict[str, bytes]:
        scope = self._scope(db, name)
        if scope is None:
            return {}
        found: dict[str, bytes] = {}
        stale: list[tuple[int, int, str]] = []
        today = int(time.time() // DAY_S)
        for start in range(0, len(blobs), MAX_PARAMETERS):
            some = blobs[start : start + MAX_PARAMETERS]
            marks = ",".join("?" * len(some))
            query = f"SELECT blob, day, value FROM facts WHERE scope = ? AND blob IN ({marks})"  # noqa: S608 - marks only
            for blob, day, value in db.execute(query, (scope, *some)):
                if value[:4] == _checksum(name, blob, value[4:]):
                    found[blob] = value[4:]
                    if today - day >= STALE_DAYS:
                        stale.append((today, scope, blob))
        if stale:
            with db:
                db.executemany("UPDATE facts SET day = ? WHERE scope = ? AND blob = ?", stale)
        return found

    def _store(self, db: sqlite3.Connection, results: Mapping[tuple[str, str], bytes]) -> None:
        today = int(time.time() // DAY_S)
        with db:
            names = {name for name, _ in results}
            db.executemany(
                "INSERT OR IGNORE INTO scopes (name) VALUES (?)", [(name,) for name in sorted(names)]
            )
            rows = [
                (self._scope(db, name), blob, today, _checksum(name, blob, value) + value)
                for (name, blob), value in results.items()
            ]
            db.executemany("INSERT OR REPLACE INTO facts (scope, blob, day, value) VALUES (?, ?, ?, ?)", rows)

    def _scope(self, db: sqlite3.Connection, name: str) -> int | None:
        if name not in self._scopes:
            row = db.execute("SELECT id FROM scopes WHERE name = ?", (name,)).fetchone()
            if row is None:
                return None
            self._scopes[name] = row[0]
        return self._scopes[name]

    def _trim(self, db: sqlite3.Connection) -> None:
        """Delete the least recently used half if the cache is too large."""
        used = sum(db.execute(f"PRAGMA {name}").fetchone()[0] * sign for name, sign in _PAGES.items())
        size = used * db.execute("PRAGMA page_size").fetchone()[0]
        if size <= MAX_BYTES:
            return
        kept = 0
        days = db.execute(
            "SELECT day, SUM(LENGTH(value)) FROM facts GROUP BY day ORDER BY day DESC"
        ).fetchall()
        with db:
            for day, amount in days:
                kept += amount
                if kept > MAX_BYTES // 2:
                    db.execute("DELETE FROM facts WHERE day <= ?", (day,))
                    break


_PAGES = {"page_count": 1, "freelist_count": -1}


def open_cache(path: Path) -> ResultCache | None:
    """Open the cache; None if that is not possible."""
    for _ in range(2):
        try:
            return ResultCache(_connect(path), path)
        except (sqlite3.OperationalError, OSError) as error:
            log.debug("cannot open the analysis cache: %s", error)
            return None
        except sqlite3.DatabaseError as error:
            log.debug("recreating the broken analysis cache: %s", error)
            _remove(path)
    return None


def _connect(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))
    db = sqlite3.connect(path, timeout=BUSY_S, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        (version,) = db.execute("PRAGMA user_version").fetchone()
        if version not in (0, VERSION):
            raise sqlite3.DatabaseError(f"version {version}")
        if version == 0:
            db.executescript(_SCHEMA)
            db.execute(f"PRAGMA user_version = {VERSION}")
        db.execute("SELECT scope, blob, day, value FROM facts LIMIT 1").fetchone()
        db.execute("SELECT id, name FROM scopes LIMIT 1").fetchone()
    except BaseException:
        db.close()
        raise
    return db


def _remove(path: Path) -> None:
    for suffix in ("", "-wal", "-shm"):
        with contextlib.suppress(OSError):
            path.with_name(path.name + suffix).unlink()


def _checksum(scope: str, blob: str, value: bytes) -> bytes:
    return zlib.crc32(value, zlib.crc32(f"{scope}\0{blob}".encode("utf-8", "surrogateescape"))).to_bytes(
        4, "little"
    )


def scope_name(key: str, suffix: str) -> str:
    return f"{key}\0{suffix}"
