"""Migrations: they are complete, reject newer databases, and back up the database first."""

import sqlite3
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from forge.accounts import tables as _accounts
from forge.errors import ConfigError
from forge.events import tables as _events
from forge.runs import tables as _runs
from forge.store import schema
from forge.store.database import Store
from forge.store.types import METADATA
from forge.workspace import tables as _workspace

_FEATURES = (_accounts, _events, _runs, _workspace)

_SHADOWS = ("", "_config", "_data", "_docsize", "_idx", "_rows")
FULL_TEXT = {
    *(f"{words}{shadow}" for words in ("chat_words", "memory_words") for shadow in _SHADOWS),
    "ix_chat_messages_words",
    "ix_bot_memories_words",
}
"""Created by a migration per database kind, because SQLAlchemy cannot describe them."""


@pytest.fixture(params=["sqlite", "postgresql"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database, without the tables of the shared fixture."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'forge.db'}"
    return request.getfixturevalue("postgres").new_database()


async def test_migrations_create_the_tables_of_the_code(store: Store):
    def differences(connection: sa.Connection) -> list[object]:
        options = {"compare_type": True, "include_name": lambda name, *_: name not in FULL_TEXT}
        context = MigrationContext.configure(connection, opts=options)
        return list(compare_metadata(context, METADATA))

    async with store.read() as tx:
        assert await tx.connection.run_sync(differences) == []


async def test_migrating_again_changes_nothing(store: Store):
    await schema.migrate(store)
    assert await schema.current_revision(store) == schema.revisions()[-1]


async def test_newer_schema_is_rejected(store: Store):
    async with store.begin() as tx:
        await tx.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(ConfigError, match="has schema 9999; this version of Forge knows only up to"):
        await schema.migrate(store)


async def test_sqlite_is_backed_up_before_migration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    store = Store(f"sqlite:///{tmp_path / 'forge.db'}")
    await schema.migrate(store)
    revisions = schema.revisions()
    async with store.begin() as tx:
        await tx.execute(sa.text("INSERT INTO event_streams VALUES ('run:1', 7)"))
        await tx.execute(sa.text("UPDATE alembic_version SET version_num = '0000'"))
    monkeypatch.setattr(schema, "revisions", lambda: ["0000", *revisions])
    monkeypatch.setattr(schema, "upgrade", lambda _: None)
    await schema.migrate(store)
    await store.close()

    backup = tmp_path / "forge.db.schema-0000.backup"
    with sqlite3.connect(backup) as backup_database:
        assert backup_database.execute("SELECT name, last_seq FROM event_streams").fetchall() == [
            ("run:1", 7)
        ]
    backup_database.close()
    assert backup.stat().st_mode & 0o777 == 0o600


def test_backup_of_a_database_in_use_is_consistent(tmp_path: Path):
    path = tmp_path / "live.db"
    writer = sqlite3.connect(path)
    writer.execute("PRAGMA journal_mode=WAL")
    writer.execute("CREATE TABLE t (x)")
    writer.execute("INSERT INTO t VALUES (1)")
    writer.commit()
    backup_database = sqlite3.connect(schema.backup_sqlite(path, "1"))
    assert backup_database.execute("SELECT x FROM t").fetchall() == [(1,)]
    backup_database.close()
    writer.close()
