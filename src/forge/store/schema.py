"""Migrate the database to this version's schema, before anything else uses it."""

import importlib
import logging
import sqlite3
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa

from forge.errors import ConfigError
from forge.store.database import Store

log = logging.getLogger(__name__)

MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 0x666F726765  # any number, as long as every Forge uses the same
UNFINISHED_RESTORE = "restore"
"""Replaces the revision while a backup is restored into a PostgreSQL database."""


def revisions() -> list[str]:
    """Return the known revisions in order: files are named `0001_what_it_does.py`."""
    return sorted(path.stem.split("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))


async def migrate(store: Store) -> None:
    """Migrate to the newest schema. Raise ConfigError for a newer or foreign one; back SQLite up before any change."""
    known = revisions()
    current = await current_revision(store)
    if current == UNFINISHED_RESTORE:
        raise unfinished_restore_error("this database")
    if current is not None and current not in known:
        raise ConfigError(
            [f"The database has schema {current}; this version of Forge knows only up to {known[-1]}."],
            hint="Start the newer version of Forge that was used last, or restore an older backup.",
        )
    if current is None and store.is_sqlite and (tables := await _tables(store)):
        raise ConfigError(
            [f"{store.path} belongs to another program (it has a table {tables[0]!r})."],
            hint="Move it, or use another data directory: FORGE_DATA_DIR",
        )
    await store.enable_wal()
    if current == known[-1]:
        return
    if current is not None and store.path:
        log.info("backed up the database to %s", backup_sqlite(store.path, current))
    importlib.import_module(
        "alembic.command"
    )  # before the transaction: slow, and PostgreSQL ends idle transactions
    async with store.begin() as tx:
        if not store.is_sqlite:  # of several processes starting at once, one migrates and the others wait
            await tx.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        await tx.connection.run_sync(upgrade)
    log.info("migrated the database from %s to %s", current or "nothing", known[-1])


async def current_revision(store: Store) -> str | None:
    async with store.read() as tx:
        if not await tx.connection.run_sync(lambda sync: sa.inspect(sync).has_table("alembic_version")):
            return None
        version = await tx.execute(sa.text("SELECT version_num FROM alembic_version"))
        return version.scalar_one_or_none()


async def _tables(store: Store) -> list[str]:
    async with store.read() as tx:
        return await tx.connection.run_sync(lambda sync: sa.inspect(sync).get_table_names())


def backup_sqlite(path: Path, revision: str) -> Path:
    """Copy the database next to itself with SQLite's online backup."""
    target = path.with_name(f"{path.name}.schema-{revision}.backup")
    copy_sqlite(path, target)
    return target


def copy_sqlite(source: Path, target: Path) -> None:
    """Copy a consistent snapshot, also during writes, into a file private to this user."""
    target.touch(mode=0o600)
    target.chmod(0o600)
    with (
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=rw", uri=True)) as original,
        closing(sqlite3.connect(target)) as copy,
    ):
        original.backup(copy)


def unfinished_restore_error(where: str) -> ConfigError:
    return ConfigError(
        [f"A restore into {where} did not finish."],
        hint="Run it again: forge restore FILE. The previous data was moved aside.",
    )


def upgrade(connection: sa.Connection, revision: str = "head") -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
