"""Versions of a bot's files, as people and clients see them."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from forge.bots.models import BotFile, FileProblem
from forge.errors import TooLarge
from forge.kernel.text import NO_NUL

MAX_CONTENT = 200_000
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Content = Annotated[str, Field(max_length=MAX_CONTENT), NO_NUL]
Message = Annotated[str, Field(max_length=500), NO_NUL]

BY_HAND = "by hand"
"""The author of a change that was made in the file itself: nobody knows who that was."""


class DiffRow(BaseModel):
    """One row of two texts side by side. A missing side has no number."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["same", "changed", "added", "removed", "skipped"]
    """`skipped` stands for lines that are the same on both sides; `left` says how many."""
    left_line: int | None = None
    left: str = ""
    right_line: int | None = None
    right: str = ""


class FileDiff(BaseModel):
    left: str
    """What the left side is: `version 3`, `the file on disk`."""
    right: str
    added: int
    removed: int
    rows: list[DiffRow]
    is_cut: bool = False
    """There are more rows than anybody would read."""


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
    """A file as it is on disk now, and how that stands to the version that counts."""

    file: BotFile
    content: str | None
    """None when the file is gone."""
    hash: str | None
    version: int
    """The newest version."""
    is_accepted: bool
    """The file is that version. A soul that is not must be accepted or rolled back before the bot talks again."""
    problems: list[FileProblem] = []
    diff: FileDiff | None = None
    """From the newest version to the file, when they differ."""


class FileConflict(BaseModel):
    """The `detail` of the 409 that says: this is not the file you edited."""

    current: FileState
    theirs: FileDiff | None
    """What was changed meanwhile; None when nobody knows what you started from."""
    yours: FileDiff
    """From the file as it is now to what you wanted to save."""


class NewContent(BaseModel):
    """Save a file. `base_hash` is the hash of what was edited: when the file is another by now, it is a conflict."""

    model_config = ConfigDict(extra="forbid")

    content: Content
    base_hash: Hash
    message: Message = ""

    @classmethod
    def of(cls, file: BotFile, content: str, base_hash: str, message: str) -> "NewContent":
        """What Forge put together itself, so that no request has measured it."""
        if len(content) > MAX_CONTENT:
            raise TooLarge(f"{file.file_name} would have more than {MAX_CONTENT:,} characters.")
        return cls(content=content, base_hash=base_hash, message=message)


class NewDraft(BaseModel):
    """Text that nobody saved yet, to be looked at."""

    model_config = ConfigDict(extra="forbid")

    content: Content


class NewRollback(BaseModel):
    """Back to an older version, as a new one. What is in the file now is kept as a version too."""

    model_config = ConfigDict(extra="forbid")

    version: int = Field(ge=1)
    message: Message = ""


class NewAcceptance(BaseModel):
    """Take what somebody wrote into the file as its next version."""

    model_config = ConfigDict(extra="forbid")

    hash: Hash
    """Of what you looked at."""
    message: Message = ""
