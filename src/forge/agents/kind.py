"""The run kind `agent`: a task, a workspace, and an agent that works on it."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from forge.agents.hands import Hands
from forge.agents.loop import Agent
from forge.agents.models import AgentLimits
from forge.agents.nearby import NearbySkills
from forge.agents.prompts import WORKER, directive
from forge.agents.spec import AgentSpec
from forge.agents.tools import ToolBox, ToolContext
from forge.agents.toolset import builder_tools
from forge.kernel.text import cut
from forge.llm.models import Role
from forge.runs.context import RunContext
from forge.runs.kinds import RunKind
from forge.workspace.service import Workspaces

KIND = "agent"
TITLE_LENGTH = 80


class AgentInput(BaseModel):
    """Pinned when the run starts: a change of settings does not reach a run under way."""

    model_config = ConfigDict(frozen=True)

    workspace_id: str
    task: str
    role: Role
    limits: AgentLimits


class AgentKind:
    def __init__(self, hands: Hands, workspaces: Workspaces, nearby: NearbySkills | None = None) -> None:
        self._hands = hands
        self._workspaces = workspaces
        self._nearby = nearby
        self._tools: ToolBox = builder_tools()

    def kind(self) -> RunKind[AgentInput]:
        return RunKind(KIND, AgentInput, self.run, title=_title)

    async def run(self, context: RunContext, given: AgentInput) -> dict[str, Any]:
        async def place() -> ToolContext:
            workspace = await self._workspaces.open(context.account_id, given.workspace_id)
            return ToolContext(workspace.files, self._hands.sandboxes)

        spec = AgentSpec(
            role=given.role,
            system=WORKER,
            directive=directive(given.task),
            tools=self._tools,
            place=place,
            limits=given.limits,
            nearby=self._nearby,
        )
        return (await Agent(context, spec, self._hands).work()).model_dump(mode="json")


def _title(given: AgentInput) -> str:
    return cut(given.task.strip().partition("\n")[0], TITLE_LENGTH)
