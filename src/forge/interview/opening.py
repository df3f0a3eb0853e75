"""Puts the parts of interviews together: what their runs need before there are runs, and what people use after."""

from typing import Any

from forge.agents.hands import Hands
from forge.bots.opening import BotHouse
from forge.interview.assembly.assembly import Assembly
from forge.interview.beginning import Beginning
from forge.interview.drafts import Drafts
from forge.interview.facts import FactFinder
from forge.interview.kind import InterviewKind
from forge.interview.service import Interviews
from forge.interview.thinking import Thinking
from forge.llm.catalog import Catalog
from forge.runs.kinds import RunKind
from forge.runs.service import Runs
from forge.skills.opening import SkillParts
from forge.skills.own import OwnSkills
from forge.skills.trial import Trial


class InterviewParts:
    def __init__(self, hands: Hands, catalog: Catalog, skills: SkillParts) -> None:
        self._catalog = catalog
        self._library, self._recording = skills.library, skills.recording
        self._drafts = Drafts(hands.database, hands.events)
        thinking = Thinking(self._drafts, hands.gateway, Trial(skills.trials))
        self._kind = InterviewKind(self._drafts, thinking)

    def kind(self) -> RunKind[Any]:
        return self._kind.kind()

    def open(self, runs: Runs, house: BotHouse) -> Interviews:
        facts = FactFinder(self._drafts.database, house.bots, self._library, self._catalog)
        own = OwnSkills(self._library, self._recording)
        assembly = Assembly(
            self._drafts.database, house.bots, house.versions, self._library, own, self._catalog
        )
        beginning = Beginning(facts, house.bots, assembly, self._library)
        return Interviews(self._drafts, runs, facts, beginning, assembly)
