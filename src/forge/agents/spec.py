"""Specification of an agent: model role, prompts, tools and limits."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from forge.agents.models import AgentLimits, NearbySkill
from forge.agents.tool import Tool, ToolBox, ToolContext
from forge.llm.models import Role
from forge.runs.attempt import Retry
from forge.workspace.filesystem.files import Files


@dataclass(frozen=True)
class SkillKit:
    """Prompt and tools that skills add to an agent."""

    system: str
    tools: tuple[Tool[Any], ...]


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
    accepts_truncated: bool = False
    """Accept a text that reached the output limit as the answer; a reader can ask for the rest."""
    workspace_skills: WorkspaceSkills | None = None
    """Finds skills in the workspace."""

    def with_skills(self, skills: Sequence[NearbySkill]) -> "AgentSpec":
        """Add the prompt and tools that these skills need."""
        if self.workspace_skills is None or not skills:
            return self
        kit = self.workspace_skills.kit(skills)
        return replace(self, system=f"{self.system}\n\n{kit.system}", tools=self.tools.with_more(kit.tools))
