"""`forge drafts` and `forge interview`: interviews under way, those that are over, and what they left behind."""

from pathlib import Path, PurePosixPath

import click

from forge.errors import Invalid
from forge.interview.console import show
from forge.interview.models import (
    Assembled,
    DraftSummary,
    FileChange,
    MemoryEntry,
    SessionDeleted,
    SessionView,
)
from forge.terminal.client import Client, connect
from forge.terminal.inputs import be_sure
from forge.terminal.lookup import choose, is_id
from forge.terminal.options import json_option, yes_option
from forge.terminal.output import console, print_json
from forge.terminal.text import clean


@click.group(invoke_without_command=True)
@click.pass_context
def drafts(ctx: click.Context) -> None:
    """List and delete unfinished interviews. Without a command: list them."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_drafts, as_json=False)


@drafts.command("list")
@json_option
def list_drafts(as_json: bool) -> None:
    """List unfinished interviews, latest first."""
    with connect() as client:
        found = client.get("/builder/drafts", list[DraftSummary])
    if as_json:
        print_json(found)
    elif not found:
        click.echo("There are no drafts. Begin an interview: forge new", err=True)
    else:
        console().print(show.drafts_table(found))


@drafts.command()
@click.argument("session", metavar="ID")
@yes_option
@json_option
def delete(session: str, yes: bool, as_json: bool) -> None:
    """Delete an interview and its answers. Bots and skills created in it are kept."""
    with connect() as client:
        found = client.get(f"/builder/sessions/{_find(client, session)}", SessionView)
        if not yes:
            about = clean(" ".join(found.initial_description.split()))[:60]
            be_sure(f"Delete “{about or found.session_id}”?")
        deleted = client.delete(f"/builder/sessions/{found.session_id}", SessionDeleted)
    if as_json:
        print_json(deleted)
    else:
        click.echo(f"Deleted {deleted.session_id}.")


@click.group()
def interview() -> None:
    """Show interviews, replay them, and manage what is remembered of them."""


@interview.command("show")
@click.argument("session", metavar="ID")
@json_option
def show_session(session: str, as_json: bool) -> None:
    """Show the questions, answers and progress of an interview."""
    with connect() as client:
        view = client.get(f"/builder/sessions/{_find(client, session)}", SessionView)
    if as_json:
        print_json(view)
    else:
        console().print(show.session_page(view))


@interview.command()
@click.argument("session", metavar="ID")
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write the files to this folder instead of printing them.",
)
@json_option
@click.pass_context
def replay(ctx: click.Context, session: str, out: Path | None, as_json: bool) -> None:
    """Regenerate the files of a finished interview from its answers.

    Exit code 1 if they differ from the files that were created.
    """
    with connect() as client:
        replayed = client.get(f"/builder/sessions/{_find(client, session)}/replay", Assembled)
    if out is not None:
        _write(out, replayed.files)
    if as_json:
        print_json(replayed)
    elif out is None:
        console().print(show.files_page(replayed.files))
    _say_verdict(replayed)
    ctx.exit(1 if replayed.differs else 0)


def _say_verdict(replayed: Assembled) -> None:
    count = len(replayed.files)
    if replayed.differs:
        click.echo(f"Not what was made: {clean(', '.join(replayed.differs))}", err=True)
    else:
        click.echo(f"{count} file{'s' * (count != 1)}, byte for byte what was made.", err=True)


def _write(folder: Path, files: list[FileChange]) -> None:
    """Into new files only, and nowhere but below the folder."""
    for change in files:
        parts = PurePosixPath(change.path)
        if parts.is_absolute() or ".." in parts.parts:
            raise Invalid(f"{change.path!r} is no file below {folder}.")
        target = folder.joinpath(*parts.parts)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as file:
                file.write(change.content.encode())
        except FileExistsError as error:
            raise Invalid(f"{target} is there already.", hint="Name an empty folder.") from error
        except OSError as error:
            raise Invalid(f"{target} cannot be written: {error.strerror}.") from error
        click.echo(f"Wrote {target}.", err=True)


@interview.command()
@click.option("--forget", metavar="ID", help="Delete this memory.")
@click.option("--forget-all", is_flag=True, help="Delete all of them.")
@yes_option
@json_option
def memory(forget: str | None, forget_all: bool, yes: bool, as_json: bool) -> None:
    """Show what finished interviews left as suggestions for later ones."""
    if forget and forget_all:
        raise click.UsageError("--forget and --forget-all exclude each other.")
    with connect() as client:
        found = client.get("/builder/memory", list[MemoryEntry], {"limit": 200})
        if forget or forget_all:
            _forget(client, found, forget, yes=yes)
            found = client.get("/builder/memory", list[MemoryEntry], {"limit": 200})
    if as_json:
        print_json(found)
    elif not found:
        click.echo("Nothing is remembered.", err=True)
    else:
        console().print(show.memory_table(found))


def _forget(client: Client, entries: list[MemoryEntry], given: str | None, *, yes: bool) -> None:
    if given:
        entry = choose(given, "memory", entries, _entry_id, many="memories", listed_by="interview memory")
        client.delete(f"/builder/memory/{entry.id}", int)
        return
    if not yes:
        be_sure(f"Forget all {len(entries)}?")
    client.delete("/builder/memory", int)


def _find(client: Client, given: str) -> str:
    """A whole id is of any interview; the beginning of one is looked for among the drafts."""
    if is_id(given.lower()):
        return given.lower()
    found = client.get("/builder/drafts", list[DraftSummary])
    return choose(given, "draft", found, _session_id, listed_by="drafts").session_id


def _session_id(draft: DraftSummary) -> str:
    return draft.session_id


def _entry_id(entry: MemoryEntry) -> str:
    return entry.id
