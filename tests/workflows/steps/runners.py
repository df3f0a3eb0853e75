"""The real runner of skills, with a library, a crew and a gateway, and no server around it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import SecretStr
from tests.support.gateway import GatewayUnderTest, open_gateway
from tests.support.live import settings_for

from forge.agents.hands import Hands
from forge.errors import NotFound
from forge.events.log import EventLog
from forge.sandbox.choice import Sandboxes
from forge.skills.opening import SkillParts
from forge.store.engine import Store
from forge.telemetry import Metrics


async def no_secret(name: str) -> SecretStr:
    raise NotFound(f"no {name}")


async def no_memory(account_id: str, bot_id: str, query: str, limit: int) -> list[str]:
    return []


@asynccontextmanager
async def open_skills(store: Store, folder: Path) -> AsyncGenerator[tuple[SkillParts, GatewayUnderTest]]:
    events = EventLog(store, Metrics(version="test"))
    async with open_gateway(store) as under:
        hands = Hands(under.gateway, events, store, Sandboxes())
        parts = SkillParts(settings_for(folder, "sqlite"), hands, no_secret, no_memory)
        async with parts.crew(is_server=False):
            yield parts, under
