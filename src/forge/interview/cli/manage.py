"""`forge drafts` and `forge interview`: list, show, replay and delete interviews and what is remembered of them."""

from pathlib import Path, PurePosixPath

import click

from forge.errors import Invalid
from forge.interview.cli import renderers
from forge.interview.cli.session_client import find_session, list_drafts, session_path
from forge.interview.domain.text_analysis import one_line
from forge.interview.models import (
    Assembled,
    DraftSummary,
    FileChange,
    MemoryEntry,
    SessionDeleted,
    SessionView,
)
from forge.terminal.client import Client
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import confirm, write_file
from forge.terminal.lookup import choose
from forge.terminal.options import yes_option


@click.group(invoke_without_command=True)
@click.pass_context
def drafts(ctx: click.Context) -> None:
    """List and delete unfinished interviews. Without a command: list them."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(show_drafts, as_json=False)


@drafts.command("list")
@api_command
def show_drafts(client: Client) -> Result[list[DraftSummary]]:
    """List unfinished interviews, latest first."""
    found = list_drafts(client)
    return Result(found, renderers.drafts_table, empty="No drafts. Start an interview: forge new")


@drafts.command()
@yes_option
@api_command
def delete(client: Client, id: str, /, *, yes: bool) -> Result[SessionDeleted]:
    """Delete an interview and its answers. Bots and skills created in it are kept."""
    found = _view(client, id)
    confirm(f"Delete “{one_line(found.initial_description)[:60] or found.session_id}”?", yes=yes)
    deleted = client.delete(session_path(found.session_id), SessionDeleted)
    return Result(deleted, f"Deleted {deleted.session_id}.")


@click.group()
def interview() -> None:
    """Show interviews, replay them, and manage what is remembered of them."""


@interview.command("show")
@api_command
def show_session(client: Client, id: str, /) -> Result[SessionView]:
    """Show the questions, answers and progress of an interview."""
    return Result(_view(client, id), renderers.session_page)


@interview.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Write the files to this folder instead of printing them.",
)
@api_command
def replay(client: Client, id: str, /, *, out: Path | None) -> Result[Assembled]:
    """Regenerate the files of a finished interview from its answers.

    Exit code 1 if they differ from the files that were created.
    """
    replayed = client.get(session_path(find_session(client, id), "replay"), Assembled)
    for change in replayed.files if out else ():
        _write(out or Path(), change)
    count = len(replayed.files)
    note = f"{count} file{'s' * (count != 1)}, identical to what was created."
    if replayed.differs:
        note = f"These files differ from what was created: {', '.join(replayed.differs)}"
    page = "" if out else renderers.files_page(replayed.files)
    return Result(replayed, lambda _: page, note=note, exit_code=1 if replayed.differs else 0)


def _write(folder: Path, change: FileChange) -> None:
    """Write a new file below the folder."""
    parts = PurePosixPath(change.path)
    if parts.is_absolute() or ".." in parts.parts:
        raise Invalid(f"{change.path!r} is not a path inside {folder}.")
    target = folder / parts
    if target.exists() or target.is_symlink():
        raise Invalid(f"{target} already exists.", hint="Choose an empty directory.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Invalid(f"{target} cannot be written: {error.strerror}.") from error
    write_file(target, change.content)


@interview.command()
@click.option("--forget", metavar="ID", help="Delete this memory.")
@click.option("--forget-all", is_flag=True, help="Delete all of them.")
@yes_option
@api_command
def memory(client: Client, *, forget: str | None, forget_all: bool, yes: bool) -> Result[list[MemoryEntry]]:
    """Show what finished interviews left as suggestions for later ones."""
    if forget and forget_all:
        raise click.UsageError("--forget cannot be combined with --forget-all.")
    found = _memories(client)
    if forget:
        entry = choose(
            forget, "memory", found, lambda entry: entry.id, many="memories", listed_by="interview memory"
        )
        client.delete(f"/builder/memory/{entry.id}", int)
    elif forget_all:
        confirm(f"Delete all {len(found)} memories?", yes=yes)
        client.delete("/builder/memory", int)
    left = _memories(client) if forget or forget_all else found
    return Result(left, renderers.memory_table, empty="Nothing is remembered.")


def _memories(client: Client) -> list[MemoryEntry]:
    return client.get("/builder/memory", list[MemoryEntry], {"limit": 200})


def _view(client: Client, prefix: str) -> SessionView:
    return client.get(session_path(find_session(client, prefix)), SessionView)
