"""The composition root: settings in, a running Forge out. The only place that knows how everything fits together."""

import logging
import os
import socket
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import Enum, auto
from pathlib import Path

from forge import __version__
from forge.accounts.address import OwnAddress
from forge.accounts.service import Accounts
from forge.accounts.vault import Vault
from forge.accounts.vault_key import open_vault_key
from forge.agents.hands import Hands
from forge.agents.kind import AgentKind
from forge.agents.service import Agents
from forge.audits.kind import AuditKind
from forge.audits.places import Places
from forge.audits.proving import ProvenAuditor
from forge.audits.service import Audits
from forge.backup.placing import check_finished
from forge.bots.memory.embedder import find_embedder
from forge.bots.memory.service import Memories
from forge.bots.opening import BotHouse, BotParts
from forge.bots.skill_doors import door_of, recall_for_skills, run_for_bots
from forge.bots.skill_library import LibraryHands
from forge.config import Settings, environment, setting_name, unknown_names
from forge.errors import ConfigError
from forge.events.listener import listen
from forge.events.log import EventLog
from forge.interview.opening import InterviewParts
from forge.interview.service import Interviews
from forge.kernel.background import in_background
from forge.kernel.clock import now
from forge.kernel.lock import DirectoryLock, LockHeld
from forge.llm.catalog import Catalog
from forge.llm.gateway import Gateway
from forge.llm.models import Role as ModelRole
from forge.llm.money import Limits, Money
from forge.llm.service import LastFour, Models
from forge.messages.opening import MessageParts
from forge.messages.service import Messages
from forge.runs.kinds import RunKinds
from forge.runs.opening import open_runs
from forge.runs.selftest import SelfTest
from forge.runs.service import Runs
from forge.sandbox.choice import Sandboxes
from forge.sandbox.models import Level
from forge.skills.in_workspaces import WorkspaceSkills
from forge.skills.opening import SkillHouse, SkillParts
from forge.store.engine import Store
from forge.store.schema import migrate
from forge.telemetry import Telemetry, open_telemetry
from forge.workflows.opening import Neighbours, WorkflowHouse, WorkflowParts
from forge.workspace.service import Workspaces

log = logging.getLogger(__name__)

KNOWN_SECRETS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GITHUB_CLIENT_SECRET", "GITHUB_WEBHOOK_SECRET")
"""Names people usually keep in the environment; shown in the list of secrets when they are there."""


class Role(Enum):
    """A server has its data directory to itself; workers on the same machine may share it."""

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
    catalog: Catalog
    gateway: Gateway
    models: Models
    workspaces: Workspaces
    sandboxes: Sandboxes
    agents: Agents
    audits: Audits
    auditor: ProvenAuditor
    bots: BotHouse
    skills: SkillHouse
    messages: Messages
    workflows: WorkflowHouse
    interviews: Interviews
    address: OwnAddress
    started_at: datetime


@dataclass(frozen=True)
class _Rooms:
    """What there is before runs are executed: each feature's parts, and the kinds of runs they have."""

    workspaces: Workspaces
    audit: AuditKind
    agent: AgentKind
    skills: SkillParts
    bots: BotParts
    talks: InterviewParts
    messages: MessageParts
    workflows: WorkflowParts

    def kinds(self, data_dir: Path) -> RunKinds:
        own = (SelfTest(data_dir).kind(), self.agent.kind(), self.audit.kind(), self.talks.kind())
        return RunKinds(*own, *self.bots.kinds(), self.messages.kind(), self.workflows.kind())


@asynccontextmanager
async def open_forge(
    settings: Settings, address: OwnAddress, *, terminal: bool, role: Role = Role.SERVER
) -> AsyncGenerator[Forge]:
    """Everything started in order; everything stopped in the opposite order, whatever happens."""
    async with AsyncExitStack() as stack:
        is_server = role is Role.SERVER
        telemetry = _open_telemetry(settings, stack, role, terminal=terminal)
        store, vault = await _open_store(settings, stack)
        accounts = Accounts(store, vault, address, session_days=settings.session_days)
        events = EventLog(store, telemetry.metrics)
        catalog, gateway, models = _wire_models(settings, store, vault, telemetry, stack)
        await _check_models(settings, catalog, gateway, (await accounts.ensure_owner()).id)
        hands = Hands(gateway, events, store, _wire_sandboxes(settings))
        rooms = _wire_rooms(settings, hands, catalog, vault, address)
        await _tidy(rooms, role)
        await stack.enter_async_context(rooms.skills.crew(is_server=is_server))
        stack.push_async_callback(rooms.workflows.close)
        kinds, keep = rooms.kinds(settings.data_dir), settings.run_retention_days
        opening = open_runs(store, events, kinds, telemetry.metrics, telemetry.tracing, keep_days=keep)
        runs = await stack.enter_async_context(opening)
        audits = Audits(store, events, runs, rooms.audit)
        await stack.enter_async_context(in_background(rooms.audit.auditor.prepare(), "proof of the checks"))
        bots = await stack.enter_async_context(rooms.bots.open(runs, is_server=is_server))
        opened_skills = rooms.skills.open(door_of(bots.bots), is_server=is_server)
        near = _neighbours(rooms, runs, bots, audits, vault)
        opened_workflows = rooms.workflows.open(runs, near, is_server=is_server)
        await _hear_other_processes(settings, store, events, stack)
        yield Forge(
            settings=settings,
            telemetry=telemetry,
            store=store,
            events=events,
            runs=runs,
            accounts=accounts,
            catalog=catalog,
            gateway=gateway,
            models=models,
            workspaces=rooms.workspaces,
            sandboxes=hands.sandboxes,
            agents=Agents(store, runs, rooms.workspaces),
            audits=audits,
            auditor=rooms.audit.auditor,
            bots=bots,
            skills=await stack.enter_async_context(opened_skills),
            messages=near.messages,
            workflows=await stack.enter_async_context(opened_workflows),
            interviews=rooms.talks.open(runs, bots),
            address=address,
            started_at=now(),
        )


def _open_telemetry(settings: Settings, stack: AsyncExitStack, role: Role, *, terminal: bool) -> Telemetry:
    """The data directory first: the log is in it."""
    _prepare_data_dir(settings.data_dir)
    if role is Role.SERVER:
        _claim_data_dir(settings.data_dir, stack)
    check_finished(settings.data_dir)
    telemetry = open_telemetry(settings, version=__version__, terminal=terminal, name=role.log_name)
    stack.callback(telemetry.close)
    for name in unknown_names(environment()):
        log.warning("%s is set, but there is no such setting", name)
    return telemetry


async def _open_store(settings: Settings, stack: AsyncExitStack) -> tuple[Store, Vault]:
    """Migrated, and with a key that fits the secrets in it."""
    store = Store(settings.store_url)
    stack.push_async_callback(store.close)
    await migrate(store)
    vault = Vault(store, open_vault_key(settings), environment=environment(), known_names=KNOWN_SECRETS)
    await vault.check_key()
    return store, vault


def default_models(settings: Settings) -> dict[ModelRole, str]:
    """The model of each role that nobody has chosen one for."""
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
    """Models that somebody named in the settings; Forge's own defaults are known to have a price. And the books."""
    await gateway.money.write_off_forgotten()
    named = {
        setting_name(name, field): getattr(settings, name)
        for name, field in Settings.model_fields.items()
        if name.startswith("llm_") and getattr(settings, name) != field.default
    }
    problems = await catalog.problems(owner_id, set(named.values()))
    if problems:
        raise ConfigError(
            [f"{name}: {problems[ref].message}" for name, ref in named.items() if ref in problems],
            hint="Start without this setting; then add the provider (forge models provider) or say the price "
            "(forge models price), and choose the model there (forge models set) or here.",
        )


def _wire_models(
    settings: Settings, store: Store, vault: Vault, telemetry: Telemetry, stack: AsyncExitStack
) -> tuple[Catalog, Gateway, Models]:
    catalog = Catalog(store, vault.resolve, default_models(settings))
    limits = Limits(settings.budget_run_usd, settings.budget_day_usd, settings.budget_server_usd)
    gateway = Gateway(catalog, Money(store, limits), telemetry.metrics)
    stack.push_async_callback(gateway.close)
    return catalog, gateway, Models(store, catalog, gateway, _last_four_of(vault))


def _wire_audits(
    settings: Settings, store: Store, events: EventLog, workspaces: Workspaces, sandboxes: Sandboxes
) -> AuditKind:
    places = Places(workspaces, settings.data_dir, Path.cwd(), settings.audit_roots)
    return AuditKind(ProvenAuditor(settings.data_dir), places, events, store, sandboxes)


def _wire_sandboxes(settings: Settings) -> Sandboxes:
    return Sandboxes(Level(settings.sandbox_required), hidden=(settings.data_dir,))


def _wire_rooms(
    settings: Settings, hands: Hands, catalog: Catalog, vault: Vault, address: OwnAddress
) -> _Rooms:
    workspaces = Workspaces(hands.database, settings.data_dir)
    memories = Memories(hands.database, hands.events, find_embedder())
    skills = SkillParts(settings, hands, vault.resolve, recall_for_skills(memories))
    skill_hands = LibraryHands(skills.knowing, skills.library, run_for_bots(skills.runner))
    return _Rooms(
        workspaces=workspaces,
        audit=_wire_audits(settings, hands.database, hands.events, workspaces, hands.sandboxes),
        agent=AgentKind(hands, workspaces, WorkspaceSkills()),
        skills=skills,
        bots=BotParts(settings.data_dir, hands, catalog, skill_hands, memories),
        talks=InterviewParts(hands, catalog, skills),
        messages=MessageParts(hands),
        workflows=WorkflowParts(hands, address, settings.data_dir),
    )


async def _tidy(rooms: _Rooms, role: Role) -> None:
    """What a server that was killed has left, before anybody makes more of it."""
    if role is Role.SERVER:
        await rooms.workspaces.finish_removals()


def _neighbours(rooms: _Rooms, runs: Runs, bots: BotHouse, audits: Audits, vault: Vault) -> Neighbours:
    messages = rooms.messages.open(runs, bots)
    return Neighbours(bots, messages, rooms.skills, audits, rooms.workspaces, vault)


def _last_four_of(vault: Vault) -> LastFour:
    async def last_four(name: str, scope: str) -> str | None:
        view = await vault.find(name, scope)
        return view.last_four if view else None

    return last_four


async def _hear_other_processes(
    settings: Settings, store: Store, events: EventLog, stack: AsyncExitStack
) -> None:
    """SQLite has none."""
    if store.is_sqlite:
        return
    listening = listen(settings.store_url, events.hub)
    await stack.enter_async_context(in_background(listening, "event listener"))


def _prepare_data_dir(path: Path) -> None:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError([f"FORGE_DATA_DIR: {path} cannot be used: {error.strerror}"]) from error


def _claim_data_dir(path: Path, stack: AsyncExitStack) -> None:
    try:
        stack.enter_context(DirectoryLock(path))
    except LockHeld as error:
        raise ConfigError(
            [f"Another Forge (process {error.pid}) already uses {path}."],
            hint="Stop it, or choose another --data-dir; on PostgreSQL several servers can share a database.",
        ) from error


def own_address(settings: Settings, port: int) -> OwnAddress:
    return OwnAddress(settings.host, port, socket.gethostname(), settings.public_url)
