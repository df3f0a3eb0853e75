"""HTTP routes of workspaces."""

import asyncio
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, status

from forge.http.caller import Reader, Writer
from forge.http.envelope import Envelope, reply
from forge.http.parameters import Id, OptionalLimit
from forge.http.scope import Scope
from forge.workspace.filesystem.files import Files
from forge.workspace.filesystem.pattern import MAX_PATTERN
from forge.workspace.filesystem.search import FoundLines, search
from forge.workspace.models import FileEntry, FileText, NewWorkspace, WorkspaceInfo
from forge.workspace.service import Workspaces

router = APIRouter(prefix="/api/v1/workspaces", tags=["workspaces"])


def _workspaces(request: Request) -> Workspaces:
    return request.app.state.workspaces


Service = Annotated[Workspaces, Depends(_workspaces)]
PathOf = Annotated[str, Query(description="Path relative to the workspace.")]
Pattern = Annotated[
    str, Query(min_length=1, max_length=MAX_PATTERN, description="A regular expression (RE2) or plain text.")
]
GlobOf = Annotated[
    str | None,
    Query(
        max_length=200, description="Only search files matching this glob, such as `*.py` or `src/**/*.ts`."
    ),
]
Matches = Annotated[int, Query(ge=1, le=1000, description="Maximum number of matching lines.")]


@router.get("")
async def list_workspaces(
    caller: Reader, workspaces: Service, limit: OptionalLimit = None
) -> Envelope[list[WorkspaceInfo]]:
    return reply((await workspaces.list(caller.account_id))[:limit])


@router.post("", status_code=status.HTTP_201_CREATED)
async def create_workspace(
    caller: Writer, body: NewWorkspace, workspaces: Service
) -> Envelope[WorkspaceInfo]:
    """Create a workspace. Without `path` Forge creates a directory; only the owner of the server may adopt an
    existing one, with the scope `admin`."""
    if body.path is not None:
        caller.must_have(Scope.ADMIN)
        caller.must_be_owner()
    path = Path(body.path) if body.path is not None else None
    return reply(await workspaces.create(caller.account_id, body.name, path=path))


@router.get("/{workspace_id}")
async def get_workspace(caller: Reader, workspace_id: Id, workspaces: Service) -> Envelope[WorkspaceInfo]:
    return reply(await workspaces.get(caller.account_id, workspace_id))


@router.delete("/{workspace_id}")
async def remove_workspace(caller: Writer, workspace_id: Id, workspaces: Service) -> Envelope[WorkspaceInfo]:
    """Remove a workspace. The directory is deleted if Forge created it; an adopted one is kept."""
    return reply(await workspaces.remove(caller.account_id, workspace_id))


@router.get("/{workspace_id}/files")
async def list_files(
    caller: Reader,
    workspace_id: Id,
    workspaces: Service,
    path: PathOf = ".",
    limit: OptionalLimit = None,
) -> Envelope[list[FileEntry]]:
    """List the entries of a directory."""
    workspace = await workspaces.open(caller.account_id, workspace_id)
    return reply((await asyncio.to_thread(_list_entries, workspace.files, path))[:limit])


@router.get("/{workspace_id}/file")
async def read_file(
    caller: Reader, workspace_id: Id, workspaces: Service, path: PathOf
) -> Envelope[FileText]:
    """Return the beginning of a file as text."""
    workspace = await workspaces.open(caller.account_id, workspace_id)
    return reply(await asyncio.to_thread(_read_text, workspace.files, path))


@router.get("/{workspace_id}/search")
async def search_files(
    caller: Reader,
    workspace_id: Id,
    workspaces: Service,
    q: Pattern,
    glob: GlobOf = None,
    path: PathOf = ".",
    limit: Matches = 50,
) -> Envelope[FoundLines]:
    """Search files for matching lines, ignoring case."""
    workspace = await workspaces.open(caller.account_id, workspace_id)
    return reply(await asyncio.to_thread(search, workspace.files, q, glob=glob, path=path, limit=limit))


MAX_SHOWN_BYTES = 512 * 1024


def _list_entries(files: Files, path: str) -> list[FileEntry]:
    return [
        FileEntry(name=entry.name, path=entry.path, kind=entry.kind, size=entry.size)
        for entry in files.list(path)
    ]


def _read_text(files: Files, path: str) -> FileText:
    content = files.read(path, limit=MAX_SHOWN_BYTES)
    is_binary = b"\0" in content.data
    return FileText(
        path=path,
        text="" if is_binary else content.data.decode("utf-8", "replace"),
        size=content.size,
        is_binary=is_binary,
        is_cut=content.hash is None,
        hash=content.hash,
    )
