"""Models of commands, limits, outcomes and isolation levels."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict

PROTECTED = (".git",)
"""Names in a work tree that programs outside the sandbox read and trust later."""


class Level(StrEnum):
    """How well a command is isolated."""

    ISOLATED = "isolated"
    PARTIAL = "partial"
    NONE = "none"

    def satisfies(self, required: "Level") -> bool:
        order = list(Level)
        return order.index(self) <= order.index(required)


class Network(StrEnum):
    NONE = "none"
    REGISTRY = "registry"
    """Only packages may be fetched, through the read-only gateway."""


class End(StrEnum):
    """Why a command ended."""

    EXITED = "exited"
    NOT_STARTED = "not_started"
    """The program does not exist or cannot be executed; see `stderr`."""
    TIMEOUT = "timeout"
    CPU = "cpu"
    MEMORY = "memory"
    PROCESSES = "processes"
    FILE_SIZE = "file_size"
    DISK = "disk"
    INODES = "inodes"


@dataclass(frozen=True)
class Limits:
    """Resource limits of a command with all its processes."""

    timeout_s: float = 60.0
    memory_bytes: int = 1 << 30
    processes: int = 128
    """Includes threads."""
    file_bytes: int = 256 << 20
    disk_bytes: int = 512 << 20
    """Total growth of the work tree and other writable folders."""
    inodes: int = 20_000
    open_files: int = 1024
    cpu_s: int = 300
    """Per process."""
    tmp_bytes: int = 128 << 20
    stdout_bytes: int = 50_000
    stderr_bytes: int = 10_000


def _no_env() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True)
class Command:
    """A program with arguments, run without a shell."""

    argv: tuple[str, ...]
    workdir: Path
    limits: Limits = Limits()
    network: Network = Network.NONE
    env: Mapping[str, str] = field(default_factory=_no_env)
    """Variables besides a few fixed ones; nothing is inherited."""
    read_only: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    protected: tuple[str, ...] = PROTECTED
    """Relative names in the work tree that cannot be changed, nor created if absent."""


@dataclass(frozen=True)
class Output:
    """Captured output; only its beginning and end if it exceeds the limit."""

    text: str
    total_bytes: int
    truncated: bool


@dataclass(frozen=True)
class Outcome:
    exit_code: int | None
    """None if the command was stopped or not started."""
    end: End
    stdout: Output
    stderr: Output
    duration_ms: int
    level: Level
    backend: str
    fetched: tuple[str, ...] = ()
    """Files downloaded through the registry gateway, in order."""


class Guarantee(StrEnum):
    """Guarantees that the isolation check tries to break."""

    READS = "reads"
    WRITES = "writes"
    METADATA = "metadata"
    """Modes and times of files outside the sandbox."""
    PROTECTED = "protected"
    NETWORK = "network"
    LOCAL_SOCKETS = "local_sockets"
    SIGNALS = "signals"
    PROCESS_LIST = "process_list"
    ENVIRONMENT = "environment"
    SURVIVORS = "survivors"


class Refused(BaseModel):
    """A backend that was tried and not selected."""

    model_config = ConfigDict(frozen=True)

    backend: str
    why: str


class SandboxReport(BaseModel):
    """The selected backend and the guarantees that were observed to hold."""

    model_config = ConfigDict(frozen=True)

    backend: str
    level: Level
    guarantees: dict[Guarantee, bool]
    tried: list[Refused]
    required: Level
    advice: str | None = None
