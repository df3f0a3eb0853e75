"""Specification of an agent: model role, prompts, tools and limits."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict

from forge.agents.finish import Finish
from forge.agents.models import AgentLimits, NearbySkill
from forge.agents.prompts import ENDS_BY_ANSWERING, ENDS_BY_FINISHING
from forge.agents.tool import Tool, ToolBox, ToolContext
from forge.llm.models import Role
from forge.runs.attempt import Retry
from forge.workspace.filesystem.files import Files


@dataclass(frozen=True)
class SkillKit:
    """Prompt and tools that skills add to an agent."""

    system: str
    tools: tuple[Tool[Any], ...]


class Beginning(BaseModel):
    """Result of the first step: what a replay must not decide again."""

    model_config = ConfigDict(frozen=True)

    at: datetime
    skills: list[NearbySkill] = []
    compact: bool | None = None
    """Whether it uses the compact tools. Null for runs that began before there was `finish`: they end by answering."""


class WorkspaceSkills(Protocol):
    def find(self, files: Files) -> list[NearbySkill]:
        """Find skills, sorted by name. Reads files: call it in a step and in a thread."""
        ...

    def kit(self, found: Sequence[NearbySkill]) -> SkillKit:
        """Build the kit from `found` only, so that a replay gives the same result."""
        ...


MODEL_RETRY = Retry(attempts=8, first_delay_s=2.0, longest_delay_s=120.0)


@dataclass(frozen=True)
class AgentSpec:
    role: Role
    system: str
    directive: str
    tools: ToolBox
    open_context: Callable[[], Awaitable[ToolContext]]
    """Opens the context of the tools; called inside steps only."""
    limits: AgentLimits = field(default_factory=AgentLimits)
    scope: str = ""
    max_output: int = 16_000
    temperature: float | None = None
    model: str | None = None
    """Use this model instead of those of the role."""
    retry: Retry = MODEL_RETRY
    """Retries of failed model calls."""
    accepts_messages: bool = True
    """Whether people may send messages while it runs."""
    must_finish: bool = False
    """Whether only the tool `finish` ends it; otherwise the first answer without a tool call does, as in a chat."""
    verify: str | None = None
    """The test command that Forge runs itself before it accepts the end."""
    compact_tools: ToolBox | None = None
    """Used instead of `tools` if the context window of the model is small."""
    accepts_truncated: bool = False
    """Accept a text that reached the output limit as the answer; a reader can ask for the rest."""
    workspace_skills: WorkspaceSkills | None = None
    """Finds skills in the workspace."""

    def begun(self, beginning: Beginning) -> "AgentSpec":
        """Return the specification of an agent that has begun: with its end, its tools and its skills."""
        must_finish = self.must_finish and beginning.compact is not None
        tools = self.compact_tools if beginning.compact and self.compact_tools else self.tools
        kit = SkillKit("", ())
        if self.workspace_skills is not None and beginning.skills:
            kit = self.workspace_skills.kit(beginning.skills)
        parts = (self.system, ENDS_BY_FINISHING if must_finish else ENDS_BY_ANSWERING, kit.system)
        return replace(
            self,
            must_finish=must_finish,
            system="\n\n".join(part for part in parts if part),
            tools=tools.with_more([*([Finish()] if must_finish else []), *kit.tools]),
        )
