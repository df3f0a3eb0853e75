"""Assemble the services of skills: first the runner, which bots need, then those behind the API."""

import asyncio
import logging
import shutil
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from forge.agents.steps import AgentSteps
from forge.config import Settings, environment
from forge.kernel.background import in_background
from forge.kernel.clock import now
from forge.outgoing.client import Outgoing
from forge.skills import store
from forge.skills.execution import Language
from forge.skills.host.context import HostServices, ReadSecret, RecallMemories
from forge.skills.installation.fetcher import SkillFetcher
from forge.skills.installation.installer import Installer
from forge.skills.installation.registries import Registries
from forge.skills.installation.repositories import Repositories
from forge.skills.installation.server_folders import AllowedFolders
from forge.skills.installation.service import Installations
from forge.skills.installation.staging import Stages
from forge.skills.invocations.instructions import InstructionRunner
from forge.skills.invocations.programs import ProgramRunner
from forge.skills.invocations.runner import TRIAL_ACCOUNT_PREFIX, Runner
from forge.skills.invocations.skill_tests import SkillTests
from forge.skills.invocations.trigger_tests import TriggerTests
from forge.skills.library.library import Library
from forge.skills.records import SkillRecords
from forge.skills.service import BotAccess, Skills
from forge.skills.skill_state import SkillStates
from forge.skills.wasm.worker_pool import WorkerPool
from forge.store.database import Store

log = logging.getLogger(__name__)

CLEANUP_INTERVAL_S = 3600.0
TRIAL_EXPIRY = timedelta(hours=1)
"""Longer than any trial run."""
PRECOMPILED = (Language.JS, Language.PY)
"""Languages whose runtimes a server compiles at startup."""


@dataclass(frozen=True)
class SkillServices:
    """The services behind the API."""

    skills: Skills
    installs: Installations


class SkillComponent:
    def __init__(
        self, settings: Settings, steps: AgentSteps, secret: ReadSecret, recall: RecallMemories
    ) -> None:
        data_dir = settings.data_dir
        self._settings = settings
        self._steps = steps
        self.library = Library(data_dir)
        self.states = SkillStates(steps.database, self.library)
        self.records = SkillRecords(steps.events)
        self.outgoing = Outgoing(settings.http_allow)
        self._workers = WorkerPool(data_dir / "wasm")
        files_dir = data_dir / "skill-files"
        host_services = HostServices(
            outgoing=self.outgoing,
            database=steps.database,
            secret=secret,
            environment=environment(),
            recall=recall,
            sandboxes=steps.sandboxes,
            files_dir=files_dir,
        )
        self.runner = Runner(
            database=steps.database,
            events=steps.events,
            states=self.states,
            workers=self._workers,
            programs=ProgramRunner(steps.sandboxes, files_dir),
            instructions=InstructionRunner(steps.gateway),
            host_services=host_services,
        )
        self.trials = SkillTests(self.runner.try_out)

    @asynccontextmanager
    async def worker_pool(self, *, is_server: bool) -> AsyncGenerator[None]:
        """Run scripts while open. A server compiles their runtimes in advance."""
        async with self._workers:
            if is_server:
                for language in PRECOMPILED:
                    self._workers.warm(language)
            yield

    @asynccontextmanager
    async def open(self, bots: BotAccess, *, is_server: bool) -> AsyncGenerator[SkillServices]:
        database, keep = self._steps.database, self._settings.run_retention_days
        skills = Skills(
            database=database,
            library=self.library,
            states=self.states,
            records=self.records,
            runner=self.runner,
            trigger_tests=TriggerTests(self._steps.gateway),
            bots=bots,
        )
        async with AsyncExitStack() as stack:
            if is_server:
                cleanup = in_background(
                    clean_up(database, self.runner.host_services.files_dir, keep), "old invocations of skills"
                )
                await stack.enter_async_context(cleanup)
            yield SkillServices(skills, self._installs())

    def _installs(self) -> Installations:
        database, data_dir = self._steps.database, self._settings.data_dir
        folders = AllowedFolders(self._settings.skill_roots, data_dir)
        staging = data_dir / "skill-staging"
        fetcher = SkillFetcher(
            stages=Stages(staging),
            repositories=Repositories(staging, self.outgoing.check_host, folders),
            registries=Registries(database, data_dir / "registries", self.outgoing, folders),
            roots=folders,
            library=self.library,
            states=self.states,
        )
        installer = Installer(database, self.library, self.states, self.records)
        return Installations(fetcher, installer, self.states)


async def clean_up(database: Store, files_dir: Path, keep_days: int) -> None:
    """Clean up every hour until cancelled. 0 days keeps all invocations."""
    while True:
        try:
            await asyncio.to_thread(_remove_trial_folders, files_dir)
            async with database.begin() as tx:
                await store.delete_left(tx, TRIAL_ACCOUNT_PREFIX, now() - TRIAL_EXPIRY)
                if keep_days:
                    await store.delete_runs_before(tx, now() - timedelta(days=keep_days))
        except (SQLAlchemyError, OSError):
            log.exception("cannot delete old invocations of skills; trying again later")
        await asyncio.sleep(CLEANUP_INTERVAL_S)


def _remove_trial_folders(files_dir: Path) -> None:
    if files_dir.is_dir():
        for folder in files_dir.glob(f"{TRIAL_ACCOUNT_PREFIX}*"):
            if now().timestamp() - folder.stat().st_mtime > TRIAL_EXPIRY.total_seconds():
                shutil.rmtree(folder, ignore_errors=True)
