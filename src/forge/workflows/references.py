"""Check what a definition refers to outside of it: bots, skills, workflows, secrets, and folders of the server."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass

from forge.accounts.models import is_owner
from forge.errors import Invalid
from forge.skills.invocations.runner import cannot_render
from forge.skills.models import SkillKind
from forge.store.database import Store
from forge.workflows import store
from forge.workflows.definition.expression_checks import secrets_named
from forge.workflows.definition.models import (
    AgentConfig,
    BotOwner,
    Definition,
    FileWatchTrigger,
    MessageConfig,
    Place,
    SkillConfig,
    Step,
    SubWorkflowConfig,
    WebhookTrigger,
)
from forge.workflows.definition.source import Fault, Path, Source
from forge.workflows.triggers.watch_thread import resolve_path
from forge.workspace.filesystem.allowed_roots import AllowedRoots

Names = Callable[[str], Awaitable[Collection[str]]]
"""Return the names that exist in an account."""
SkillKinds = Callable[[Collection[str]], Awaitable[Mapping[str, SkillKind]]]
"""Return the kinds of those of the skills that can be read, by name."""


@dataclass(frozen=True)
class ReferenceChecker:
    database: Store
    bots: Names
    skills: Names
    skill_kinds: SkillKinds
    secrets: Names
    allowed_roots: AllowedRoots

    async def find_problems(self, account_id: str, definition: Definition, source: str) -> list[Place]:
        """Return the problems with their positions in the source.

        An unknown name is only a warning, because it may be created before the workflow runs.
        """
        faults = await self._faults(account_id, definition)
        return await asyncio.to_thread(_places, source, faults) if faults else []

    async def _faults(self, account_id: str, definition: Definition) -> list[Fault]:
        unknown = await self._unknown_names(account_id, definition)
        return [
            *unknown,
            *await self._render_faults(definition),
            *await self._path_faults(account_id, definition),
        ]

    async def _unknown_names(self, account_id: str, definition: Definition) -> list[Fault]:
        bots, skills = await self.bots(account_id), await self.skills(account_id)
        secrets = await self.secrets(account_id)
        async with self.database.read() as tx:
            workflows = {row.name for row in await store.find_all(tx, account_id, None)} | {definition.name}
        found: list[Fault] = []
        if isinstance(definition.owner, BotOwner) and definition.owner.slug not in bots:
            found.append(_fault(("owner", "slug"), "bot", definition.owner.slug))
        for i, trigger in enumerate(definition.triggers):
            auth = trigger.auth if isinstance(trigger, WebhookTrigger) else None
            if auth and auth.secret_name not in secrets:
                found.append(_fault(("triggers", i, "auth", "secret_name"), "secret", auth.secret_name))
        for path, name in secrets_named(definition):
            if name not in secrets:
                found.append(_fault(path, "secret", name))
        for i, step in enumerate(definition.steps):
            kind, field, name = _named(step)
            known = {"bot": bots, "skill": skills, "workflow": workflows}.get(kind, ())
            if name is not None and "{{" not in name and name not in known:
                found.append(_fault(("steps", i, "config", field), kind, name))
        return found

    async def _render_faults(self, definition: Definition) -> list[Fault]:
        rendered = {
            i: step.config.skill
            for i, step in enumerate(definition.steps)
            if isinstance(step.config, SkillConfig) and step.config.render
        }
        if not rendered:
            return []
        kinds = await self.skill_kinds(set(rendered.values()))
        return [
            Fault(("steps", i, "config", "render"), cannot_render(name, kinds[name]), "Remove `render`.")
            for i, name in rendered.items()
            if kinds.get(name, SkillKind.PROMPT) is not SkillKind.PROMPT
        ]

    async def _path_faults(self, account_id: str, definition: Definition) -> list[Fault]:
        watched: dict[Path, str] = {
            ("triggers", i, "paths", j): path
            for i, trigger in enumerate(definition.triggers)
            if isinstance(trigger, FileWatchTrigger)
            for j, path in enumerate(trigger.paths)
        }
        found: list[Fault] = []
        for at, path in watched.items():
            if not is_owner(account_id):
                found.append(Fault(at, "Only the owner of this server may watch its folders.", None))
                continue
            try:
                await asyncio.to_thread(resolve_path, path, self.allowed_roots)
            except Invalid as error:
                found.append(Fault(at, error.message, error.hint))
        return found


def _named(step: Step) -> tuple[str, str, str | None]:
    match step.config:
        case AgentConfig(bot=bot):
            return "bot", "bot", bot
        case MessageConfig(to=to):
            return "bot", "to", to
        case SkillConfig(skill=skill):
            return "skill", "skill", skill
        case SubWorkflowConfig(workflow_name=name):
            return "workflow", "workflow_name", name
        case _:
            return "", "", None


def _fault(path: Path, kind: str, name: str) -> Fault:
    return Fault(path, f"There is no {kind} named {name}.", is_warning=True)


def _places(source: str, faults: list[Fault]) -> list[Place]:
    read = Source.of(source)
    return [read.place(fault) for fault in faults]
