"""Makes a backup: the database as of one moment, then the files, then what is in the archive."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from forge import __version__
from forge.accounts.vault_key import find_vault_key
from forge.backup import postgresql_copy, sqlite_copy
from forge.backup.archive import Writer, create_archive
from forge.backup.data_files import add_data_files
from forge.backup.models import SQLITE_FILE, VAULT_KEY, DatabaseCopy, Manifest
from forge.backup.placing import check_finished
from forge.config import Settings
from forge.errors import Conflict, Invalid, NotFound, Unavailable
from forge.kernel.clock import now
from forge.kernel.hashing import hash_bytes

Say = Callable[[str], None]


def make_backup(settings: Settings, target: Path, say: Say, *, with_vault_key: bool) -> Manifest:
    """The database before the files: what it knows was on disk before, and what came later is nobody's yet."""
    _check_target(settings, target)
    check_finished(settings.data_dir)
    key = find_vault_key(settings)
    if with_vault_key and key is None:
        raise NotFound(
            "There is no vault key yet.", hint="It is made at the first start; leave --with-vault-key out."
        )
    with _aside(target) as folder, create_archive(target) as writer:
        say("Copying the database …")
        database = _add_database(writer, settings, Path(folder))
        say("Copying files …")
        gaps = add_data_files(writer, settings.data_dir, Path(folder))
        if key is not None and with_vault_key:
            writer.add_bytes(VAULT_KEY, key.get_secret_value().hex().encode() + b"\n")
        manifest = Manifest(
            forge=__version__,
            made_at=now(),
            database=database,
            vault_key_hash=hash_bytes(key.get_secret_value()) if key else None,
            has_vault_key=with_vault_key,
            restless=gaps.restless,
            unreadable=gaps.unreadable,
        )
        return writer.finish(manifest)


def _check_target(settings: Settings, target: Path) -> None:
    if target.exists():
        raise Conflict(
            f"{target} is there already.", hint="Choose another name; backups are not overwritten."
        )
    if target.resolve().is_relative_to(settings.data_dir.resolve()):
        raise Invalid(
            f"{target} lies in the data directory: what happens to that would happen to the backup.",
            hint="Choose a place elsewhere, best on another disk.",
        )
    if not settings.data_dir.is_dir():
        raise NotFound(f"There is no data directory {settings.data_dir}.", hint="Set FORGE_DATA_DIR.")


def _aside(target: Path) -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix=".forge-backup-", dir=target.parent)
    except OSError as error:
        raise Unavailable(f"The backup could not be written to {target}: {error.strerror}.") from error


def _add_database(writer: Writer, settings: Settings, folder: Path) -> DatabaseCopy:
    if settings.database_url is None:
        return _add_sqlite(writer, settings.data_dir / "forge.db", folder / "forge.db")
    with postgresql_copy.connect(settings.store_url) as connection:
        copy = postgresql_copy.copy_database(connection, folder)
    for table in copy.tables:
        path = folder / table.path
        with path.open("rb") as file:
            writer.add_file(table.path, file)
        path.unlink()
    return copy


def _add_sqlite(writer: Writer, source: Path, copy: Path) -> DatabaseCopy:
    if not source.exists():
        raise NotFound(f"There is no database {source} yet.", hint="Start Forge once: forge serve")
    described = sqlite_copy.copy_database(source, copy)
    with copy.open("rb") as file:
        writer.add_file(SQLITE_FILE, file)
    copy.unlink()
    return described
