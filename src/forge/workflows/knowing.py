"""Whether what a definition names is there: bots, skills, workflows, secrets. What is not may still come."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from forge.store.engine import Store
from forge.workflows import store
from forge.workflows.definition.models import (
    AgentConfig,
    BotOwner,
    Definition,
    MessageConfig,
    SkillConfig,
    Step,
    SubWorkflowConfig,
    WebhookTrigger,
)
from forge.workflows.models import Place

Names = Callable[[str], Awaitable[Collection[str]]]
"""Of what an account has."""


@dataclass(frozen=True)
class Knowing:
    database: Store
    bots: Names
    skills: Names
    secrets: Names

    async def unknown(self, account_id: str, definition: Definition) -> list[Place]:
        """As warnings: a run that reaches such a step says so as an error."""
        bots, skills = await self.bots(account_id), await self.skills(account_id)
        secrets = await self.secrets(account_id)
        async with self.database.read() as tx:
            workflows = {row.name for row in await store.find_all(tx, account_id, None)} | {definition.name}
        found: list[Place] = []
        if isinstance(definition.owner, BotOwner) and definition.owner.slug not in bots:
            found.append(_place("owner.slug", None, "bot", definition.owner.slug))
        for i, trigger in enumerate(definition.triggers):
            auth = trigger.auth if isinstance(trigger, WebhookTrigger) else None
            if auth and auth.secret_name not in secrets:
                found.append(_place(f"triggers[{i}].auth.secret_name", None, "secret", auth.secret_name))
        for i, step in enumerate(definition.steps):
            kind, field, name = _named(step)
            known = {"bot": bots, "skill": skills, "workflow": workflows}.get(kind, ())
            if name is not None and "{{" not in name and name not in known:
                found.append(_place(f"steps[{i}].config.{field}", step.id, kind, name))
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


def _place(path: str, step: str | None, kind: str, name: str) -> Place:
    return Place(
        line=1, column=1, path=path, step=step, message=f"There is no {kind} called {name}.", is_warning=True
    )
