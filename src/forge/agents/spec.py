"""Who an agent is, what it is to do, and with what."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from forge.agents.models import AgentLimits
from forge.agents.tools import ToolBox, ToolContext
from forge.llm.models import Role


@dataclass(frozen=True)
class AgentSpec:
    role: Role
    system: str
    directive: str
    tools: ToolBox
    place: Callable[[], Awaitable[ToolContext]]
    """Opens what the tools work on; called inside steps only."""
    limits: AgentLimits = field(default_factory=AgentLimits)
    scope: str = ""
    max_output: int = 16_000
