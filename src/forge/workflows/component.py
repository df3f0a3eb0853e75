"""Assemble the workflow services: the run kind before the run engine opens, the services after."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy.exc import SQLAlchemyError

from forge.accounts.address import OwnAddress
from forge.accounts.vault import Vault
from forge.agents.steps import AgentSteps
from forge.audits.service import Audits
from forge.bots.component import BotServices
from forge.errors import Conflict, NotFound
from forge.events.log import EventLog
from forge.kernel.background import cancel_and_wait, in_background
from forge.messages.service import Messages
from forge.runs.kinds import RunKind
from forge.runs.service import Runs
from forge.skills.component import SkillComponent
from forge.skills.models import Skill, SkillKind
from forge.store.database import Store, survives_outage
from forge.workflows import store
from forge.workflows.definition.models import StepType
from forge.workflows.engine.self_correction import InputCorrector
from forge.workflows.engine.step_executor import StepExecutors
from forge.workflows.kind import KindDependencies, WorkflowKind
from forge.workflows.models import WorkflowInput
from forge.workflows.references import ReferenceChecker
from forge.workflows.run_service import WorkflowRuns
from forge.workflows.run_starter import RunStarter
from forge.workflows.service import Workflows
from forge.workflows.steps.agent import AgentStepExecutor
from forge.workflows.steps.audit import AuditStepExecutor
from forge.workflows.steps.code import CodeStepExecutor
from forge.workflows.steps.http import HttpStepExecutor
from forge.workflows.steps.message import MessageStepExecutor
from forge.workflows.steps.skill import SkillStepExecutor
from forge.workflows.steps.sub_workflow import SubWorkflowStepExecutor
from forge.workflows.steps.wait import WaitStepExecutor
from forge.workflows.triggers.cron import CronScheduler
from forge.workflows.triggers.event_listener import EventListener
from forge.workflows.triggers.file_watcher import FileWatcher
from forge.workflows.triggers.launcher import StartForTrigger, TriggerLauncher
from forge.workflows.triggers.webhooks import ResolveSecret, Webhooks
from forge.workspace.filesystem.allowed_roots import AllowedRoots
from forge.workspace.service import Workspaces

log = logging.getLogger(__name__)

PURGE_INTERVAL_S = 3600.0


async def purge_deleted(database: Store) -> None:
    """Remove deleted workflows without runs, every hour, until cancelled."""
    while True:
        try:
            async with database.begin() as tx:
                await store.purge(tx)
        except SQLAlchemyError:
            log.exception("cannot purge deleted workflows; trying again later")
        await asyncio.sleep(PURGE_INTERVAL_S)


@dataclass(frozen=True)
class WorkflowServices:
    """The services used by the HTTP routes."""

    workflows: Workflows
    runs: WorkflowRuns
    webhooks: Webhooks


@dataclass(frozen=True)
class WorkflowDependencies:
    """Services of other features that steps use."""

    bots: BotServices
    messages: Messages
    skills: SkillComponent
    audits: Audits
    workspaces: Workspaces
    vault: Vault


class WorkflowComponent:
    def __init__(self, agent_steps: AgentSteps, address: OwnAddress) -> None:
        self._database: Store = agent_steps.database
        self._events: EventLog = agent_steps.events
        self._gateway = agent_steps.gateway
        self._address = address
        self._kind = WorkflowKind(agent_steps.database, agent_steps.events)

    def kind(self) -> RunKind[WorkflowInput]:
        return self._kind.kind()

    async def close(self) -> None:
        """Flush pending writes. Call after the last run has stopped."""
        await self._kind.recorder.close()

    @asynccontextmanager
    async def open(
        self, runs: Runs, dependencies: WorkflowDependencies, *, is_server: bool
    ) -> AsyncGenerator[WorkflowServices]:
        run_starter = RunStarter(runs, self._kind.definitions)

        @survives_outage
        async def cancel(account_id: str, run_id: str, by: str) -> None:
            with suppress(Conflict, NotFound):  # the run has just ended
                await runs.cancel(account_id, run_id, by=by)

        self._kind.provide(
            KindDependencies(
                self._step_executors(dependencies, run_starter), InputCorrector(self._gateway).rewrite, cancel
            )
        )
        triggers = Triggers(
            self._database,
            self._events,
            runs,
            run_starter.start_for_trigger,
            dependencies.vault.resolve,
            dependencies.audits.allowed_roots,
        )
        async with AsyncExitStack() as stack:
            if is_server:
                purge = in_background(purge_deleted(self._database), "purge of deleted workflows")
                await stack.enter_async_context(purge)
            webhooks = await stack.enter_async_context(triggers.open(is_server=is_server))
            yield WorkflowServices(
                workflows=Workflows(
                    self._database, self._events, runs, self._reference_checker(dependencies), self._address
                ),
                runs=WorkflowRuns(self._database, runs, run_starter),
                webhooks=webhooks,
            )

    def _step_executors(self, dependencies: WorkflowDependencies, run_starter: RunStarter) -> StepExecutors:
        database, events, bots = self._database, self._events, dependencies.bots
        return {
            StepType.AGENT: AgentStepExecutor(bots.bots, bots.questions, bots.answers),
            StepType.SKILL: SkillStepExecutor(dependencies.skills.runner),
            StepType.CODE: CodeStepExecutor(dependencies.skills.runner),
            StepType.HTTP: HttpStepExecutor(dependencies.skills.outgoing, dependencies.vault.resolve),
            StepType.AUDIT: AuditStepExecutor(dependencies.audits, dependencies.workspaces, database, events),
            StepType.MESSAGE: MessageStepExecutor(dependencies.messages),
            StepType.WAIT: WaitStepExecutor(),
            StepType.SUB_WORKFLOW: SubWorkflowStepExecutor(database, events, run_starter.start_child),
        }

    def _reference_checker(self, dependencies: WorkflowDependencies) -> ReferenceChecker:
        async def skills(_account_id: str) -> Collection[str]:
            return await dependencies.skills.library.names()

        async def skill_kinds(names: Collection[str]) -> Mapping[str, SkillKind]:
            found = await dependencies.skills.library.find_many(names)
            return {name: skill.manifest.kind for name, skill in found.items() if isinstance(skill, Skill)}

        async def secrets(account_id: str) -> Collection[str]:
            return [secret.name for secret in await dependencies.vault.of(account_id).list("")]

        allowed_roots = dependencies.audits.allowed_roots
        return ReferenceChecker(
            self._database, dependencies.bots.bots.slugs, skills, skill_kinds, secrets, allowed_roots
        )


RESTART_DELAY_S = 5.0

Work = Callable[[], Coroutine[Any, Any, None]]


@dataclass(frozen=True)
class Triggers:
    database: Store
    events: EventLog
    runs: Runs
    start_for_trigger: StartForTrigger
    resolve_secret: ResolveSecret
    allowed_roots: AllowedRoots

    @asynccontextmanager
    async def open(self, *, is_server: bool) -> AsyncGenerator[Webhooks]:
        """Run the triggers. Workers do not: they only execute the runs that servers start."""
        launcher = TriggerLauncher(self.database, self.events, self.start_for_trigger)
        async with AsyncExitStack() as stack:
            if is_server:
                workers: dict[str, Work] = {
                    "schedules": CronScheduler(launcher).run_forever,
                    "event triggers": EventListener(launcher, self.runs).run_forever,
                    "file triggers": FileWatcher(launcher, self.allowed_roots).run_forever,
                }
                for name, work in workers.items():
                    await stack.enter_async_context(in_background(run_with_restarts(work, name), name))
            yield Webhooks(launcher, self.resolve_secret)


async def run_with_restarts(work: Work, name: str) -> None:
    """Repeat the work until cancelled. Errors are logged, and the work is restarted after a pause."""
    while True:
        task = asyncio.create_task(work(), name=name)
        try:
            await asyncio.wait([task])
        finally:
            await cancel_and_wait([task])
        log.error("%s failed; restarting in %d s", name, RESTART_DELAY_S, exc_info=task.exception())
        await asyncio.sleep(RESTART_DELAY_S)
