"""Brings the database to the schema this version of Forge knows, before anything else touches it."""

import logging
import sqlite3
from pathlib import Path

import sqlalchemy as sa

from forge.errors import ConfigError
from forge.store.engine import Store

log = logging.getLogger(__name__)

MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = 0x666F726765  # any number, as long as every Forge uses the same


def revisions() -> list[str]:
    """Known revisions in order: files are named `0001_what_it_does.py`."""
    return sorted(path.stem.split("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))


async def migrate(store: Store) -> None:
    """Refuses a schema newer than the code; backs SQLite up before it changes anything."""
    known = revisions()
    current = await current_revision(store)
    if current == known[-1]:
        return
    if current is not None and current not in known:
        raise ConfigError(
            [f"The database has schema {current}; this version of Forge knows only up to {known[-1]}."],
            hint="Start the newer version of Forge that was used last, or restore an older backup.",
        )
    if current is not None and store.path:
        log.info("backed up the database to %s", backup(store.path, current))
    async with store.begin() as tx:
        if not store.is_sqlite:  # of several processes that start at once, one migrates and the others wait
            await tx.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
        await tx.connection.run_sync(_upgrade)
    log.info("migrated the database from %s to %s", current or "nothing", known[-1])


async def current_revision(store: Store) -> str | None:
    async with store.read() as tx:
        if not await tx.connection.run_sync(lambda sync: sa.inspect(sync).has_table("alembic_version")):
            return None
        version = await tx.execute(sa.text("SELECT version_num FROM alembic_version"))
        return version.scalar_one_or_none()


def backup(path: Path, revision: str) -> Path:
    """A consistent copy beside the database, taken with SQLite's own backup."""
    target = path.with_name(f"{path.name}.schema-{revision}.backup")
    source, copy = sqlite3.connect(path), sqlite3.connect(target)
    try:
        source.backup(copy)
    finally:
        copy.close()
        source.close()
    target.chmod(0o600)
    return target


def _upgrade(connection: sa.Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
