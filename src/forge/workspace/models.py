"""Pydantic models of the workspace API."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from forge.kernel.text import PatternRule
from forge.workspace.filesystem.entries import EntryKind

WorkspaceName = Annotated[
    str,
    StringConstraints(strip_whitespace=True),
    PatternRule(
        r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$",
        "must start with a letter or digit and contain only letters, digits, spaces and . _ - (at most 64)",
    ),
]


class WorkspaceInfo(BaseModel):
    """A directory Forge may work in. An adopted directory existed before and is kept when the workspace is removed."""

    id: str
    name: str
    path: str
    is_adopted: bool
    created_at: datetime


class NewWorkspace(BaseModel):
    name: WorkspaceName
    path: Annotated[str, StringConstraints(min_length=1, max_length=4096)] | None = None
    """An existing directory on the server; if omitted, Forge creates one."""


class FileEntry(BaseModel):
    name: str
    path: str
    kind: EntryKind
    size: int


class FileText(BaseModel):
    """The beginning of a file as text; `hash` is set when `text` is the whole file."""

    path: str
    text: str
    size: int
    is_binary: bool
    is_cut: bool
    hash: str | None
