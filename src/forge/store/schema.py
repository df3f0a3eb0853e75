"""Brings the database to the schema this version of Forge knows, before anything else touches it."""

import importlib
import logging
import sqlite3
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa

from forge.errors import ConfigError
from forge.store.engine import Store

log = logging.getLogger(__name__)

MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 0x666F726765  # any number, as long as every Forge uses the same
UNFINISHED = "restore"
"""Stands where the revision is while a backup is put into a PostgreSQL database."""


def revisions() -> list[str]:
    """Known revisions in order: files are named `0001_what_it_does.py`."""
    return sorted(path.stem.split("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))


async def migrate(store: Store) -> None:
    """Refuses a schema newer than the code, or not ours; backs SQLite up before it changes anything."""
    known = revisions()
    current = await current_revision(store)
    if current == UNFINISHED:
        raise unfinished_restore("this database")
    if current is not None and current not in known:
        raise ConfigError(
            [f"The database has schema {current}; this version of Forge knows only up to {known[-1]}."],
            hint="Start the newer version of Forge that was used last, or restore an older backup.",
        )
    if current is None and store.is_sqlite and (tables := await _tables(store)):
        raise ConfigError(
            [f"{store.path} is a database of another program (it has a table {tables[0]!r})."],
            hint="Move it away, or use another data directory: FORGE_DATA_DIR",
        )
    await store.use_write_ahead_log()
    if current == known[-1]:
        return
    if current is not None and store.path:
        log.info("backed up the database to %s", backup(store.path, current))
    importlib.import_module("alembic.command")  # takes a while, and PostgreSQL ends transactions that idle
    async with store.begin() as tx:
        if not store.is_sqlite:  # of several processes that start at once, one migrates and the others wait
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


def backup(path: Path, revision: str) -> Path:
    """A consistent copy beside the database, taken with SQLite's own backup."""
    target = path.with_name(f"{path.name}.schema-{revision}.backup")
    copy_sqlite(path, target)
    return target


def copy_sqlite(source: Path, target: Path) -> None:
    """As of one moment, whatever is written meanwhile; for this user alone."""
    target.touch(mode=0o600)
    target.chmod(0o600)
    with (
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=rw", uri=True)) as original,
        closing(sqlite3.connect(target)) as copy,
    ):
        original.backup(copy)


def unfinished_restore(where: str) -> ConfigError:
    return ConfigError(
        [f"A backup was being restored into {where}, and that did not come to its end."],
        hint="Do it again: forge restore FILE. What was there before is kept aside.",
    )


def upgrade(connection: sa.Connection, revision: str = "head") -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
