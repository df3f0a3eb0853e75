"""One run of a skill as the host sees it, and what the host needs of the rest of Forge."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import SecretStr

from forge.outgoing.client import Outgoing
from forge.sandbox.choice import Sandboxes
from forge.skills.host.hiding import Hidden
from forge.skills.host.lines import Lines
from forge.skills.host.own_folder import OwnFolder
from forge.store.engine import Store

Secret = Callable[[str], Awaitable[SecretStr]]
"""From the vault; raises NotFound."""
Recall = Callable[[str, str, str, int], Awaitable[list[str]]]
"""Of an account's bot: what it remembers that fits a text, at most so many."""


@dataclass(frozen=True)
class Invocation:
    account_id: str
    skill: str
    version: str
    id: str
    bot_id: str | None
    settings: Mapping[str, str]


@dataclass(frozen=True)
class HostParts:
    """Wired once."""

    outgoing: Outgoing
    database: Store
    secret: Secret
    environment: Mapping[str, str]
    recall: Recall | None
    sandboxes: Sandboxes
    files_dir: Path
    """In the data directory: below it, each skill has a folder of its own."""


@dataclass(frozen=True)
class Running:
    """What operations share during one run."""

    invocation: Invocation
    parts: HostParts
    seconds: float
    hidden: Hidden
    lines: Lines
    own: OwnFolder

    @cached_property
    def _until(self) -> float:
        return time.monotonic() + self.seconds

    @property
    def left_s(self) -> float:
        """Counts from when it is first asked."""
        return self._until - time.monotonic()
