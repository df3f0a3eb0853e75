"""What an archive says about itself: the manifest, which is its last member, so that a cut archive has none."""

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict

FORMAT = 1
MANIFEST = "manifest.json"
VAULT_KEY = "vault.key"
SQLITE_FILE = "database/forge.db"
DATA = "data"


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
    """Of the content; of the target for a link; of nothing for a folder."""


class TableCopy(BaseModel):
    """A table of PostgreSQL, as COPY wrote it."""

    home: Literal["forge", "engine"]
    """Forge's own tables, or those of the run engine, which have a schema of their own."""
    name: str
    columns: list[str]

    @property
    def path(self) -> str:
        return f"database/{self.home}/{self.name}.copy"


class DatabaseCopy(BaseModel):
    kind: Literal["sqlite", "postgresql"]
    revision: str
    engine_revision: int | None = None
    """Of the run engine's tables; None where no run was ever started."""
    tables: list[TableCopy] = []
    """Empty for SQLite, whose file is copied as it is."""
    secrets: list[str] = []
    """What the vault keeps, by name; the values are sealed, and useless without the vault key."""
    outside: list[str] = []
    """Folders that were adopted as workspaces. They are elsewhere, and not in the archive."""


class Manifest(BaseModel):
    format: Literal[1] = FORMAT
    forge: str
    made_at: datetime
    database: DatabaseCopy
    vault_key_hash: str | None
    """Which key the secrets are sealed with; None where there was none."""
    has_vault_key: bool
    restless: list[str] = []
    """Files that did not hold still: each is in here as it was at some moment while it was written to."""
    unreadable: list[str] = []
    """Files and folders that Forge may not read: they are not in here, or only in name."""
    entries: list[Entry] = []
    """Every member but this one."""

    @property
    def size_bytes(self) -> int:
        return sum(entry.size for entry in self.entries)
