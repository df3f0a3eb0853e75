"""What somebody has let a skill do: each capability by a yes of its own."""

from forge.errors import Invalid
from forge.interview.answers import Chosen
from forge.interview.config import SkillBuildRequest
from forge.interview.state import Exchange, State
from forge.interview.turns import AskQuestion
from forge.skills.models import Capability

ALLOW = "allow"
"""The id of the option that grants it."""


def topic_of(capability: Capability) -> str:
    return f"capability:{capability.value}"


def granted_capabilities(state: State) -> list[Capability]:
    """Those whose question was answered with yes, the last time it was asked."""
    last = {exchange.asked.topic: exchange for exchange in state.exchanges}
    return [one for one in Capability if (asked := last.get(topic_of(one))) and _is_yes(asked)]


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
