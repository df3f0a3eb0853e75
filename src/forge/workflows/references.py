"""Check whether the bots, skills, workflows and secrets that a definition names exist."""

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from forge.store.database import Store
from forge.workflows import store
from forge.workflows.definition.expression_checks import secrets_named
from forge.workflows.definition.models import (
    AgentConfig,
    BotOwner,
    Definition,
    MessageConfig,
    Place,
    SkillConfig,
    Step,
    SubWorkflowConfig,
    WebhookTrigger,
)
from forge.workflows.definition.source import Fault, Path, Source

Names = Callable[[str], Awaitable[Collection[str]]]
"""Return the names that exist in an account."""


@dataclass(frozen=True)
class ReferenceChecker:
    database: Store
    bots: Names
    skills: Names
    secrets: Names

    async def find_unknown(self, account_id: str, definition: Definition, source: str) -> list[Place]:
        """Return a warning for each unknown name, with its position in the source.

        Not errors, because the name may be created before the workflow runs.
        """
        faults = await self._faults(account_id, definition)
        return await asyncio.to_thread(_places, source, faults) if faults else []

    async def _faults(self, account_id: str, definition: Definition) -> list[Fault]:
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
