"""The real skill runner with a library, worker pool and model gateway, without a server."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import SecretStr
from tests.support.gateway import GatewayUnderTest, open_gateway
from tests.support.live_forge import settings_for

from forge.agents.steps import AgentSteps
from forge.errors import NotFound
from forge.events.log import EventLog
from forge.sandbox.sandboxes import Sandboxes
from forge.skills.component import SkillComponent
from forge.store.database import Store
from forge.telemetry import Metrics


async def no_secret(_account_id: str, name: str) -> SecretStr:
    raise NotFound(f"no {name}")


async def no_memory(account_id: str, bot_id: str, query: str, limit: int) -> list[str]:
    return []


@asynccontextmanager
async def open_skills(store: Store, folder: Path) -> AsyncGenerator[tuple[SkillComponent, GatewayUnderTest]]:
    events = EventLog(store, Metrics(version="test"))
    async with open_gateway(store) as under:
        agent_steps = AgentSteps(under.gateway, events, store, Sandboxes())
        component = SkillComponent(settings_for(folder, "sqlite"), agent_steps, no_secret, no_memory)
        async with component.worker_pool(is_server=False):
            yield component, under
