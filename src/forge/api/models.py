"""What the server says of itself."""

from datetime import datetime

from pydantic import BaseModel

from forge.runs.models import Worker


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
