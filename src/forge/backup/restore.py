"""Restore a backup: unpack and verify it first, then replace the data. Until then nothing is changed."""

import contextlib
import sqlite3
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from forge.accounts.vault_key import find_vault_key
from forge.backup import postgresql_restore
from forge.backup.archive import ArchiveExtractor, read_archive
from forge.backup.models import DATA, SQLITE_FILE, VAULT_KEY, DatabaseCopy, Manifest
from forge.backup.replacement import ASIDE, UNFINISHED, UNPACKING, DataDirReplacement, is_empty
from forge.config import Settings
from forge.errors import Conflict, Invalid, Unavailable
from forge.kernel.clock import now
from forge.kernel.hashing import hash_bytes
from forge.kernel.lock import DirectoryLock, LockHeld
from forge.kernel.tree_removal import remove_tree, try_remove_tree
from forge.runs.engine import newest_engine_revision
from forge.store.schema import revisions

ReportProgress = Callable[[str], None]


@dataclass(frozen=True)
class RestoreResult:
    manifest: Manifest
    aside: list[str]
    """Where the old data is now: a folder, a schema."""
    missing_key: bool
    """The key the secrets were encrypted with is missing, so they cannot be decrypted."""


def restore(
    settings: Settings,
    archive: Path,
    report: ReportProgress,
    *,
    replace: bool = False,
    without_secrets: bool = False,
) -> RestoreResult:
    with _locked(settings.data_dir):
        _check_free(settings, replace=replace)
        staging = settings.data_dir / UNPACKING
        try:
            if staging.exists():
                remove_tree(staging)
            report("Unpacking and comparing …")
            manifest = _unpack(settings, archive, staging)
            if without_secrets:
                remove_secrets(manifest.database, staging)
            report("Putting it in place …")
            return _replace_data(settings, manifest, staging, is_keyless=without_secrets)
        except OSError as error:
            what = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
            raise Unavailable(
                f"Cannot restore the backup: {what}.",
                hint="Free some disk space, then run it again: forge restore FILE",
            ) from error
        finally:
            if staging.exists():
                try_remove_tree(staging, "the unpacked backup")


@contextmanager
def _locked(data_dir: Path) -> Generator[None]:
    """Hold the lock of the data directory, so that no server starts."""
    with ExitStack() as stack:
        _lock(data_dir, stack)
        yield


def _lock(data_dir: Path, stack: ExitStack) -> None:
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        stack.enter_context(DirectoryLock(data_dir))
    except LockHeld as error:
        raise Conflict(f"Forge (process {error.pid}) is using {data_dir}.", hint="Stop it first.") from error
    except OSError as error:
        raise Unavailable(f"Cannot use {data_dir}: {error.strerror}.") from error


def _check_free(settings: Settings, *, replace: bool) -> None:
    data_dir = settings.data_dir
    if not replace and not (data_dir / UNFINISHED).exists() and not is_empty(data_dir):
        raise Conflict(
            f"{data_dir} is not empty.",
            hint="Restore into an empty one (--data-dir), or add --replace: existing files are moved aside.",
        )
    if settings.database_url is not None:
        postgresql_restore.check_replaceable(settings.store_url, replace=replace)


def _unpack(settings: Settings, archive: Path, staging: Path) -> Manifest:
    unpacking = ArchiveExtractor(staging)
    manifest = read_archive(archive, unpacking)
    _check_fits(settings, manifest)
    unpacking.finish()
    (staging / DATA).mkdir(mode=0o700, exist_ok=True)
    return manifest


def _check_fits(settings: Settings, manifest: Manifest) -> None:
    copy = manifest.database
    required = "sqlite" if settings.database_url is None else "postgresql"
    if copy.kind != required:
        raise Invalid(
            f"The backup is for {copy.kind}, but the settings use {required}.",
            hint="A backup can only be restored into the same kind of database. Set FORGE_DATABASE_URL to an empty "
            "PostgreSQL database, or leave it unset for SQLite.",
        )
    if copy.revision not in revisions() or (copy.engine_revision or 0) > newest_engine_revision(copy.kind):
        raise Invalid(
            f"The backup was created by a newer Forge ({manifest.forge}, schema {copy.revision}; this version knows "
            f"schemas up to {revisions()[-1]}).",
            hint="Restore it with the version of Forge that created it, or a newer one.",
        )


def _replace_data(
    settings: Settings, manifest: Manifest, staging: Path, *, is_keyless: bool
) -> RestoreResult:
    stamp = f"{now():%Y%m%d-%H%M%S-%f}"  # with microseconds, to be unique
    key = (staging / VAULT_KEY).read_bytes() if manifest.has_vault_key and not is_keyless else None
    placing = DataDirReplacement(settings.data_dir, f"{ASIDE}{stamp}")
    aside: list[str] = []
    placing.begin()
    if settings.database_url is None:
        (staging / SQLITE_FILE).rename(staging / DATA / "forge.db")
    else:
        schema = f"{ASIDE}{stamp}".replace("-", "_")
        if moved := postgresql_restore.load_database(
            settings.store_url, manifest.database, staging, aside=schema
        ):
            aside.append(f"schema {moved}")
    if folder := placing.finish(staging / DATA, key):
        aside.append(str(folder))
    return RestoreResult(manifest, aside, missing_key=not is_keyless and _lacks_key(settings, manifest))


def _lacks_key(settings: Settings, manifest: Manifest) -> bool:
    if manifest.vault_key_hash is None:
        return False
    key = find_vault_key(settings)
    return key is None or hash_bytes(key.get_secret_value()) != manifest.vault_key_hash


TABLE = "secrets"


def remove_secrets(copy: DatabaseCopy, staging: Path) -> None:
    if copy.kind == "sqlite":
        with contextlib.closing(sqlite3.connect(staging / SQLITE_FILE)) as database:
            database.execute(f"DELETE FROM {TABLE}")  # noqa: S608
            database.commit()
        return
    for table in copy.tables:
        if table.home == "forge" and table.name == TABLE:
            (staging / table.path).write_bytes(b"")
