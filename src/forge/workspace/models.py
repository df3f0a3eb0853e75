"""What the world sees of workspaces."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, StringConstraints

from forge.kernel.spelling import Spelling
from forge.workspace.entries import EntryKind

WorkspaceName = Annotated[
    str,
    StringConstraints(strip_whitespace=True),
    Spelling(
        r"^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$",
        "must begin with a letter or digit, and go on with letters, digits, spaces and . _ - (at most 64 in all)",
    ),
]


class WorkspaceInfo(BaseModel):
    """A directory Forge may work in. One that is adopted was there before, and stays when the workspace goes."""

    id: str
    name: str
    path: str
    is_adopted: bool
    created_at: datetime


class NewWorkspace(BaseModel):
    name: WorkspaceName
    path: Annotated[str, StringConstraints(min_length=1, max_length=4096)] | None = None
    """An existing directory on the machine of the server; left out, Forge makes one of its own."""


class FileEntry(BaseModel):
    name: str
    path: str
    kind: EntryKind
    size: int


class FileText(BaseModel):
    """The beginning of a file as text; `hash` is of the whole file, when all of it is here."""

    path: str
    text: str
    size: int
    is_binary: bool
    is_cut: bool
    hash: str | None


class FoundLine(BaseModel):
    path: str
    line: int
    text: str


class FoundLines(BaseModel):
    """Matches of a search; `literal` when the expression could not be read and was looked for as text."""

    matches: list[FoundLine]
    truncated: bool
    literal: bool
    files_searched: int
