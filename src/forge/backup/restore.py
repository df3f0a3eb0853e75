"""Restore a backup: unpack and verify it, then replace the data. Before that nothing is changed."""

import tempfile
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from forge.accounts.vault_key import find_vault_key
from forge.backup import postgresql_restore
from forge.backup.archive import ArchiveExtractor, read_archive
from forge.backup.archived_database import open_database
from forge.backup.credentials import (
    SIGNING,
    Credentials,
    count_contents,
    find_credentials,
    remove_credentials,
    remove_secrets,
)
from forge.backup.layout import DATA, SETTINGS_FILE, SQLITE_FILE, VAULT_KEY
from forge.backup.models import Manifest
from forge.backup.replacement import ASIDE, UNFINISHED, UNPACKING, DataDirReplacement, is_empty
from forge.config import Settings
from forge.errors import Conflict, Invalid, Unavailable
from forge.kernel.clock import now
from forge.kernel.hashing import hash_bytes
from forge.kernel.lock import DirectoryLock, LockHeld
from forge.kernel.tree_removal import remove_tree, try_remove_tree
from forge.runs.engine import newest_engine_revision
from forge.store.schema import revisions


@dataclass(frozen=True)
class RestoreResult:
    manifest: Manifest
    aside: list[str]
    """Locations of the previous data: a folder, a schema."""
    missing_key: bool
    """The key the secrets were encrypted with is missing, so they cannot be decrypted."""
    credentials: Credentials
    """What was restored of it."""
    contents: dict[str, int]
    has_settings: bool
    """Whether the archive contains settings, which are never restored."""


def restore(
    settings: Settings,
    archive: Path,
    report: Callable[[str], None],
    *,
    replace: bool = False,
    trust: bool = False,
    without_secrets: bool = False,
) -> RestoreResult:
    """Restore an archive. Its credentials are restored with `trust` only, its secrets not with `without_secrets`.

    Raise Invalid if the archive contains credentials and neither option says what to do with them.
    """
    with _locked(settings.data_dir):
        _check_free(settings, replace=replace)
        staging = settings.data_dir / UNPACKING
        try:
            if staging.exists():
                remove_tree(staging)
            report("Unpacking and verifying …")
            manifest = _unpack(settings, archive, staging)
            admitted = _admit(manifest, staging, trust=trust, without_secrets=without_secrets)
            report("Replacing data …")
            return _replace_data(settings, manifest, staging, admitted, is_keyless=without_secrets)
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
    _check_version(manifest)


def _check_version(manifest: Manifest) -> None:
    copy = manifest.database
    if copy.revision not in revisions() or (copy.engine_revision or 0) > newest_engine_revision(copy.kind):
        raise Invalid(
            f"The backup was created by a newer Forge ({manifest.forge}, schema {copy.revision}; this version knows "
            f"schemas up to {revisions()[-1]}).",
            hint="Restore it with the version of Forge that created it, or a newer one.",
        )


@dataclass(frozen=True)
class Inspection:
    """What is in a verified archive, or left in it to be restored."""

    credentials: Credentials
    contents: dict[str, int]


def _admit(manifest: Manifest, staging: Path, *, trust: bool, without_secrets: bool) -> Inspection:
    """Remove the credentials that are not to be restored."""
    with open_database(manifest.database, staging) as database:
        database.check()
        if without_secrets:
            remove = remove_secrets if trust else remove_credentials
            remove(database, staging)
        found = Inspection(find_credentials(database, staging), count_contents(database))
    if (listed := found.credentials.describe()) and not trust:
        raise Invalid(
            f"The backup contains credentials: {listed}.",
            hint="If you created this backup, add --trust. Otherwise add --without-secrets: everything else is restored.",
        )
    return found


def _replace_data(
    settings: Settings, manifest: Manifest, staging: Path, admitted: Inspection, *, is_keyless: bool
) -> RestoreResult:
    has_settings = (staging / DATA / SETTINGS_FILE).exists()
    (staging / DATA / SETTINGS_FILE).unlink(missing_ok=True)
    stamp = f"{now():%Y%m%d-%H%M%S-%f}"  # with microseconds, to be unique
    key = (staging / VAULT_KEY).read_bytes() if admitted.credentials.has_vault_key else None
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
    missing_key = not is_keyless and _lacks_key(settings, manifest)
    return RestoreResult(manifest, aside, missing_key, admitted.credentials, admitted.contents, has_settings)


def verify(archive: Path) -> tuple[Manifest, Inspection]:
    """Read and verify an archive, and inspect its contents, without changing anything."""
    with tempfile.TemporaryDirectory(prefix="forge-verify-", dir=archive.parent) as folder:
        staging = Path(folder) / UNPACKING
        manifest = read_archive(archive, ArchiveExtractor(staging, only=PurePosixPath(SQLITE_FILE).parts[0]))
        _check_version(manifest)
        with open_database(manifest.database, staging) as database:
            database.check()
            found, contents = find_credentials(database, staging), count_contents(database)
    paths = {entry.path for entry in manifest.entries}
    keys = {
        "has_vault_key": VAULT_KEY in paths,
        "has_signing_keys": any(path.startswith(f"{SIGNING}/") for path in paths),
    }
    return manifest, Inspection(found.model_copy(update=keys), contents)


def _lacks_key(settings: Settings, manifest: Manifest) -> bool:
    if manifest.vault_key_hash is None:
        return False
    key = find_vault_key(settings)
    return key is None or hash_bytes(key.get_secret_value()) != manifest.vault_key_hash
