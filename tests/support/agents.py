"""Agents on the real engine with real tools and a scripted model."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.support.engine import EngineUnderTest, open_engine
from tests.support.engine import kind as run_kind
from tests.support.gateway import PRICE, GatewayUnderTest, open_gateway

from forge.agents.kind import agent_outcome
from forge.agents.loop import Agent
from forge.agents.models import AgentLimits, AgentResult
from forge.agents.prompts import WORKER, directive
from forge.agents.spec import MODEL_RETRY, AgentSpec, WorkspaceSkills
from forge.agents.steps import AgentSteps
from forge.agents.tool import ToolContext
from forge.agents.tools.toolset import builder_tools, compact_tools
from forge.llm.budgets import BudgetLimits
from forge.llm.models import ProviderKind, Role
from forge.runs.attempt import Retry
from forge.runs.context import RunContext
from forge.runs.models import Run
from forge.sandbox.sandboxes import Sandboxes
from forge.store.database import Store
from forge.workspace.filesystem.files import Files

KIND = "agent_test"


@dataclass
class AgentUnderTest:
    engine: EngineUnderTest
    models: GatewayUnderTest
    root: Path

    async def start(self, task: str = "fix it", **limits: int) -> Run:
        return await self.engine.start(KIND, task=task, limits=limits)

    async def work(self, task: str = "fix it", **limits: int) -> Run:
        return await self.engine.finished((await self.start(task, **limits)).id)

    async def event_data(self, run: Run, *types: str) -> list[dict[str, Any]]:
        history = await self.engine.history(run.id)
        return [event.data for event in history if event.type in types]


LOOK: dict[str, Any] = {"list_directory": {"path": "."}}


def finish(summary: str = "Done.", *, verified: bool = False) -> dict[str, Any]:
    """Return the call that ends an agent."""
    return {"finish": {"summary": summary, "verified": verified}}


DONE: dict[str, Any] = {"tools": [LOOK, finish()]}
"""A turn that uses a tool and ends the agent."""


def result(run: Run) -> AgentResult:
    return AgentResult.model_validate(run.output)


@asynccontextmanager
async def open_agent(
    store: Store,
    url: str,
    root: Path,
    *,
    limits: BudgetLimits | None = None,
    window: int = 200_000,
    kind: ProviderKind = ProviderKind.ANTHROPIC,
    retry: Retry = MODEL_RETRY,
    workspace_skills: WorkspaceSkills | None = None,
    verify: str | None = None,
) -> AsyncGenerator[AgentUnderTest]:
    async with AsyncExitStack() as stack:
        models = await stack.enter_async_context(open_gateway(store, limits=limits))
        price = PRICE.model_copy(update={"context_window": window})
        await models.add("scripted", url, kind=kind, price=price)
        await models.choose("scripted:scripted")
        sandboxes = Sandboxes()
        files = stack.enter_context(Files(root))
        steps: list[AgentSteps] = []

        async def open_context() -> ToolContext:
            return ToolContext(files, sandboxes)

        async def function(context: RunContext, given: Any) -> Any:
            spec = AgentSpec(
                role=Role.BUILDER,
                system=WORKER,
                directive=directive(given.task),
                tools=builder_tools(),
                compact_tools=compact_tools(),
                must_finish=True,
                verify=verify,
                open_context=open_context,
                limits=AgentLimits(**given.limits),
                max_output=2000,
                retry=retry,
                workspace_skills=workspace_skills,
            )
            return (await Agent(context, spec, steps[0]).work()).model_dump(mode="json")

        engine_context = open_engine(
            store,
            replace(run_kind(KIND, function), outcome=agent_outcome),
            before=lambda events: steps.append(AgentSteps(models.gateway, events, store, sandboxes)),
        )
        engine = await stack.enter_async_context(engine_context)
        yield AgentUnderTest(engine, models, root)
