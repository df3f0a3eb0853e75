"""Agents on the real engine, with real tools, answered by a script."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.support.engine import EngineUnderTest, kind, open_engine
from tests.support.gateway import PRICE, GatewayUnderTest, open_gateway
from tests.support.models import ModelServer, StartModels

from forge.agents.hands import Hands
from forge.agents.loop import Agent
from forge.agents.models import AgentLimits
from forge.agents.prompts import WORKER, directive
from forge.agents.spec import AgentSpec
from forge.agents.tools import ToolContext
from forge.agents.toolset import builder_tools
from forge.llm.models import Role
from forge.llm.money import Limits
from forge.runs.context import RunContext
from forge.runs.models import Run
from forge.sandbox.choice import Sandboxes
from forge.store.engine import Store
from forge.workspace.files import Files

KIND = "agent_test"


@dataclass
class AgentUnderTest:
    engine: EngineUnderTest
    models: GatewayUnderTest
    server: ModelServer
    root: Path

    async def work(self, task: str = "fix it", **limits: int) -> Run:
        started = await self.engine.start(KIND, task=task, limits=limits)
        return await self.engine.finished(started.id)

    async def told(self, run: Run, *types: str) -> list[dict[str, Any]]:
        history = await self.engine.history(run.id)
        return [event.data for event in history if event.type in types]


OpenAgent = Callable[..., Awaitable[AgentUnderTest]]


@asynccontextmanager
async def open_agent(
    store: Store, server: ModelServer, root: Path, *, limits: Limits | None = None, window: int = 200_000
) -> AsyncGenerator[AgentUnderTest]:
    async with AsyncExitStack() as stack:
        models = await stack.enter_async_context(open_gateway(store, limits=limits))
        sandboxes = Sandboxes()
        files = stack.enter_context(Files(root))
        hands: list[Hands] = []

        async def place() -> ToolContext:
            return ToolContext(files, sandboxes)

        async def function(context: RunContext, given: Any) -> Any:
            spec = AgentSpec(
                role=Role.BUILDER,
                system=WORKER,
                directive=directive(given.task),
                tools=builder_tools(),
                place=place,
                limits=AgentLimits(**given.limits),
                max_output=2000,
            )
            return (await Agent(context, spec, hands[0]).work()).model_dump(mode="json")

        engine = await stack.enter_async_context(open_engine(store, kind(KIND, function)))
        hands.append(Hands(models.gateway, engine.events, store, sandboxes))
        await models.add("scripted", server.url, price=PRICE.model_copy(update={"context_window": window}))
        await models.choose("scripted:scripted")
        yield AgentUnderTest(engine, models, server, root)


@pytest.fixture
async def agent(store: Store, model_server: StartModels, tmp_path: Path) -> AsyncGenerator[OpenAgent]:
    async with AsyncExitStack() as stack:

        async def start(*turns: dict[str, Any], **given: Any) -> AgentUnderTest:
            options = {key: given.pop(key) for key in ("limits", "window") if key in given}
            scene = {"turns": list(turns), "after": "repeat", **given.pop("scene", {})}
            server = model_server({"scenes": {"only": scene}, **given})
            root = tmp_path / "tree"
            root.mkdir(exist_ok=True)
            return await stack.enter_async_context(open_agent(store, server, root, **options))

        yield start
