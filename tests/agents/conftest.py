"""Fixtures: agents with a scripted model."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support.agents import AgentUnderTest, open_agent
from tests.support.models import ModelServer, StartModels

from forge.store.database import Store


@pytest.fixture
def store_url(tmp_path: Path, new_database: Callable[[str, Path], str]) -> str:
    """One database is enough for the loop; whole agents run on both in `test_routes`."""
    return new_database("sqlite", tmp_path)


@dataclass
class ScriptedAgent(AgentUnderTest):
    server: ModelServer


OpenAgent = Callable[..., Awaitable[ScriptedAgent]]


@pytest.fixture
async def agent(store: Store, model_server: StartModels, tmp_path: Path) -> AsyncGenerator[OpenAgent]:
    async with AsyncExitStack() as stack:

        async def start(*turns: dict[str, Any], **given: Any) -> ScriptedAgent:
            options = {
                key: given.pop(key)
                for key in ("limits", "window", "retry", "workspace_skills", "kind", "verify")
                if key in given
            }
            scene = {"turns": list(turns), "after": "repeat", **given.pop("scene", {})}
            server = model_server({"scenes": {"only": scene}, **given})
            root = tmp_path / "tree"
            root.mkdir(exist_ok=True)
            opened = await stack.enter_async_context(open_agent(store, server.url, root, **options))
            return ScriptedAgent(opened.engine, opened.models, opened.root, server)

        yield start
