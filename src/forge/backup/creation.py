"""Create a backup: a consistent copy of the database, the files of the data directory, and the manifest."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from forge import __version__
from forge.accounts.vault_key import find_vault_key
from forge.backup import database_copy
from forge.backup.archive import ArchiveWriter, create_archive
from forge.backup.data_files import add_data_files
from forge.backup.layout import SQLITE_FILE, VAULT_KEY
from forge.backup.models import DatabaseCopy, Manifest
from forge.backup.replacement import check_finished
from forge.config import Settings
from forge.errors import Conflict, Invalid, NotFound, Unavailable
from forge.kernel.clock import now
from forge.kernel.hashing import hash_bytes


def create_backup(
    settings: Settings, target: Path, report: Callable[[str], None], *, with_vault_key: bool
) -> Manifest:
    """Create a backup. The database comes before the files: all files it refers to are on disk by then."""
    _check_target(settings, target)
    check_finished(settings.data_dir)
    key = find_vault_key(settings)
    if with_vault_key and key is None:
        raise NotFound(
            "There is no vault key yet.", hint="It is created at the first start; omit --with-vault-key."
        )
    with _temporary_folder(target) as folder, create_archive(target) as writer:
        report("Copying the database …")
        database = _add_database(writer, settings, Path(folder))
        report("Copying files …")
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
            links=gaps.links,
        )
        return writer.finish(manifest)


def _check_target(settings: Settings, target: Path) -> None:
    if target.exists():
        raise Conflict(f"{target} already exists.", hint="Choose another name; backups are not overwritten.")
    if target.resolve().is_relative_to(settings.data_dir.resolve()):
        raise Invalid(
            f"{target} is in the data directory: the backup would be lost together with the data.",
            hint="Choose a location outside of it, if possible on another disk.",
        )
    if not settings.data_dir.is_dir():
        raise NotFound(f"The data directory {settings.data_dir} does not exist.", hint="Set FORGE_DATA_DIR.")


def _temporary_folder(target: Path) -> tempfile.TemporaryDirectory[str]:
    try:
        return tempfile.TemporaryDirectory(prefix=".forge-backup-", dir=target.parent)
    except OSError as error:
        raise Unavailable(f"Cannot write the backup to {target}: {error.strerror}.") from error


def _add_database(writer: ArchiveWriter, settings: Settings, folder: Path) -> DatabaseCopy:
    if settings.database_url is None:
        return _add_sqlite(writer, settings.data_dir / "forge.db", folder / "forge.db")
    with database_copy.connect(settings.store_url) as connection:
        copy = database_copy.copy_postgresql_database(connection, folder)
    for table in copy.tables:
        path = folder / table.path
        with path.open("rb") as file:
            writer.add_file(table.path, file)
        path.unlink()
    return copy


def _add_sqlite(writer: ArchiveWriter, source: Path, copy: Path) -> DatabaseCopy:
    if not source.exists():
        raise NotFound(f"The database {source} does not exist yet.", hint="Start Forge once: forge serve")
    description = database_copy.copy_sqlite_database(source, copy)
    with copy.open("rb") as file:
        writer.add_file(SQLITE_FILE, file)
    copy.unlink()
    return description
