"""What `forge backup` and `forge restore` say when they are done."""

from pathlib import Path

import click
from pydantic import BaseModel

from forge.backup.models import Manifest
from forge.backup.restore import RestoreResult
from forge.config import Settings
from forge.terminal.output import console, key_values, print_json
from forge.terminal.text import clean, size

MAX_NAMES = 5


class BackupReport(BaseModel):
    """The manifest without its list of every file, which may be long."""

    file: str
    size_bytes: int
    manifest: Manifest


class RestoreReport(BaseModel):
    data_dir: str
    manifest: Manifest
    aside: list[str]
    missing_key: bool


def print_backup(path: Path, manifest: Manifest, *, as_json: bool, is_new: bool) -> None:
    report = BackupReport(file=str(path), size_bytes=path.stat().st_size, manifest=_short(manifest))
    if as_json:
        print_json(report)
        return
    rows = [
        ("backup" if is_new else "sound", f"{path} ({size(report.size_bytes)})"),
        ("made", f"{manifest.made_at:%Y-%m-%d %H:%M:%S} UTC by Forge {manifest.forge}"),
        ("database", f"{manifest.database.kind}, schema {manifest.database.revision}"),
        ("entries", f"{len(manifest.entries)} ({size(manifest.size_bytes)})"),
        ("vault key", _about_key(manifest)),
    ]
    console().print(key_values(rows))
    if is_new:
        _warn_of_gaps(manifest)


def print_restored(settings: Settings, done: RestoreResult, *, as_json: bool) -> None:
    manifest = done.manifest
    report = RestoreReport(
        data_dir=str(settings.data_dir),
        manifest=_short(manifest),
        aside=done.aside,
        missing_key=done.missing_key,
    )
    if as_json:
        print_json(report)
        return
    rows = [
        ("restored", f"{settings.data_dir}, as of {manifest.made_at:%Y-%m-%d %H:%M:%S} UTC"),
        ("database", f"{manifest.database.kind}, schema {manifest.database.revision}"),
        ("kept aside", ", ".join(done.aside) or None),
        ("next", "forge serve"),
    ]
    console().print(key_values(rows))
    if done.missing_key:
        place = settings.vault_key_file or settings.data_dir / "vault.key"
        names = _few(manifest.database.secrets) or "none but Forge's own mark"
        _warn(f"the vault key the secrets were sealed with is not here. Sealed: {names}.")
        _warn(
            f"put it at {place} (mode 600) before the first start; if it is lost, restore again --without-secrets."
        )
    _warn_of_outside(manifest)


def _warn_of_gaps(manifest: Manifest) -> None:
    if manifest.restless:
        _warn(f"written to all the while, and copied as they were at some moment: {_few(manifest.restless)}.")
    if manifest.unreadable:
        _warn(f"closed to this user, and not in the backup: {_few(manifest.unreadable)}.")
    _warn_of_outside(manifest)


def _warn_of_outside(manifest: Manifest) -> None:
    if manifest.database.outside:
        _warn(f"adopted workspaces are elsewhere, and not in the backup: {_few(manifest.database.outside)}.")


def _about_key(manifest: Manifest) -> str:
    if manifest.has_vault_key:
        return "in it: keep this file as you keep the secrets"
    if manifest.vault_key_hash is None:
        return "there is none yet"
    return "not in it: keep the key apart, without it the secrets are lost"


def _short(manifest: Manifest) -> Manifest:
    return manifest.model_copy(update={"entries": []})


def _few(names: list[str]) -> str:
    more = len(names) - MAX_NAMES
    return ", ".join(names[:MAX_NAMES]) + (f" and {more} more" if more > 0 else "")


def _warn(text: str) -> None:
    click.echo(f"{click.style('note:', fg='yellow')} {clean(text)}", err=True)
