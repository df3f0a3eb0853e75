"""The context of host operations: the invocation, the services they use, and the log of the run."""

import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import JsonValue, SecretStr

from forge.kernel.text import storable, truncate
from forge.outgoing.client import Outgoing
from forge.sandbox.sandboxes import Sandboxes
from forge.skills.execution import LogLine
from forge.skills.host.resources import OwnFolder
from forge.skills.host.secret_mask import SecretMask
from forge.store.database import Store
from forge.telemetry.redaction import redact

MAX_LINES = 200
MAX_CHARACTERS = 2000
LEVELS = ("debug", "info", "warn", "error")


class RunLog:
    def __init__(self, hidden: SecretMask) -> None:
        self._hidden = hidden
        self._kept: list[LogLine] = []
        self._left_out = 0

    def add(self, level: str, message: JsonValue) -> None:
        if len(self._kept) == MAX_LINES:
            self._left_out += 1
            return
        level = level if level in LEVELS else "info"
        text = message if isinstance(message, str) else json.dumps(message)
        self._kept.append(LogLine(level=level, message=self._fit(text)))

    def all(self) -> list[LogLine]:
        """Return the lines, masked again: a line may be older than the secret it contains."""
        lines = [LogLine(level=line.level, message=self._hidden(line.message)) for line in self._kept]
        if self._left_out:
            lines.append(LogLine(level="warn", message=f"… and {self._left_out:,} more lines."))
        return lines

    def _fit(self, message: str) -> str:
        """Mask and cut a message, in this order: a cut secret would not be recognized."""
        text = self._hidden(storable(message))
        return truncate(redact(text[: 2 * MAX_CHARACTERS]), MAX_CHARACTERS)


ReadSecret = Callable[[str, str], Awaitable[SecretStr]]
"""Return a secret of an account by name. Raises NotFound."""
RecallMemories = Callable[[str, str, str, int], Awaitable[list[str]]]
"""Return memories of an account's bot that match a text, up to a limit."""


@dataclass(frozen=True)
class Invocation:
    account_id: str
    skill: str
    version: str
    id: str
    bot_id: str | None
    settings: Mapping[str, str]
    secrets_of: str | None = None
    """The account whose secrets are used, if not `account_id`: a test runs for a temporary account."""


@dataclass(frozen=True)
class HostServices:
    """The services that host operations use."""

    outgoing: Outgoing
    database: Store
    secret: ReadSecret
    environment: Mapping[str, str]
    recall: RecallMemories | None
    sandboxes: Sandboxes
    files_dir: Path
    """A folder in the data directory that contains a folder per skill."""


@dataclass(frozen=True)
class HostContext:
    """The state that the operations of one run share."""

    invocation: Invocation
    services: HostServices
    seconds: float
    mask: SecretMask
    log: RunLog
    own_folder: OwnFolder

    @cached_property
    def _until(self) -> float:
        return time.monotonic() + self.seconds

    @property
    def left_s(self) -> float:
        """Remaining seconds, counted from the first access."""
        return self._until - time.monotonic()
