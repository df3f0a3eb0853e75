"""`forge workspaces`."""

from collections.abc import Iterable
from pathlib import Path

import click
from rich.table import Table

from forge.kernel.clock import now
from forge.terminal.asking import be_sure
from forge.terminal.client import connect
from forge.terminal.options import json_option, yes_option
from forge.terminal.output import console, key_values, print_json, table, words
from forge.terminal.text import ago, clean, size
from forge.workspace.choice import find_workspace
from forge.workspace.entries import EntryKind
from forge.workspace.models import FileEntry, FileText, FoundLines, WorkspaceInfo


@click.group()
def workspaces() -> None:
    """List, create, look into and remove workspaces."""


@workspaces.command("list")
@json_option
def list_workspaces(as_json: bool) -> None:
    """List the directories Forge may work in."""
    with connect() as client:
        found = client.get("/workspaces", list[WorkspaceInfo])
    if as_json:
        print_json(found)
    elif not found:
        click.echo("There are no workspaces. Make one: forge workspaces create NAME", err=True)
    else:
        console().print(_table(found))


@workspaces.command()
@click.argument("name")
@click.option(
    "--path",
    type=click.Path(path_type=Path),
    help="Adopt this directory of the server's machine (needs admin).",
)
@json_option
def create(name: str, path: Path | None, as_json: bool) -> None:
    """Make a workspace called NAME, empty unless a directory is adopted."""
    whole = str(path.expanduser().absolute()) if path else None
    with connect() as client:
        made = client.post("/workspaces", WorkspaceInfo, {"name": name, "path": whole})
    _print(made, as_json=as_json)


@workspaces.command()
@click.argument("workspace")
@json_option
def show(workspace: str, as_json: bool) -> None:
    """Show where a workspace is and how old."""
    with connect() as client:
        found = client.get(f"/workspaces/{find_workspace(client, workspace)}", WorkspaceInfo)
    _print(found, as_json=as_json)


@workspaces.command()
@click.argument("workspace")
@yes_option
@json_option
def remove(workspace: str, yes: bool, as_json: bool) -> None:
    """Remove a workspace and its history. Its directory goes, too, unless it was adopted."""
    with connect() as client:
        found = client.get(f"/workspaces/{find_workspace(client, workspace)}", WorkspaceInfo)
        if not yes:
            what = "its history" if found.is_adopted else f"everything in {found.path}"
            be_sure(f"Remove the workspace {found.name!r} and {what}?")
        removed = client.delete(f"/workspaces/{found.id}", WorkspaceInfo)
    if as_json:
        print_json(removed)
    else:
        click.echo(f"Removed the workspace {clean(removed.name)}.")


@workspaces.command()
@click.argument("workspace")
@click.argument("path", default=".")
@json_option
def files(workspace: str, path: str, as_json: bool) -> None:
    """List what is in PATH, the whole workspace when left out."""
    with connect() as client:
        found = client.get(
            f"/workspaces/{find_workspace(client, workspace)}/files", list[FileEntry], {"path": path}
        )
    if as_json:
        print_json(found)
    elif found:
        rows = table("NAME", "SIZE", wrapped={"NAME"})
        for entry in found:
            rows.add_row(words(_marked(entry)), size(entry.size) if entry.kind is EntryKind.FILE else "")
        console().print(rows)


@workspaces.command()
@click.argument("workspace")
@click.argument("path")
@json_option
def cat(workspace: str, path: str, as_json: bool) -> None:
    """Print the text of a file."""
    with connect() as client:
        found = client.get(f"/workspaces/{find_workspace(client, workspace)}/file", FileText, {"path": path})
    if as_json:
        print_json(found)
        return
    click.echo(clean(found.text), nl=not found.text.endswith("\n"))
    if found.is_binary or found.is_cut:
        what = "not text" if found.is_binary else "cut: it is longer than is shown"
        click.echo(f"{clean(path)} ({size(found.size)}) is {what}.", err=True)


@workspaces.command("search")
@click.argument("workspace")
@click.argument("pattern")
@click.option("--glob", help="Only files like this: '*.py', 'src/**/*.ts'.")
@click.option("--path", default=".", help="Only below this directory.")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="How many lines at most."
)
@json_option
def search_files(
    workspace: str, pattern: str, glob: str | None, path: str, limit: int, as_json: bool
) -> None:
    """Find lines that match PATTERN, a regular expression, whatever their case."""
    with connect() as client:
        where = f"/workspaces/{find_workspace(client, workspace)}/search"
        found = client.get(where, FoundLines, {"q": pattern, "glob": glob, "path": path, "limit": limit})
    if as_json:
        print_json(found)
        return
    for match in found.matches:
        click.echo(f"{click.style(clean(f'{match.path}:{match.line}'), fg='blue')}: {clean(match.text)}")
    if found.literal:
        click.echo("That is no expression RE2 can read; it was looked for as text.", err=True)
    if found.truncated and len(found.matches) < limit:
        click.echo("Not everything was searched: the file is too large, or it took too long.", err=True)
    elif found.truncated:
        click.echo("There may be more. See more: --limit", err=True)


def _print(workspace: WorkspaceInfo, *, as_json: bool) -> None:
    if as_json:
        print_json(workspace)
        return
    kind = "adopted" if workspace.is_adopted else "Forge's own"
    pairs = [("name", workspace.name), ("id", workspace.id), ("directory", workspace.path), ("kind", kind)]
    console().print(key_values([*pairs, ("created", ago(workspace.created_at, now()))]))


def _table(found: Iterable[WorkspaceInfo]) -> Table:
    rows = table("NAME", "DIRECTORY", "CREATED", "ID", wrapped={"NAME", "DIRECTORY"})
    for one in found:
        rows.add_row(words(one.name), words(one.path), ago(one.created_at, now()), words(one.id))
    return rows


def _marked(entry: FileEntry) -> str:
    return entry.name + {EntryKind.DIR: "/", EntryKind.LINK: "@"}.get(entry.kind, "")
