"""API models of the versions of a bot's files."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from forge.bots.models import MAX_CONTENT, BotFile, FileProblem
from forge.errors import TooLarge
from forge.kernel.text import NO_NUL

Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Content = Annotated[str, Field(max_length=MAX_CONTENT), NO_NUL]
Message = Annotated[str, Field(max_length=500), NO_NUL]

BY_HAND = "by hand"
"""Author of an edit made outside of Forge."""
FILES_BY_ARGUMENT = {
    "soul": BotFile.SOUL,
    "identity": BotFile.IDENTITY,
    "user": BotFile.USER,
    "skills": BotFile.SKILLS,
}
"""Names of the files at the command line."""


def file_arguments(slug: str, file: BotFile) -> str:
    """Return the command-line arguments for a file of a bot, such as `atlas soul`."""
    name = next(name for name, known in FILES_BY_ARGUMENT.items() if known is file)
    return f"{slug} {name}"


class DiffRow(BaseModel):
    """A row of a side-by-side diff. A missing side has no line number."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["same", "changed", "added", "removed", "skipped"]
    """`skipped` replaces unchanged lines; `left` is their number."""
    left_line: int | None = None
    left: str = ""
    right_line: int | None = None
    right: str = ""


class FileDiff(BaseModel):
    left: str
    """Label of the left side: `version 3`, `the file on disk`."""
    right: str
    added: int
    removed: int
    rows: list[DiffRow]
    is_cut: bool = False
    """The diff was truncated."""


class FileVersion(BaseModel):
    model_config = ConfigDict(frozen=True)

    number: int
    hash: str
    author: str
    message: str
    bytes: int
    created_at: datetime


class FileVersionDetail(FileVersion):
    content: str


class FileState(BaseModel):
    """A file on disk, compared with its newest version."""

    file: BotFile
    content: str | None
    """None if the file is missing."""
    hash: str | None
    version: int
    """The newest version."""
    is_accepted: bool
    """The file equals the newest version. An edited soul must be accepted or rolled back before the bot can be used again."""
    problems: list[FileProblem] = []
    diff: FileDiff | None = None
    """Changes from the newest version to the file, if they differ."""


class FileConflict(BaseModel):
    """`detail` of the 409 returned if the file changed since it was read."""

    current: FileState
    theirs: FileDiff | None
    """Changes made since `base_hash`; None if no version has that hash."""
    yours: FileDiff
    """Changes from the file on disk to the submitted content."""


class NewContent(BaseModel):
    """Save a file. `base_hash` is the hash of the content that was edited; if the file changed since, the request fails with 409."""

    model_config = ConfigDict(extra="forbid")

    content: Content
    base_hash: Hash
    message: Message = ""

    @classmethod
    def of(cls, file: BotFile, content: str, base_hash: str, message: str) -> "NewContent":
        """Build content that did not come from a request and check its length."""
        if len(content) > MAX_CONTENT:
            raise TooLarge(f"{file.file_name} would have more than {MAX_CONTENT:,} characters.")
        return cls(content=content, base_hash=base_hash, message=message)


class NewDraft(BaseModel):
    """Text to validate without saving it."""

    model_config = ConfigDict(extra="forbid")

    content: Content


class NewRollback(BaseModel):
    """Save an older version as a new one. The current content of the file stays in the history."""

    model_config = ConfigDict(extra="forbid")

    version: int = Field(ge=1)
    message: Message = ""


class NewAcceptance(BaseModel):
    """Accept an edit made outside of Forge as the next version."""

    model_config = ConfigDict(extra="forbid")

    hash: Hash
    """Hash of the content that was reviewed."""
    message: Message = ""
