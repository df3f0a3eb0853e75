"""What a command may do, what became of it, and how well it was locked in."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict

PROTECTED = (".git",)
"""Names in a work tree that outlive the command and are read by programs outside the sandbox."""


class Level(StrEnum):
    """How much a command is kept away from everything that is not its own."""

    ISOLATED = "isolated"
    PARTIAL = "partial"
    NONE = "none"

    def satisfies(self, required: "Level") -> bool:
        order = list(Level)
        return order.index(self) <= order.index(required)


class Network(StrEnum):
    NONE = "none"
    REGISTRY = "registry"
    """Packages may be fetched, through the read-only gateway; nothing else."""


class End(StrEnum):
    """Why a command ended."""

    EXITED = "exited"
    NOT_STARTED = "not_started"
    """The program is not there, or cannot be executed; `stderr` says why."""
    TIMEOUT = "timeout"
    CPU = "cpu"
    MEMORY = "memory"
    PROCESSES = "processes"
    FILE_SIZE = "file_size"
    DISK = "disk"
    INODES = "inodes"


@dataclass(frozen=True)
class Limits:
    """The most a command, with all it starts, may take."""

    timeout_s: float = 60.0
    memory_bytes: int = 1 << 30
    processes: int = 128
    """Threads count too."""
    file_bytes: int = 256 << 20
    disk_bytes: int = 512 << 20
    """Growth of the work tree and other writable folders, together."""
    inodes: int = 20_000
    open_files: int = 1024
    cpu_s: int = 300
    """Of one process."""
    tmp_bytes: int = 128 << 20
    stdout_bytes: int = 50_000
    stderr_bytes: int = 10_000


def _no_env() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True)
class Command:
    """A program with its arguments, never a line for a shell."""

    argv: tuple[str, ...]
    workdir: Path
    limits: Limits = Limits()
    network: Network = Network.NONE
    env: Mapping[str, str] = field(default_factory=_no_env)
    """All it gets besides a few fixed variables; nothing is inherited."""
    read_only: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    protected: tuple[str, ...] = PROTECTED
    """Relative names in the work tree that stay as they are, and absent if they are absent."""


@dataclass(frozen=True)
class Output:
    """What was written: the beginning and the end of it, when it was too much."""

    text: str
    total_bytes: int
    truncated: bool


@dataclass(frozen=True)
class Outcome:
    exit_code: int | None
    """None when it was stopped, or never started."""
    end: End
    stdout: Output
    stderr: Output
    duration_ms: int
    level: Level
    backend: str
    fetched: tuple[str, ...] = ()
    """What was downloaded through the registry gateway, in order."""


class Guarantee(StrEnum):
    """What the self-test tries to break; a report says which attempts failed."""

    READS = "reads"
    WRITES = "writes"
    METADATA = "metadata"
    """Modes and times of files outside."""
    PROTECTED = "protected"
    NETWORK = "network"
    LOCAL_SOCKETS = "local_sockets"
    SIGNALS = "signals"
    PROCESS_LIST = "process_list"
    ENVIRONMENT = "environment"
    SURVIVORS = "survivors"


class Refused(BaseModel):
    """A back end that was tried and not taken."""

    model_config = ConfigDict(frozen=True)

    backend: str
    why: str


class SandboxReport(BaseModel):
    """What commands run in here, as observed and not as promised."""

    model_config = ConfigDict(frozen=True)

    backend: str
    level: Level
    guarantees: dict[Guarantee, bool]
    tried: list[Refused]
    required: Level
    advice: str | None = None
