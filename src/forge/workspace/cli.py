"""`forge workspaces`."""

from pathlib import Path

import click

from forge.terminal.client import Client
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import confirm
from forge.terminal.options import yes_option
from forge.terminal.output import Columns, Fields
from forge.terminal.text import clean, size
from forge.workspace.filesystem.entries import EntryKind
from forge.workspace.filesystem.search import FoundLines
from forge.workspace.lookup import find_workspace
from forge.workspace.models import FileEntry, FileText, WorkspaceInfo

_SUFFIXES = {EntryKind.DIR: "/", EntryKind.LINK: "@"}

_workspace_page = Fields[WorkspaceInfo](
    "name id path", {"kind": lambda one: "adopted" if one.is_adopted else "created by Forge"}, "created_at"
)
_files_table = Columns[FileEntry](
    {
        "name": lambda entry: entry.name + _SUFFIXES.get(entry.kind, ""),
        "size": lambda entry: size(entry.size) if entry.kind is EntryKind.FILE else "",
    }
)


@click.group()
def workspaces() -> None:
    """List, create, browse and remove workspaces."""


@workspaces.command("list")
@api_command
def list_workspaces(client: Client) -> Result[list[WorkspaceInfo]]:
    """List workspaces."""
    found = client.get("/workspaces", list[WorkspaceInfo])
    empty = "No workspaces. Create one: forge workspaces create NAME"
    return Result(found, Columns[WorkspaceInfo]("name path created_at id"), empty)


@workspaces.command()
@click.option(
    "--path",
    type=click.Path(path_type=Path),
    help="Adopt this existing directory of the server (requires admin).",
)
@api_command
def create(client: Client, name: str, /, path: Path | None) -> Result[WorkspaceInfo]:
    """Create the workspace NAME, empty or from an existing directory."""
    whole = str(path.expanduser().absolute()) if path else None
    return Result(client.post("/workspaces", WorkspaceInfo, {"name": name, "path": whole}), _workspace_page)


@workspaces.command()
@api_command
def show(client: Client, workspace: str, /) -> Result[WorkspaceInfo]:
    """Show the path and age of a workspace."""
    return Result(client.get(_path(client, workspace), WorkspaceInfo), _workspace_page)


@workspaces.command()
@yes_option
@api_command
def remove(client: Client, workspace: str, /, yes: bool) -> Result[WorkspaceInfo]:
    """Remove a workspace and its history. Its directory is deleted unless it was adopted."""
    found = client.get(_path(client, workspace), WorkspaceInfo)
    what = "its history" if found.is_adopted else f"everything in {found.path}"
    confirm(f"Remove the workspace {found.name!r} and {what}?", yes=yes)
    removed = client.delete(f"/workspaces/{found.id}", WorkspaceInfo)
    return Result(removed, f"Removed the workspace {removed.name}.")


@workspaces.command()
@api_command
def files(client: Client, workspace: str, path: str = ".", /) -> Result[list[FileEntry]]:
    """List the files in PATH (default: the whole workspace)."""
    found = client.get(f"{_path(client, workspace)}/files", list[FileEntry], {"path": path})
    return Result(found, _files_table, empty="No files.")


@workspaces.command()
@api_command
def cat(client: Client, workspace: str, path: str, /) -> Result[FileText]:
    """Print a text file."""
    found = client.get(f"{_path(client, workspace)}/file", FileText, {"path": path})
    what = "not text" if found.is_binary else "not shown completely" if found.is_cut else ""
    note = clean(f"{path} ({size(found.size)}) is {what}.") if what else ""
    return Result(found, found.text.removesuffix("\n"), note=note)


@workspaces.command("search")
@click.option("--glob", help="Only files that match this glob: '*.py', 'src/**/*.ts'.")
@click.option("--path", default=".", help="Only files in this directory.")
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=50, show_default=True, help="Maximum number of lines."
)
@api_command
def search_files(
    client: Client, workspace: str, pattern: str, /, limit: int, **options: str
) -> Result[FoundLines]:
    """Find lines that match the regular expression PATTERN, ignoring case."""
    query = {"q": pattern, "limit": limit, **options}
    found = client.get(f"{_path(client, workspace)}/search", FoundLines, query)
    notes: list[str] = []
    if found.literal:
        notes.append("The pattern is not a valid RE2 expression; it was searched for as text.")
    if found.truncated and len(found.matches) < limit:
        notes.append("The search is incomplete: a file is too large, or the search took too long.")
    elif found.truncated:
        notes.append("There may be more matches. Increase --limit to see them.")
    lines = (f"{match.path}:{match.line}: {match.text}" for match in found.matches)
    return Result(found, "\n".join(lines), note="\n".join(notes))


def _path(client: Client, workspace: str) -> str:
    return f"/workspaces/{find_workspace(client, workspace)}"
