"""What somebody has let a skill do: each capability by a yes of its own."""

from forge.errors import Invalid
from forge.interview.answers import Chosen
from forge.interview.config import SkillBuildRequest
from forge.interview.state import Exchange, State
from forge.interview.turns import AskQuestion
from forge.kernel.hashing import hash_text
from forge.skills.manifest import read_skill_md
from forge.skills.models import SKILL_MD, Capability, Scope
from forge.skills.wishes import wished_scope

ALLOW = "allow"
"""The id of the option that grants it."""
_OF_HASH = 12


def topic_of(capability: Capability, scope: Scope) -> str:
    """With how far it goes: who said yes to one host has not said yes to another."""
    reach = "" if scope == Scope() else f"@{hash_text(scope.model_dump_json())[:_OF_HASH]}"
    return f"capability:{capability.value}{reach}"


def scopes_of(state: State) -> dict[Capability, Scope]:
    """How far the skill that was written wants to go with each."""
    written = state.written and state.written.skill
    manifest = read_skill_md(written.files.get(SKILL_MD, ""), written.name).manifest if written else None
    return {one: wished_scope(manifest, one) if manifest else Scope() for one in Capability}


def granted_capabilities(state: State) -> list[Capability]:
    """Those whose question was answered with yes, the last time it was asked."""
    last = {exchange.asked.topic: exchange for exchange in state.exchanges}
    topics = {one: topic_of(one, scope) for one, scope in scopes_of(state).items()}
    return [one for one, topic in topics.items() if (asked := last.get(topic)) and _is_yes(asked)]


def as_granted(state: State, request: SkillBuildRequest) -> SkillBuildRequest:
    """Raises when it asks for what nobody allowed; one that names nothing gets what it needs and was allowed."""
    granted = granted_capabilities(state)
    if request.capabilities is None:
        known = state.config.capabilities or []
        return request.model_copy(update={"capabilities": [one for one in granted if one in known]})
    if refused := [one.value for one in request.capabilities if one not in granted]:
        raise Invalid(
            f"Nobody has allowed this skill {refused[0]}.",
            hint="Say in the interview that it needs it, and confirm it there.",
            field="skill_request.capabilities",
        )
    return request


def _is_yes(exchange: Exchange) -> bool:
    match exchange.asked.turn, exchange.answer:
        case AskQuestion(options=options), Chosen(index=index):
            return options[index].id == ALLOW
        case _:
            return False
