"""Skills that lie in the workspace an agent works in. What a skill is, the package above knows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from forge.agents.models import NearbySkill
from forge.agents.tools import Tool
from forge.workspace.files import Files


@dataclass(frozen=True)
class Kit:
    """What skills add to an agent."""

    system: str
    tools: tuple[Tool[Any], ...]


class NearbySkills(Protocol):
    def find(self, files: Files) -> list[NearbySkill]:
        """By name. Reads files, so it belongs into a step and a thread."""
        ...

    def kit(self, found: Sequence[NearbySkill]) -> Kit:
        """Made of what was found and nothing else: a replay makes the same."""
        ...
