"""Who an agent is, what it is to do, and with what."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from forge.agents.models import AgentLimits, NearbySkill
from forge.agents.nearby import NearbySkills
from forge.agents.tools import ToolBox, ToolContext
from forge.llm.models import Role
from forge.runs.attempt import Retry

MODEL_RETRY = Retry(attempts=8, first_delay_s=2.0, longest_delay_s=120.0)


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
    temperature: float | None = None
    model: str | None = None
    """This model and no other, instead of the role's."""
    retry: Retry = MODEL_RETRY
    """How patient it is with a model that cannot answer."""
    hears: bool = True
    """Whether people may say something while it works."""
    takes_cut_off: bool = False
    """A text that ran into the output limit is an answer too: somebody reads it, and may ask for the rest."""
    nearby: NearbySkills | None = None
    """Reads the skills that lie where it works."""

    def equipped(self, skills: Sequence[NearbySkill]) -> "AgentSpec":
        """With what it takes to use these skills."""
        if self.nearby is None or not skills:
            return self
        kit = self.nearby.kit(skills)
        return replace(self, system=f"{self.system}\n\n{kit.system}", tools=self.tools.with_more(kit.tools))
