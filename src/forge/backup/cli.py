"""`forge backup` and `forge restore`, which access the data directory and the database without a server."""

from collections.abc import Iterable
from pathlib import Path

import click
from pydantic import BaseModel

from forge.backup.creation import create_backup
from forge.backup.credentials import CONTENTS, Credentials
from forge.backup.layout import SETTINGS_FILE
from forge.backup.models import Manifest
from forge.backup.restore import restore as restore_backup
from forge.backup.restore import verify as verify_backup
from forge.config import load_settings
from forge.kernel.clock import now
from forge.terminal.commands import Result, local_command
from forge.terminal.output import Fields, working
from forge.terminal.text import clean, size

MAX_NAMES = 5
_OUTSIDE = "not included, because they are your own folders"
_DATA_DIR = click.option(
    "--data-dir", type=click.Path(path_type=Path), help="Data directory (default ~/.forge)."
)
_FILE = click.Path(path_type=Path, dir_okay=False)


class BackupReport(BaseModel):
    """The manifest without its list of files, which may be long."""

    file: str
    size_bytes: int
    manifest: Manifest
    credentials: Credentials | None = None
    """Of a verified backup."""
    contents: dict[str, int] | None = None
    """Number of bots, workflows and others in a verified backup."""


class RestoreReport(BaseModel):
    data_dir: str
    manifest: Manifest
    aside: list[str]
    missing_key: bool
    credentials: Credentials
    contents: dict[str, int]


def _created(report: BackupReport | RestoreReport) -> str:
    return f"{report.manifest.made_at:%Y-%m-%d %H:%M:%S} UTC by Forge {report.manifest.forge}"


def _database(report: BackupReport | RestoreReport) -> str:
    return f"{report.manifest.database.kind}, schema {report.manifest.database.revision}"


def _credentials(report: BackupReport | RestoreReport) -> str | None:
    return report.credentials and (report.credentials.describe() or "none")


def _contents(report: BackupReport | RestoreReport) -> str:
    return ", ".join(f"{count} {CONTENTS[table]}" for table, count in (report.contents or {}).items())


def _vault_key(report: BackupReport) -> str:
    if report.manifest.has_vault_key:
        return "included: protect this file like the secrets"
    if report.manifest.vault_key_hash is None:
        return "none yet"
    return "not included: keep a copy of it elsewhere, the secrets cannot be read without it"


_restore_fields = Fields[RestoreReport](
    {
        "restored": "data_dir",
        "created": _created,
        "database": _database,
        "contents": _contents,
        "credentials": _credentials,
        "previous data": "aside",
        "next": lambda _: "forge serve",
    }
)


@click.command()
@click.argument("file", type=_FILE, required=False)
@_DATA_DIR
@click.option(
    "--with-vault-key",
    is_flag=True,
    help="Include the vault key. Anyone with the file can then read every secret.",
)
@click.option("--verify", is_flag=True, help="Verify FILE instead of creating it.")
@local_command
def backup(
    *, file: Path | None, data_dir: Path | None, with_vault_key: bool, verify: bool
) -> Result[BackupReport]:
    """Back up the database and all files to FILE, while Forge runs.

    Secrets are included, encrypted; the key that decrypts them is not, unless you add --with-vault-key. The default for FILE is
    forge-DATE-TIME.tar.gz in the current directory. Existing files are not overwritten.
    """
    if verify and file is None:
        raise click.UsageError("--verify needs FILE.")
    path = (file or Path(f"forge-{now():%Y-%m-%d-%H%M%S}.tar.gz")).absolute()
    with working("Reading the backup …" if verify else "Creating the backup …") as show_progress:
        if verify:
            manifest, found = verify_backup(path)
        else:
            settings = load_settings(data_dir=data_dir)
            manifest = create_backup(settings, path, show_progress, with_vault_key=with_vault_key)
            found = None
    report = BackupReport(
        file=str(path),
        size_bytes=path.stat().st_size,
        manifest=_without_entries(manifest),
        credentials=found and found.credentials,
        contents=found and found.contents,
    )
    fields = Fields[BackupReport](
        {
            "verified" if verify else "backup": "file",
            "size": "size_bytes",
            "created": _created,
            "database": _database,
            "files": lambda _: f"{len(manifest.entries)} ({size(manifest.size_bytes)})",
            "vault key": _vault_key,
            "contents": _contents,
            "credentials": _credentials,
        }
    )
    gaps = [
        _about("changed while they were copied, so they may be inconsistent", manifest.restless),
        _about("not included, because this user may not read them", manifest.unreadable),
        _about("not included, because they are links outside of workspaces", manifest.links),
        _about(_OUTSIDE, manifest.database.outside),
    ]
    return Result(report, fields, note="" if verify else _notes(gaps))


@click.command()
@click.argument("file", type=_FILE)
@_DATA_DIR
@click.option("--replace", is_flag=True, help="Move existing data aside first; it is not deleted.")
@click.option(
    "--trust",
    is_flag=True,
    help="Restore API keys, sessions, secrets, signing keys and adopted folders of the backup too.",
)
@click.option(
    "--without-secrets",
    is_flag=True,
    help="Omit secrets, and without --trust also API keys, sessions, signing keys and adopted folders.",
)
@local_command
def restore(
    *, file: Path, data_dir: Path | None, replace: bool, trust: bool, without_secrets: bool
) -> Result[RestoreReport]:
    """Restore the backup FILE into an empty data directory (and an empty database, on PostgreSQL).

    FILE is verified before anything changes. If it contains API keys, secrets, signing keys or workspaces in folders elsewhere,
    they are listed and nothing is restored unless you add --trust or --without-secrets. Settings (forge.toml) are never restored. Unfinished runs continue
    at the next start, so do not start the Forge that created the backup again.
    """
    settings = load_settings(data_dir=data_dir)
    with working("Restoring …") as show_progress:
        done = restore_backup(
            settings,
            file.absolute(),
            show_progress,
            replace=replace,
            trust=trust,
            without_secrets=without_secrets,
        )
    report = RestoreReport(
        data_dir=str(settings.data_dir),
        manifest=_without_entries(done.manifest),
        aside=done.aside,
        missing_key=done.missing_key,
        credentials=done.credentials,
        contents=done.contents,
    )
    notes = [_about(_OUTSIDE, done.credentials.folders)]
    if done.has_settings:
        notes.insert(
            0, f"{SETTINGS_FILE} in the backup was not restored; copy it from there if you trust it."
        )
    if done.missing_key:
        place = settings.vault_key_file or settings.data_dir / "vault.key"
        notes = [
            _about(
                "the vault key that decrypts these secrets is missing", done.credentials.secrets or ["all"]
            ),
            f"copy the vault key to {place} (mode 600) before the first start. If it is lost, restore again with "
            "--without-secrets.",
            *notes,
        ]
    return Result(report, _restore_fields, note=_notes(notes))


def _about(what: str, names: list[str]) -> str:
    more = len(names) - MAX_NAMES
    listed = ", ".join(names[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
    return f"{what}: {listed}." if names else ""


def _notes(lines: Iterable[str]) -> str:
    label = click.style("note:", fg="yellow")
    return "\n".join(f"{label} {clean(line)}" for line in lines if line)


def _without_entries(manifest: Manifest) -> Manifest:
    return manifest.model_copy(update={"entries": []})
