"""Find and remove what grants access in an unpacked backup: API keys, sign-ins, secrets and signing keys.

Whoever creates an archive chooses them, so they are only restored from a trusted one. They are read from the contents, because
the manifest can say anything.
"""

import contextlib
import sqlite3
from collections.abc import Callable, Generator, Sequence
from pathlib import Path

import sqlalchemy as sa
from pydantic import BaseModel

from forge.accounts.vault import OWN_SCOPE
from forge.backup.layout import DATA, SQLITE_FILE, VAULT_KEY
from forge.backup.models import DatabaseCopy, TableCopy
from forge.errors import Invalid
from forge.kernel.tree_removal import remove_tree
from forge.store.schema import upgrade

SECRETS, API_KEYS, SESSIONS, LOGIN_LINKS = "secrets", "api_keys", "sessions", "login_links"
SIGNING = Path(DATA) / "audit"
"""The key that signs evidence, and the keys whose signatures count."""

Rows = Callable[[str, Sequence[str]], list[tuple[str, ...]]]
"""Return these columns of all rows of a table; nothing if the table does not exist."""


class Credentials(BaseModel):
    api_keys: list[str] = []
    sign_ins: int = 0
    """Browser sessions and one-time login links."""
    secrets: list[str] = []
    has_vault_key: bool = False
    has_signing_keys: bool = False

    def describe(self) -> str:
        """Return a list in words; empty if there are none."""
        parts = [
            _counted(self.api_keys, "API key"),
            f"{self.sign_ins} browser {'session' if self.sign_ins == 1 else 'sessions'}"
            if self.sign_ins
            else "",
            _counted(self.secrets, "secret"),
            "the vault key" if self.has_vault_key else "",
            "the key that signs audit evidence" if self.has_signing_keys else "",
        ]
        return ", ".join(part for part in parts if part)


def find_credentials(copy: DatabaseCopy, staging: Path) -> Credentials:
    with _reader(copy, staging) as rows:
        keys = rows(API_KEYS, ["name", "revoked_at"])
        found = Credentials(
            api_keys=[name for name, revoked_at in keys if revoked_at in ("", "\\N")],
            sign_ins=len(rows(SESSIONS, ["id"])) + len(rows(LOGIN_LINKS, ["token_hash"])),
            secrets=[
                f"{name} of {scope}" if scope else name
                for name, scope in rows(SECRETS, ["name", "scope"])
                if scope != OWN_SCOPE
            ],
        )
    return found.model_copy(
        update={
            "has_vault_key": (staging / VAULT_KEY).exists(),
            "has_signing_keys": (staging / SIGNING).exists(),
        }
    )


def remove_secrets(copy: DatabaseCopy, staging: Path) -> None:
    """Remove the secrets and the key they are encrypted with."""
    _empty(copy, staging, SECRETS)
    (staging / VAULT_KEY).unlink(missing_ok=True)


def remove_credentials(copy: DatabaseCopy, staging: Path) -> None:
    """Remove everything that grants access."""
    remove_secrets(copy, staging)
    _empty(copy, staging, API_KEYS, SESSIONS, LOGIN_LINKS)
    if (staging / SIGNING).exists():
        remove_tree(staging / SIGNING)


def _counted(names: list[str], noun: str) -> str:
    if not names:
        return ""
    return f"{len(names)} {noun}{'' if len(names) == 1 else 's'} ({', '.join(names)})"


@contextlib.contextmanager
def _reader(copy: DatabaseCopy, staging: Path) -> Generator[Rows]:
    if copy.kind == "postgresql":
        yield lambda table, columns: _copied_rows(copy, staging, table, columns)
        return
    with _sqlite(staging) as database:
        database.execute("PRAGMA trusted_schema = OFF")
        _check_programs(database, copy.revision)
        names = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

        def rows(table: str, columns: Sequence[str]) -> list[tuple[str, ...]]:
            if table not in names:
                return []
            selected = ", ".join(f"COALESCE({column}, '')" for column in columns)
            return database.execute(f"SELECT {selected} FROM {table}").fetchall()  # noqa: S608  (our own names)

        yield rows


def _check_programs(database: sqlite3.Connection, revision: str) -> None:
    """Reject triggers and views that differ from those of Forge: they could change data whenever Forge uses it."""
    reference = sa.create_engine("sqlite://")
    with reference.begin() as connection:
        upgrade(connection, revision)
        known = {tuple(row) for row in connection.exec_driver_sql(_PROGRAMS)}
    reference.dispose()
    if unknown := set(database.execute(_PROGRAMS)) - known:
        names = ", ".join(sorted(repr(name) for name, _ in unknown))
        raise Invalid(f"The database in the backup contains {names}, which Forge did not create.")


_PROGRAMS = "SELECT name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')"


def _copied_rows(
    copy: DatabaseCopy, staging: Path, name: str, columns: Sequence[str]
) -> list[tuple[str, ...]]:
    """Read columns of a table in the text format of COPY."""
    table = _find_table(copy, name)
    if table is None:
        return []
    try:
        places = [table.columns.index(column) for column in columns]
        with (staging / table.path).open(encoding="utf-8") as file:
            cells = (line.rstrip("\n").split("\t") for line in file)
            return [tuple(row[place] for place in places) for row in cells]
    except (ValueError, IndexError, FileNotFoundError) as error:
        raise Invalid(f"The table {name} in the backup is damaged.") from error


def _find_table(copy: DatabaseCopy, name: str) -> TableCopy | None:
    return next((table for table in copy.tables if table.home == "forge" and table.name == name), None)


def _empty(copy: DatabaseCopy, staging: Path, *names: str) -> None:
    if copy.kind == "postgresql":
        for name in names:
            if table := _find_table(copy, name):
                (staging / table.path).write_bytes(b"")
        return
    with _sqlite(staging) as database:
        for name in names:
            database.execute(f"DELETE FROM {name}")  # noqa: S608  (our own names)
        database.commit()


@contextlib.contextmanager
def _sqlite(staging: Path) -> Generator[sqlite3.Connection]:
    try:
        with contextlib.closing(sqlite3.connect(staging / SQLITE_FILE)) as database:
            yield database
    except sqlite3.Error as error:
        raise Invalid(f"The database in the backup cannot be read: {error}.") from error
