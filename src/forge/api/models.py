"""What the server says of itself."""

from datetime import datetime

from pydantic import BaseModel

from forge.runs.models import Worker
from forge.sandbox.models import SandboxReport


class Database(BaseModel):
    kind: str
    size_bytes: int


class Status(BaseModel):
    version: str
    started_at: datetime
    uptime_s: int
    time: datetime
    data_dir: str
    database: Database
    workers: list[Worker]
    executing: int
    """Runs that this process executes at the moment."""
    runs: dict[str, int]
    sandbox: SandboxReport | None
    """How well commands are locked in here; null until it was tried out, which is before the first command."""
