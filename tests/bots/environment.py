"""Bot services as in a server: a database and a data directory, without sockets."""

from collections.abc import Awaitable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from forge.accounts.models import owner_id
from forge.bots.files.folders import BotFolders
from forge.bots.management.service import Bots
from forge.bots.management.skill_access import SkillAccess
from forge.bots.models import Bot, BotFile
from forge.bots.readiness import ModelReadiness
from forge.bots.versions.service import Versions
from forge.errors import ForgeError, NotFound, Unavailable
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.llm.catalog import Catalog
from forge.llm.models import Role
from forge.skills.invocations.runner import RunRequest
from forge.skills.library.library import Library
from forge.skills.skill_state import SkillStates
from forge.skills.views import SkillRan
from forge.store.database import Store
from forge.telemetry import Metrics

ME = owner_id()
DEFAULT = "claude-sonnet-4-5"


@dataclass
class Clock:
    ahead: timedelta = timedelta()

    def __call__(self) -> datetime:
        return now() + self.ahead


@dataclass
class BotEnvironment:
    """`Bots` with all of its parts."""

    database: Store
    data_dir: Path
    keys: dict[str, str] = field(default_factory=dict[str, str])
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.events = EventLog(self.database, Metrics(version="0"))
        self.folders = BotFolders(self.data_dir)
        self.versions = Versions(self.database, self.events, self.folders)
        self.catalog = Catalog(self.database, self._key, dict.fromkeys(Role, DEFAULT), owner_id=ME)
        self.readiness = ModelReadiness(self.catalog)
        self.library = Library(self.data_dir)
        self.skills = SkillAccess(SkillStates(self.database, self.library), self.library, self._run)
        self.bots = Bots(
            self.database,
            self.events,
            self.folders,
            self.versions,
            self.readiness,
            self.skills,
            clock=self.clock,
        )

    async def _run(self, name: str, _request: RunRequest) -> SkillRan:
        raise Unavailable(f"{name} cannot be run here.")

    async def _key(self, _account_id: str, name: str, _scope: str) -> SecretStr:
        if name not in self.keys:
            raise NotFound(f"{name} is not set.")
        return SecretStr(self.keys[name])

    def file(self, bot: Bot, file: BotFile) -> Path:
        return self.data_dir / "bots" / bot.slug / file.file_name

    def tree(self) -> list[str]:
        """Return every path below the data directory, except the database."""
        found = (str(path.relative_to(self.data_dir)) for path in self.data_dir.rglob("*"))
        return sorted(name for name in found if not name.startswith("forge.db"))

    async def notifications(self) -> list[tuple[str, str]]:
        """Return the slug and the part of each `bot.changed` event."""
        async with self.database.read() as tx:
            events = await self.events.read(tx, f"account:{ME}")
        return [(event.data["slug"], event.data["part"]) for event in events]


async def error_of(operation: Awaitable[object]) -> tuple[type[ForgeError], str]:
    """Return the type and the text of the error that the operation raises."""
    with pytest.raises(ForgeError) as caught:
        await operation
    return type(caught.value), f"{caught.value.message} {caught.value.hint or ''}".strip()
