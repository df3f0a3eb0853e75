"""The run kind `agent`: a task, a workspace, and an agent that works on it."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from forge.agents.loop import Agent
from forge.agents.models import AgentEnd, AgentLimits, AgentResult
from forge.agents.prompts import WORKER, directive
from forge.agents.spec import AgentSpec, WorkspaceSkills
from forge.agents.steps import AgentSteps
from forge.agents.tool import ToolBox, ToolContext
from forge.agents.tools.toolset import builder_tools, compact_tools
from forge.kernel.text import truncate
from forge.llm.models import Role
from forge.runs.context import RunContext
from forge.runs.kinds import RunKind
from forge.workspace.service import Workspaces

KIND = "agent"
TITLE_LENGTH = 80


class AgentInput(BaseModel):
    """Input of the run. Changed settings do not affect a run that has started."""

    model_config = ConfigDict(frozen=True)

    workspace_id: str
    task: str
    role: Role
    limits: AgentLimits
    verify: str | None = None


class AgentKind:
    def __init__(
        self, steps: AgentSteps, workspaces: Workspaces, skills: WorkspaceSkills | None = None
    ) -> None:
        self._steps = steps
        self._workspaces = workspaces
        self._skills = skills
        self._tools: ToolBox = builder_tools()
        self._compact_tools: ToolBox = compact_tools()

    def kind(self) -> RunKind[AgentInput]:
        return RunKind(KIND, AgentInput, self.run, title=_title, outcome=agent_outcome)

    async def run(self, context: RunContext, inputs: AgentInput) -> dict[str, Any]:
        async def open_context() -> ToolContext:
            workspace = await self._workspaces.open(context.account_id, inputs.workspace_id)
            return ToolContext(workspace.files, self._steps.sandboxes)

        spec = AgentSpec(
            role=inputs.role,
            system=WORKER,
            directive=directive(inputs.task),
            tools=self._tools,
            open_context=open_context,
            compact_tools=self._compact_tools,
            limits=inputs.limits,
            must_finish=True,
            verify=inputs.verify,
            workspace_skills=self._skills,
        )
        return (await Agent(context, spec, self._steps).work()).model_dump(mode="json")


def agent_outcome(output: Any) -> str | None:
    """Return why an agent ended, unless it is done."""
    end = AgentResult.model_validate(output).end
    return None if end is AgentEnd.DONE else end.value


def _title(inputs: AgentInput) -> str:
    return truncate(inputs.task.strip().partition("\n")[0], TITLE_LENGTH)
