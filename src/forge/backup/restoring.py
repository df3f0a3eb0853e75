"""Restores a backup: unpacked and compared first, put in place afterwards; until then nothing is changed."""

from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from forge.accounts.vault_key import find_vault_key
from forge.backup import postgresql_load
from forge.backup.archive import read_archive
from forge.backup.forgetting import forget_secrets
from forge.backup.models import DATA, SQLITE_FILE, VAULT_KEY, Manifest
from forge.backup.placing import ASIDE, UNFINISHED, UNPACKING, Placing, is_empty
from forge.backup.unpacking import Unpacking
from forge.config import Settings
from forge.errors import Conflict, Invalid, Unavailable
from forge.kernel.clock import now
from forge.kernel.hashing import hash_bytes
from forge.kernel.lock import DirectoryLock, LockHeld
from forge.kernel.removing import clear_away, remove_tree
from forge.runs.engine_tables import newest_engine_revision
from forge.store.schema import revisions

Say = Callable[[str], None]


@dataclass(frozen=True)
class Restored:
    manifest: Manifest
    aside: list[str]
    """Where the old things are now: a folder, a schema."""
    missing_key: bool
    """The secrets cannot be opened: the key they were sealed with is not here."""


def restore(
    settings: Settings, archive: Path, say: Say, *, replace: bool = False, without_secrets: bool = False
) -> Restored:
    with _alone(settings.data_dir):
        _check_free(settings, replace=replace)
        staging = settings.data_dir / UNPACKING
        try:
            if staging.exists():
                remove_tree(staging)
            say("Unpacking and comparing …")
            manifest = _unpack(settings, archive, staging)
            if without_secrets:
                forget_secrets(manifest.database, staging)
            say("Putting it in place …")
            return _put_in_place(settings, manifest, staging, is_keyless=without_secrets)
        except OSError as error:
            what = f"{error.filename}: {error.strerror}" if error.filename else str(error.strerror or error)
            raise Unavailable(
                f"The backup could not be restored: {what}.",
                hint="Make room, and do it again: forge restore FILE",
            ) from error
        finally:
            if staging.exists():
                clear_away(staging, "what was unpacked of the backup")


@contextmanager
def _alone(data_dir: Path) -> Generator[None]:
    """As a server is: nobody starts meanwhile."""
    with ExitStack() as stack:
        _lock(data_dir, stack)
        yield


def _lock(data_dir: Path, stack: ExitStack) -> None:
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        stack.enter_context(DirectoryLock(data_dir))
    except LockHeld as error:
        raise Conflict(f"A Forge (process {error.pid}) uses {data_dir}.", hint="Stop it first.") from error
    except OSError as error:
        raise Unavailable(f"{data_dir} cannot be used: {error.strerror}.") from error


def _check_free(settings: Settings, *, replace: bool) -> None:
    data_dir = settings.data_dir
    if not replace and not (data_dir / UNFINISHED).exists() and not is_empty(data_dir):
        raise Conflict(
            f"{data_dir} is not empty.",
            hint="Restore into an empty one (--data-dir), or add --replace: what is there is moved aside.",
        )
    if settings.database_url is not None:
        postgresql_load.check_free(settings.store_url, replace=replace)


def _unpack(settings: Settings, archive: Path, staging: Path) -> Manifest:
    unpacking = Unpacking(staging)
    manifest = read_archive(archive, unpacking)
    _check_fits(settings, manifest)
    unpacking.finish()
    (staging / DATA).mkdir(mode=0o700, exist_ok=True)
    return manifest


def _check_fits(settings: Settings, manifest: Manifest) -> None:
    copy = manifest.database
    wanted = "sqlite" if settings.database_url is None else "postgresql"
    if copy.kind != wanted:
        raise Invalid(
            f"The backup is of {copy.kind}, and the settings say {wanted}.",
            hint="Set FORGE_DATABASE_URL to an empty database to restore into PostgreSQL; leave it out for SQLite. "
            "A backup is restored into the kind of database it was made of.",
        )
    if copy.revision not in revisions() or (copy.engine_revision or 0) > newest_engine_revision(copy.kind):
        raise Invalid(
            f"The backup is of Forge {manifest.forge} and newer than this one (schema {copy.revision}; known are "
            f"those up to {revisions()[-1]}).",
            hint="Restore it with the version of Forge that made it, or a newer one.",
        )


def _put_in_place(settings: Settings, manifest: Manifest, staging: Path, *, is_keyless: bool) -> Restored:
    stamp = f"{now():%Y%m%d-%H%M%S-%f}"  # as exact as it takes for no two to be the same
    key = (staging / VAULT_KEY).read_bytes() if manifest.has_vault_key and not is_keyless else None
    placing = Placing(settings.data_dir, f"{ASIDE}{stamp}")
    aside: list[str] = []
    placing.begin()
    if settings.database_url is None:
        (staging / SQLITE_FILE).rename(staging / DATA / "forge.db")
    else:
        schema = f"{ASIDE}{stamp}".replace("-", "_")
        if moved := postgresql_load.load_database(
            settings.store_url, manifest.database, staging, aside=schema
        ):
            aside.append(f"schema {moved}")
    if folder := placing.finish(staging / DATA, key):
        aside.append(str(folder))
    return Restored(manifest, aside, missing_key=not is_keyless and _lacks_key(settings, manifest))


def _lacks_key(settings: Settings, manifest: Manifest) -> bool:
    if manifest.vault_key_hash is None:
        return False
    key = find_vault_key(settings)
    return key is None or hash_bytes(key.get_secret_value()) != manifest.vault_key_hash
