"""`forge workspaces`."""

from pathlib import Path

import click

from forge.terminal.client import Client, connect
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import confirm
from forge.terminal.options import json_option, yes_option
from forge.terminal.output import Columns, Fields, print_json
from forge.terminal.text import clean, size
from forge.workspace.filesystem.entries import EntryKind
from forge.workspace.lookup import find_workspace
from forge.workspace.models import FileEntry, FileText, FoundLines, WorkspaceInfo

_SUFFIXES = {EntryKind.DIR: "/", EntryKind.LINK: "@"}

_workspaces_table = Columns[WorkspaceInfo](
    {"NAME": "name", "DIRECTORY": "path", "CREATED": "created_at", "ID": "id"}, wrap={"NAME", "DIRECTORY"}
)
_workspace_page = Fields[WorkspaceInfo](
    {
        "name": "name",
        "id": "id",
        "directory": "path",
        "kind": lambda one: "adopted" if one.is_adopted else "Forge's own",
        "created": "created_at",
    }
)
_files_table = Columns[FileEntry](
    {
        "NAME": lambda entry: entry.name + _SUFFIXES.get(entry.kind, ""),
        "SIZE": lambda entry: size(entry.size) if entry.kind is EntryKind.FILE else "",
    },
    wrap={"NAME"},
)


@click.group()
def workspaces() -> None:
    """List, create, browse and remove workspaces."""


@workspaces.command("list")
@api_command
def list_workspaces(client: Client) -> Result[list[WorkspaceInfo]]:
    """List workspaces."""
    found = client.get("/workspaces", list[WorkspaceInfo])
    return Result(
        found, _workspaces_table, empty="There are no workspaces. Make one: forge workspaces create NAME"
    )


@workspaces.command()
@click.argument("name")
@click.option(
    "--path",
    type=click.Path(path_type=Path),
    help="Adopt this directory of the server (requires admin).",
)
@api_command
def create(client: Client, name: str, path: Path | None) -> Result[WorkspaceInfo]:
    """Create the workspace NAME, empty or from an existing directory."""
    whole = str(path.expanduser().absolute()) if path else None
    return Result(client.post("/workspaces", WorkspaceInfo, {"name": name, "path": whole}), _workspace_page)


@workspaces.command()
@click.argument("workspace")
@api_command
def show(client: Client, workspace: str) -> Result[WorkspaceInfo]:
    """Show the path and age of a workspace."""
    found = client.get(f"/workspaces/{find_workspace(client, workspace)}", WorkspaceInfo)
    return Result(found, _workspace_page)


@workspaces.command()
@click.argument("workspace")
@yes_option
@api_command
def remove(client: Client, workspace: str, yes: bool) -> Result[WorkspaceInfo]:
    """Remove a workspace and its history. Its directory is deleted unless it was adopted."""
    found = client.get(f"/workspaces/{find_workspace(client, workspace)}", WorkspaceInfo)
    what = "its history" if found.is_adopted else f"everything in {found.path}"
    confirm(f"Remove the workspace {found.name!r} and {what}?", yes=yes)
    removed = client.delete(f"/workspaces/{found.id}", WorkspaceInfo)
    return Result(removed, f"Removed the workspace {removed.name}.")


@workspaces.command()
@click.argument("workspace")
@click.argument("path", default=".")
@api_command
def files(client: Client, workspace: str, path: str) -> Result[list[FileEntry]]:
    """List the files in PATH (default: the whole workspace)."""
    where = f"/workspaces/{find_workspace(client, workspace)}/files"
    found = client.get(where, list[FileEntry], {"path": path})
    return Result(found, _files_table, empty="There are no files.")


@workspaces.command()
@click.argument("workspace")
@click.argument("path")
@api_command
def cat(client: Client, workspace: str, path: str) -> Result[FileText]:
    """Print a text file."""
    found = client.get(f"/workspaces/{find_workspace(client, workspace)}/file", FileText, {"path": path})
    note = ""
    if found.is_binary or found.is_cut:
        what = "not text" if found.is_binary else "longer than what is shown"
        note = clean(f"{path} ({size(found.size)}) is {what}.")
    return Result(found, found.text.removesuffix("\n"), note=note)


@workspaces.command("search")
@click.argument("workspace")
@click.argument("pattern")
@click.option("--glob", help="Only files that match this glob: '*.py', 'src/**/*.ts'.")
@click.option("--path", default=".", help="Only files in this directory.")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="Maximum number of lines."
)
@json_option
def search_files(
    workspace: str, pattern: str, glob: str | None, path: str, limit: int, as_json: bool
) -> None:
    """Find lines that match the regular expression PATTERN, ignoring case."""
    with connect() as client:
        where = f"/workspaces/{find_workspace(client, workspace)}/search"
        found = client.get(where, FoundLines, {"q": pattern, "glob": glob, "path": path, "limit": limit})
    if as_json:
        print_json(found)
        return
    for match in found.matches:
        click.echo(f"{click.style(clean(f'{match.path}:{match.line}'), fg='blue')}: {clean(match.text)}")
    if found.literal:
        click.echo("The pattern is not a valid RE2 expression; it was searched for as text.", err=True)
    if found.truncated and len(found.matches) < limit:
        click.echo("Not everything was searched: a file is too large, or it took too long.", err=True)
    elif found.truncated:
        click.echo("There may be more. See more: --limit", err=True)
