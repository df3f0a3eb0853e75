"""Puts the parts of skills together: what runs them, which bots need first, and what people use after."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from forge.agents.hands import Hands
from forge.config import Settings, environment
from forge.kernel.background import in_background
from forge.outgoing.client import Outgoing
from forge.skills.doors import BotDoor
from forge.skills.execution import Language
from forge.skills.host.parts import HostParts, Recall, Secret
from forge.skills.installing.confirming import Confirming
from forge.skills.installing.installing import Installing
from forge.skills.installing.places import Roots
from forge.skills.installing.registries import Registries
from forge.skills.installing.repositories import Repositories
from forge.skills.installing.service import Installs
from forge.skills.installing.staging import Stages
from forge.skills.knowing import Knowing
from forge.skills.library import Library
from forge.skills.local import Programs
from forge.skills.prompt_run import PromptRuns
from forge.skills.recording import Recording
from forge.skills.retention import keep_tidy
from forge.skills.running import Runner
from forge.skills.service import Skills
from forge.skills.testing import SkillTests
from forge.skills.triggering import Triggering
from forge.skills.wasm.crew import Crew

SETTLED = (Language.JS, Language.PY)
"""Runtimes that are made ready before anybody asks."""


@dataclass(frozen=True)
class SkillHouse:
    """What people use."""

    skills: Skills
    installs: Installs


class SkillParts:
    def __init__(self, settings: Settings, hands: Hands, secret: Secret, recall: Recall) -> None:
        data_dir = settings.data_dir
        self._settings = settings
        self._hands = hands
        self.library = Library(data_dir)
        self.knowing = Knowing(hands.database, self.library)
        self.recording = Recording(hands.events)
        self.outgoing = Outgoing(settings.http_allow)
        self._crew = Crew(data_dir / "wasm")
        files_dir = data_dir / "skill-files"
        parts = HostParts(
            outgoing=self.outgoing,
            database=hands.database,
            secret=secret,
            environment=environment(),
            recall=recall,
            sandboxes=hands.sandboxes,
            files_dir=files_dir,
        )
        self.runner = Runner(
            database=hands.database,
            events=hands.events,
            knowing=self.knowing,
            crew=self._crew,
            programs=Programs(hands.sandboxes, files_dir),
            prompts=PromptRuns(hands.gateway),
            parts=parts,
        )
        self.trials = SkillTests(self.runner.try_out)

    @asynccontextmanager
    async def crew(self, *, is_server: bool) -> AsyncGenerator[None]:
        """While it is open, scripts can be run. A server has their runtimes ready before anybody asks."""
        async with self._crew:
            if is_server:
                for language in SETTLED:
                    self._crew.warm(language)
            yield

    @asynccontextmanager
    async def open(self, bots: BotDoor, *, is_server: bool) -> AsyncGenerator[SkillHouse]:
        database, keep = self._hands.database, self._settings.run_retention_days
        skills = Skills(
            database=database,
            library=self.library,
            knowing=self.knowing,
            recording=self.recording,
            runner=self.runner,
            triggering=Triggering(self._hands.gateway),
            bots=bots,
        )
        async with AsyncExitStack() as stack:
            if is_server:
                tidying = in_background(
                    keep_tidy(database, self.runner.parts.files_dir, keep), "old invocations of skills"
                )
                await stack.enter_async_context(tidying)
            yield SkillHouse(skills, self._installs())

    def _installs(self) -> Installs:
        database, data_dir = self._hands.database, self._settings.data_dir
        roots = Roots(self._settings.skill_roots, data_dir)
        staging = data_dir / "skill-staging"
        installing = Installing(
            stages=Stages(staging),
            repositories=Repositories(staging, self.outgoing.check_host, roots),
            registries=Registries(database, data_dir / "registries", self.outgoing, roots),
            roots=roots,
            library=self.library,
            knowing=self.knowing,
        )
        confirming = Confirming(database, self.library, self.knowing, self.recording)
        return Installs(installing, confirming, self.knowing)
