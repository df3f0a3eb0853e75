"""Assemble the interview component: its run kind first, its service once runs exist."""

from typing import Any

from forge.agents.steps import AgentSteps
from forge.bots.component import BotServices
from forge.interview.assembly.assembler import Assembler
from forge.interview.drafts import Drafts
from forge.interview.initial_state import FactFinder, InitialStates
from forge.interview.interview_run import InterviewKind, InterviewSteps
from forge.interview.service import Interviews
from forge.llm.catalog import Catalog
from forge.runs.kinds import RunKind
from forge.runs.service import Runs
from forge.skills.component import SkillComponent
from forge.skills.invocations.skill_tests import SkillTrial
from forge.skills.records import OwnSkills


class InterviewComponent:
    def __init__(self, steps: AgentSteps, catalog: Catalog, skills: SkillComponent) -> None:
        self._catalog = catalog
        self._library, self._records = skills.library, skills.records
        self._drafts = Drafts(steps.database, steps.events)
        interview_steps = InterviewSteps(self._drafts, steps.gateway, SkillTrial(skills.trials))
        self._kind = InterviewKind(self._drafts, interview_steps)

    def kind(self) -> RunKind[Any]:
        return self._kind.kind()

    def open(self, runs: Runs, bot_services: BotServices) -> Interviews:
        facts = FactFinder(self._drafts.database, bot_services.bots, self._library, self._catalog)
        own = OwnSkills(self._library, self._records)
        assembler = Assembler(
            self._drafts.database, bot_services.bots, bot_services.versions, self._library, own, self._catalog
        )
        initial_states = InitialStates(facts, bot_services.bots, assembler, self._library)
        return Interviews(self._drafts, runs, facts, initial_states, assembler)
