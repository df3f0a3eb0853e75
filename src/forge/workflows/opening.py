"""Puts the parts of workflows together: their runs before there are runs, what people use after."""

from collections.abc import AsyncGenerator, Collection
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from forge.accounts.address import OwnAddress
from forge.accounts.vault import Vault
from forge.agents.hands import Hands as AgentHands
from forge.audits.service import Audits
from forge.bots.opening import BotHouse
from forge.errors import Conflict, NotFound
from forge.events.log import EventLog
from forge.kernel.background import in_background
from forge.messages.service import Messages
from forge.runs.kinds import RunKind
from forge.runs.service import Runs
from forge.skills.opening import SkillParts
from forge.store.engine import Store
from forge.store.outage import survives_outage
from forge.workflows.correcting import Correcting
from forge.workflows.definition.models import StepType
from forge.workflows.engine.hands import Hands
from forge.workflows.given import WorkflowInput
from forge.workflows.kind import Means, WorkflowKind
from forge.workflows.knowing import Knowing
from forge.workflows.purging import purge_deleted
from forge.workflows.running import WorkflowRuns
from forge.workflows.service import Workflows
from forge.workflows.starting import Starting
from forge.workflows.steps.agent import AgentHand
from forge.workflows.steps.audit import AuditHand
from forge.workflows.steps.code import CodeHand
from forge.workflows.steps.http import HttpHand
from forge.workflows.steps.message import MessageHand
from forge.workflows.steps.skill import SkillHand
from forge.workflows.steps.sub_workflow import SubWorkflowHand
from forge.workflows.steps.waiting import WaitHand
from forge.workflows.triggers.running import Triggers
from forge.workflows.triggers.webhooks import Webhooks
from forge.workspace.service import Workspaces


@dataclass(frozen=True)
class WorkflowHouse:
    """What people use."""

    workflows: Workflows
    runs: WorkflowRuns
    webhooks: Webhooks


@dataclass(frozen=True)
class Neighbours:
    """What steps need of the rest of the house."""

    bots: BotHouse
    messages: Messages
    skills: SkillParts
    audits: Audits
    workspaces: Workspaces
    vault: Vault


class WorkflowParts:
    def __init__(self, hands: AgentHands, address: OwnAddress, data_dir: Path) -> None:
        self._database: Store = hands.database
        self._events: EventLog = hands.events
        self._gateway = hands.gateway
        self._address = address
        self._data_dir = data_dir
        self._kind = WorkflowKind(hands.database, hands.events)

    def kind(self) -> RunKind[WorkflowInput]:
        return self._kind.kind()

    async def close(self) -> None:
        """After the last run: what they wrote last is in the database."""
        await self._kind.recorder.close()

    @asynccontextmanager
    async def open(self, runs: Runs, near: Neighbours, *, is_server: bool) -> AsyncGenerator[WorkflowHouse]:
        starting = Starting(runs, self._kind.pinned)

        @survives_outage
        async def cancel(account_id: str, run_id: str, by: str) -> None:
            with suppress(Conflict, NotFound):  # it has ended meanwhile
                await runs.cancel(account_id, run_id, by=by)

        self._kind.provide(Means(self._hands(near, starting), Correcting(self._gateway).rewrite, cancel))
        resolve = near.vault.resolve
        triggers = Triggers(self._database, self._events, runs, starting.fire, resolve, self._data_dir)
        async with AsyncExitStack() as stack:
            if is_server:
                purging = in_background(purge_deleted(self._database), "purging of workflows")
                await stack.enter_async_context(purging)
            webhooks = await stack.enter_async_context(triggers.open(is_server=is_server))
            yield WorkflowHouse(
                workflows=Workflows(self._database, self._events, runs, self._knowing(near), self._address),
                runs=WorkflowRuns(self._database, runs, starting),
                webhooks=webhooks,
            )

    def _hands(self, near: Neighbours, starting: Starting) -> Hands:
        database, events, bots = self._database, self._events, near.bots
        return {
            StepType.AGENT: AgentHand(bots.bots, bots.asking, bots.answers),
            StepType.SKILL: SkillHand(near.skills.runner),
            StepType.CODE: CodeHand(near.skills.runner),
            StepType.HTTP: HttpHand(near.skills.outgoing, near.vault.resolve),
            StepType.AUDIT: AuditHand(near.audits, near.workspaces, database, events),
            StepType.MESSAGE: MessageHand(near.messages),
            StepType.WAIT: WaitHand(),
            StepType.SUB_WORKFLOW: SubWorkflowHand(database, events, starting.start_child),
        }

    def _knowing(self, near: Neighbours) -> Knowing:
        async def skills(_account_id: str) -> Collection[str]:
            return await near.skills.library.names()

        async def secrets(_account_id: str) -> Collection[str]:
            return [secret.name for secret in await near.vault.list("")]

        return Knowing(self._database, near.bots.bots.slugs, skills, secrets)
