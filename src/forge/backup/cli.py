"""`forge backup` and `forge restore`. Both work on the data directory and the database themselves, without a server."""

from pathlib import Path

import click

from forge.terminal.options import json_option

_DATA_DIR = click.option(
    "--data-dir", type=click.Path(path_type=Path), help="Where Forge keeps its data (default ~/.forge)."
)
_FILE = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.argument("file", type=_FILE, required=False)
@_DATA_DIR
@click.option(
    "--with-vault-key", is_flag=True, help="Put the vault key in: whoever has the file can read every secret."
)
@click.option("--verify", is_flag=True, help="Read FILE instead, and compare everything in it.")
@json_option
def backup(
    file: Path | None, data_dir: Path | None, with_vault_key: bool, verify: bool, as_json: bool
) -> None:
    """Write everything Forge remembers into FILE, while it runs.

    That is the database as of one moment, and the files of the data directory. Secrets are in it sealed; the vault key that
    opens them is not, unless you say so. FILE is forge-DATE-TIME.tar.gz here when left out; it is never overwritten.
    """
    from forge.backup import show
    from forge.backup.archive import read_archive
    from forge.backup.creation import create_backup
    from forge.config import load_settings
    from forge.kernel.clock import now
    from forge.terminal.output import working

    if verify and file is None:
        raise click.UsageError("Say which FILE to verify.")
    path = (file or Path(f"forge-{now():%Y-%m-%d-%H%M%S}.tar.gz")).absolute()
    with working("Reading the backup …" if verify else "Making a backup …") as say:
        if verify:
            manifest = read_archive(path)
        else:
            settings = load_settings(data_dir=data_dir)
            manifest = create_backup(settings, path, say, with_vault_key=with_vault_key)
    show.print_backup(path, manifest, as_json=as_json, is_new=not verify)


@click.command()
@click.argument("file", type=_FILE)
@_DATA_DIR
@click.option(
    "--replace", is_flag=True, help="Also when there is something already: it is moved aside, not deleted."
)
@click.option(
    "--without-secrets", is_flag=True, help="Leave the sealed secrets out: for when their key is lost."
)
@json_option
def restore(file: Path, data_dir: Path | None, replace: bool, without_secrets: bool, as_json: bool) -> None:
    """Put the backup FILE back, into an empty data directory (and an empty database, on PostgreSQL).

    Refused while a server uses it. Everything in FILE is compared with what was put in before anything changes. What was
    under way goes on at the next start, so do not start the Forge it came from again.
    """
    from forge.backup import show
    from forge.backup.restore import restore
    from forge.config import load_settings
    from forge.terminal.output import working

    settings = load_settings(data_dir=data_dir)
    with working("Restoring …") as say:
        done = restore(settings, file.absolute(), say, replace=replace, without_secrets=without_secrets)
    show.print_restored(settings, done, as_json=as_json)
