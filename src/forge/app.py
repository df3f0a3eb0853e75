"""The composition root: builds a running Forge from the settings."""

import logging
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from functools import partial
from pathlib import Path

from pydantic import SecretBytes

from forge import __version__
from forge.accounts.address import OwnAddress
from forge.accounts.bearer_tokens import BearerTokens
from forge.accounts.members import Members, OnRemoval
from forge.accounts.models import owner_id
from forge.accounts.service import Accounts
from forge.accounts.vault import Vault
from forge.accounts.vault_key import open_vault_key
from forge.agents.kind import AgentKind
from forge.agents.service import Agents
from forge.agents.steps import AgentSteps
from forge.audits.audit_targets import AuditTargets
from forge.audits.auditor_loader import AuditorLoader
from forge.audits.kind import AuditKind
from forge.audits.service import Audits
from forge.backup.replacement import check_finished
from forge.bots.component import (
    BotComponent,
    BotServices,
    bot_access_for_skills,
    recall_for_skills,
)
from forge.bots.management.skill_access import SkillAccess
from forge.bots.memory.embedder import find_embedder
from forge.bots.memory.service import Memories
from forge.config import Settings, environment, setting_name, unknown_names
from forge.errors import ConfigError, Conflict
from forge.events.listener import listen
from forge.events.log import EventLog
from forge.github.component import GithubServices, open_github
from forge.interview.component import InterviewComponent
from forge.interview.service import Interviews
from forge.kernel.background import in_background
from forge.kernel.clock import now
from forge.kernel.lock import DirectoryLock, LockHeld
from forge.llm.budgets import BudgetLimits, Budgets
from forge.llm.catalog import Catalog
from forge.llm.gateway import Gateway
from forge.llm.models import Role as ModelRole
from forge.llm.service import LastFour, Models
from forge.messages.component import MessageComponent
from forge.messages.service import Messages
from forge.runs.component import open_runs
from forge.runs.kinds import RunKinds
from forge.runs.models import ACTIVE
from forge.runs.self_test_run import SelfTest
from forge.runs.service import Runs
from forge.sandbox.models import Level
from forge.sandbox.sandboxes import Sandboxes
from forge.skills.component import SkillComponent, SkillServices
from forge.skills.prompts.workspace_skills import WorkspaceSkills
from forge.store.database import Store
from forge.store.schema import migrate
from forge.telemetry import Telemetry, open_telemetry
from forge.workflows.component import WorkflowComponent, WorkflowDependencies, WorkflowServices
from forge.workflows.service import Workflows
from forge.workspace.service import Workspaces

log = logging.getLogger(__name__)

KNOWN_SECRETS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GITHUB_CLIENT_SECRET", "GITHUB_WEBHOOK_SECRET")
"""Common environment variables; listed among the secrets if they are set."""


class Role(Enum):
    """Role of a process. A server owns its data directory; workers on the same machine can share it."""

    SERVER = auto()
    WORKER = auto()

    @property
    def log_name(self) -> str:
        return "forge" if self is Role.SERVER else f"worker-{os.getpid()}"


@dataclass(frozen=True)
class Forge:
    settings: Settings
    telemetry: Telemetry
    store: Store
    events: EventLog
    runs: Runs
    accounts: Accounts
    members: Members
    github: GithubServices
    catalog: Catalog
    gateway: Gateway
    models: Models
    workspaces: Workspaces
    sandboxes: Sandboxes
    agents: Agents
    audits: Audits
    auditor: AuditorLoader
    bots: BotServices
    skills: SkillServices
    messages: Messages
    workflows: WorkflowServices
    interviews: Interviews
    address: OwnAddress
    started_at: datetime


@dataclass(frozen=True)
class _Components:
    """The components built before runs are executed, and the kinds of runs they provide."""

    workspaces: Workspaces
    audit: AuditKind
    agent: AgentKind
    skills: SkillComponent
    bots: BotComponent
    interviews: InterviewComponent
    messages: MessageComponent
    workflows: WorkflowComponent

    def kinds(self, data_dir: Path) -> RunKinds:
        own = (SelfTest(data_dir).kind(), self.agent.kind(), self.audit.kind(), self.interviews.kind())
        return RunKinds(*own, *self.bots.kinds(), self.messages.kind(), self.workflows.kind())


@asynccontextmanager
async def open_forge(
    settings: Settings, address: OwnAddress, *, terminal: bool, role: Role = Role.SERVER
) -> AsyncGenerator[Forge]:
    """Start everything in order, and stop it in reverse order, also after errors."""
    async with AsyncExitStack() as stack:
        is_server = role is Role.SERVER
        telemetry = _open_telemetry(settings, stack, role, terminal=terminal)
        vault_key = open_vault_key(settings)
        store, vault = await _open_store(settings, vault_key, stack)
        bearer = BearerTokens.with_secret(settings.jwt_secret, vault_key)
        accounts = Accounts(store, vault, address, bearer, session_days=settings.session_days)
        events = EventLog(store, telemetry.metrics)
        catalog, gateway, models = _wire_models(settings, store, vault, telemetry, stack)
        await _check_models(settings, catalog, gateway, (await accounts.ensure_owner()).id)
        agent_steps = AgentSteps(gateway, events, store, _wire_sandboxes(settings))
        components = _build_components(settings, agent_steps, catalog, vault, address)
        await _finish_removals(components, role)
        await stack.enter_async_context(components.skills.worker_pool(is_server=is_server))
        stack.push_async_callback(components.workflows.close)
        kinds, retention_days = components.kinds(settings.data_dir), settings.run_retention_days
        opened_runs = open_runs(
            store, events, kinds, telemetry.metrics, telemetry.tracing, keep_days=retention_days
        )
        runs = await stack.enter_async_context(opened_runs)
        audits = Audits(store, events, runs, components.audit)
        await stack.enter_async_context(
            in_background(components.audit.auditor.prepare(), "self-test of the audit checks")
        )
        bots = await stack.enter_async_context(components.bots.open(runs, is_server=is_server))
        opened_skills = components.skills.open(bot_access_for_skills(bots.bots), is_server=is_server)
        dependencies = _workflow_dependencies(components, runs, bots, audits, vault)
        opened_workflows = components.workflows.open(runs, dependencies, is_server=is_server)
        await _listen_to_other_processes(settings, store, events, stack)
        workflows = await stack.enter_async_context(opened_workflows)
        stop_account = partial(_stop_account, runs, workflows.workflows)
        yield Forge(
            settings=settings,
            telemetry=telemetry,
            store=store,
            events=events,
            runs=runs,
            accounts=accounts,
            members=await _open_members(store, address, stop_account, role),
            github=await stack.enter_async_context(open_github(settings, store, vault, bearer)),
            catalog=catalog,
            gateway=gateway,
            models=models,
            workspaces=components.workspaces,
            sandboxes=agent_steps.sandboxes,
            agents=Agents(store, runs, components.workspaces),
            audits=audits,
            auditor=components.audit.auditor,
            bots=bots,
            skills=await stack.enter_async_context(opened_skills),
            messages=dependencies.messages,
            workflows=workflows,
            interviews=components.interviews.open(runs, bots),
            address=address,
            started_at=now(),
        )


def _open_telemetry(settings: Settings, stack: AsyncExitStack, role: Role, *, terminal: bool) -> Telemetry:
    """Prepare the data directory, then open telemetry, which writes its log there."""
    _prepare_data_dir(settings.data_dir)
    if role is Role.SERVER:
        _claim_data_dir(settings.data_dir, stack)
    check_finished(settings.data_dir)
    telemetry = open_telemetry(settings, version=__version__, terminal=terminal, name=role.log_name)
    stack.callback(telemetry.close)
    for name in unknown_names(environment()):
        log.warning("unknown setting %s in the environment", name)
    return telemetry


async def _open_store(
    settings: Settings, vault_key: SecretBytes, stack: AsyncExitStack
) -> tuple[Store, Vault]:
    """Open and migrate the database, and open the vault with a matching key."""
    store = Store(settings.store_url)
    stack.push_async_callback(store.close)
    await migrate(store)
    vault = Vault(store, vault_key, environment=environment(), known_names=KNOWN_SECRETS)
    await vault.check_key()
    return store, vault


def default_models(settings: Settings) -> dict[ModelRole, str]:
    """Return the default model of each role."""
    return {
        ModelRole.INTERVIEWER: settings.llm_questionnaire_model,
        ModelRole.PLANNER: settings.llm_planner_model,
        ModelRole.BUILDER: settings.llm_builder_model,
        ModelRole.AUDITOR: settings.llm_planner_model,
        ModelRole.RECOVERY: settings.llm_planner_model,
        ModelRole.BOT: settings.llm_questionnaire_model,
        ModelRole.UTILITY: settings.llm_questionnaire_model,
    }


async def _check_models(settings: Settings, catalog: Catalog, gateway: Gateway, owner_id: str) -> None:
    """Check the models named in the settings, and settle abandoned calls. Forge's own defaults need no check."""
    await gateway.budgets.write_off_abandoned()
    named = {
        setting_name(name, field): getattr(settings, name)
        for name, field in Settings.model_fields.items()
        if name.startswith("llm_") and getattr(settings, name) != field.default
    }
    problems = await catalog.problems(owner_id, set(named.values()))
    if problems:
        raise ConfigError(
            [f"{name}: {problems[ref].message}" for name, ref in named.items() if ref in problems],
            hint="Start without this setting and add the provider (forge models provider) or price (forge models "
            "price). Then select the model with `forge models set` or with this setting.",
        )


def _wire_models(
    settings: Settings, store: Store, vault: Vault, telemetry: Telemetry, stack: AsyncExitStack
) -> tuple[Catalog, Gateway, Models]:
    catalog = Catalog(store, vault.resolve, default_models(settings), owner_id=owner_id())
    limits = BudgetLimits(settings.budget_run_usd, settings.budget_day_usd, settings.budget_server_usd)
    gateway = Gateway(catalog, Budgets(store, limits), telemetry.metrics)
    stack.push_async_callback(gateway.close)
    return catalog, gateway, Models(store, catalog, gateway, _last_four_of(vault))


def _wire_audits(
    settings: Settings, store: Store, events: EventLog, workspaces: Workspaces, sandboxes: Sandboxes
) -> AuditKind:
    targets = AuditTargets(workspaces, settings.data_dir, Path.cwd(), settings.audit_roots)
    return AuditKind(AuditorLoader(settings.data_dir), targets, events, store, sandboxes)


def _wire_sandboxes(settings: Settings) -> Sandboxes:
    return Sandboxes(Level(settings.sandbox_required), hidden=(settings.data_dir,))


def _build_components(
    settings: Settings, agent_steps: AgentSteps, catalog: Catalog, vault: Vault, address: OwnAddress
) -> _Components:
    workspaces = Workspaces(agent_steps.database, settings.data_dir)
    memories = Memories(agent_steps.database, agent_steps.events, find_embedder())
    skills = SkillComponent(settings, agent_steps, vault.resolve, recall_for_skills(memories))
    skill_access = SkillAccess(skills.states, skills.library, skills.runner.run)
    return _Components(
        workspaces=workspaces,
        audit=_wire_audits(
            settings, agent_steps.database, agent_steps.events, workspaces, agent_steps.sandboxes
        ),
        agent=AgentKind(agent_steps, workspaces, WorkspaceSkills()),
        skills=skills,
        bots=BotComponent(settings.data_dir, agent_steps, catalog, skill_access, memories),
        interviews=InterviewComponent(agent_steps, catalog, skills),
        messages=MessageComponent(agent_steps),
        workflows=WorkflowComponent(agent_steps, address),
    )


async def _finish_removals(components: _Components, role: Role) -> None:
    """Finish removals that a killed server left incomplete."""
    if role is Role.SERVER:
        await components.workspaces.finish_removals()


def _workflow_dependencies(
    components: _Components, runs: Runs, bots: BotServices, audits: Audits, vault: Vault
) -> WorkflowDependencies:
    messages = components.messages.open(runs, bots)
    return WorkflowDependencies(bots, messages, components.skills, audits, components.workspaces, vault)


async def _open_members(store: Store, address: OwnAddress, stop_account: OnRemoval, role: Role) -> Members:
    members = Members(store, address, [stop_account])
    if role is Role.SERVER:
        await members.finish_removals()
    return members


async def _stop_account(runs: Runs, workflows: Workflows, account_id: str) -> None:
    """Switch off the triggers of an account, then cancel its runs."""
    for card in await workflows.find_all(account_id, words="", owner=None):
        if card.is_enabled:
            await workflows.switch(account_id, card.id, is_enabled=False)
    while active := (await runs.find(account_id, statuses=ACTIVE)).items:
        for run in active:
            with suppress(Conflict):  # it has just ended
                await runs.cancel(account_id, run.id, by="owner")


def _last_four_of(vault: Vault) -> LastFour:
    async def last_four(account_id: str, name: str, scope: str) -> str | None:
        view = await vault.of(account_id).find(name, scope)
        return view.last_four if view else None

    return last_four


async def _listen_to_other_processes(
    settings: Settings, store: Store, events: EventLog, stack: AsyncExitStack
) -> None:
    """Listen for events of other processes. On SQLite there are none."""
    if store.is_sqlite:
        return
    listening = listen(settings.store_url, events.hub)
    await stack.enter_async_context(in_background(listening, "event listener"))


def _prepare_data_dir(path: Path) -> None:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError([f"FORGE_DATA_DIR: cannot use {path}: {error.strerror}"]) from error


def _claim_data_dir(path: Path, stack: AsyncExitStack) -> None:
    try:
        stack.enter_context(DirectoryLock(path))
    except LockHeld as error:
        raise ConfigError(
            [f"Another Forge (process {error.pid}) is using {path}."],
            hint="Stop it, or use another --data-dir. On PostgreSQL several servers can share a database.",
        ) from error


def own_address(settings: Settings, port: int) -> OwnAddress:
    return OwnAddress(settings.host, port, socket.gethostname(), settings.public_url)
