"""The manifest of an archive. It is the last member, so that a truncated archive has none."""

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict

FORMAT = 1


class Kind(StrEnum):
    FILE = "file"
    FOLDER = "folder"
    LINK = "link"


class Entry(BaseModel):
    model_config = ConfigDict(frozen=True)

    path: str
    kind: Kind
    size: int
    sha256: str
    """Hash of the content, of a link's target, or of nothing for a folder."""


class TableCopy(BaseModel):
    """A PostgreSQL table in the format of COPY."""

    home: Literal["forge", "engine"]
    """Forge's tables, or the run engine's, which are in a separate schema."""
    name: str
    columns: list[str]

    @property
    def path(self) -> str:
        return f"database/{self.home}/{self.name}.copy"


class DatabaseCopy(BaseModel):
    kind: Literal["sqlite", "postgresql"]
    revision: str
    engine_revision: int | None = None
    """Schema version of the run engine; None if no run was ever started."""
    tables: list[TableCopy] = []
    """Empty for SQLite, whose file is copied as a whole."""
    secrets: list[str] = []
    """Names of the secrets in the vault. Their values are encrypted, and useless without the vault key."""
    outside: list[str] = []
    """Workspaces in folders outside the data directory, which the archive does not contain."""


class Manifest(BaseModel):
    format: Literal[1] = FORMAT
    forge: str
    made_at: datetime
    database: DatabaseCopy
    vault_key_hash: str | None
    """Hash of the key the secrets are encrypted with; None if there was no key."""
    has_vault_key: bool
    restless: list[str] = []
    """Files that changed during every attempt to copy them; their copies may be inconsistent."""
    unreadable: list[str] = []
    """Files and folders that Forge may not read; their contents are missing."""
    links: list[str] = []
    """Links outside of workspaces, which are not included."""
    entries: list[Entry] = []
    """All members except the manifest."""

    @property
    def size_bytes(self) -> int:
        return sum(entry.size for entry in self.entries)
