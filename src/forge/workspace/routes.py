"""HTTP for workspaces: parse, call the verb, wrap the answer."""

import asyncio
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, status

from forge.http.caller import Reader, Writer
from forge.http.envelope import Envelope, reply
from forge.http.ids import Id
from forge.http.scope import Scope
from forge.workspace import reading
from forge.workspace.models import FileEntry, FileText, FoundLines, NewWorkspace, WorkspaceInfo
from forge.workspace.pattern import MAX_PATTERN
from forge.workspace.service import Workspaces

router = APIRouter(prefix="/api/v1/workspaces", tags=["workspaces"])


def _workspaces(request: Request) -> Workspaces:
    return request.app.state.workspaces


Service = Annotated[Workspaces, Depends(_workspaces)]
PathOf = Annotated[str, Query(description="Relative to the workspace.")]
Pattern = Annotated[
    str, Query(min_length=1, max_length=MAX_PATTERN, description="A regular expression (RE2), or text.")
]
GlobOf = Annotated[
    str | None, Query(max_length=200, description="Only files like this: `*.py`, `src/**/*.ts`.")
]
Matches = Annotated[int, Query(ge=1, le=1000, description="How many lines at most.")]


@router.get("")
async def list_workspaces(caller: Reader, workspaces: Service) -> Envelope[list[WorkspaceInfo]]:
    return reply(await workspaces.list(caller.account_id))


@router.post("", status_code=status.HTTP_201_CREATED)
async def create_workspace(
    caller: Writer, body: NewWorkspace, workspaces: Service
) -> Envelope[WorkspaceInfo]:
    """Without a path Forge makes a directory of its own. To adopt one of the machine's takes the scope `admin`."""
    if body.path is not None:
        caller.must_have(Scope.ADMIN)
    path = Path(body.path) if body.path is not None else None
    return reply(await workspaces.create(caller.account_id, body.name, path=path))


@router.get("/{workspace_id}")
async def get_workspace(caller: Reader, workspace_id: Id, workspaces: Service) -> Envelope[WorkspaceInfo]:
    return reply(await workspaces.get(caller.account_id, workspace_id))


@router.delete("/{workspace_id}")
async def remove_workspace(caller: Writer, workspace_id: Id, workspaces: Service) -> Envelope[WorkspaceInfo]:
    """Deletes the directory if Forge made it; an adopted one stays."""
    return reply(await workspaces.remove(caller.account_id, workspace_id))


@router.get("/{workspace_id}/files")
async def list_files(
    caller: Reader, workspace_id: Id, workspaces: Service, path: PathOf = "."
) -> Envelope[list[FileEntry]]:
    """What a directory holds."""
    workspace = await workspaces.open(caller.account_id, workspace_id)
    return reply(await asyncio.to_thread(reading.entries, workspace.files, path))


@router.get("/{workspace_id}/file")
async def read_file(
    caller: Reader, workspace_id: Id, workspaces: Service, path: PathOf
) -> Envelope[FileText]:
    """The beginning of a file, as text."""
    workspace = await workspaces.open(caller.account_id, workspace_id)
    return reply(await asyncio.to_thread(reading.text, workspace.files, path))


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
    """Lines that match, whatever their case."""
    workspace = await workspaces.open(caller.account_id, workspace_id)
    return reply(await asyncio.to_thread(reading.lines, workspace.files, q, glob, path, limit))
