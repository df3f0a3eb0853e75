"""The capabilities a person granted to a skill, each by answering its own question."""

from forge.errors import Invalid
from forge.interview.domain.build_config import SkillBuildRequest
from forge.interview.domain.dialogue import AskQuestion, Chosen
from forge.interview.domain.state import Exchange, State
from forge.kernel.hashing import hash_text
from forge.skills.capabilities import requested_scope
from forge.skills.format.manifest import read_skill_md
from forge.skills.models import SKILL_MD, Capability, Scope

ALLOW = "allow"
"""The id of the option that grants a capability."""
_HASH_LENGTH = 12


def capability_topic(capability: Capability, scope: Scope) -> str:
    """Return the topic of a capability question. It includes the scope: a yes to one host is no yes to
    another."""
    reach = "" if scope == Scope() else f"@{hash_text(scope.model_dump_json())[:_HASH_LENGTH]}"
    return f"capability:{capability.value}{reach}"


def requested_scopes(state: State) -> dict[Capability, Scope]:
    """Return the scope that the written skill requests for each capability."""
    written = state.written and state.written.skill
    manifest = read_skill_md(written.files.get(SKILL_MD, ""), written.name).manifest if written else None
    return {one: requested_scope(manifest, one) if manifest else Scope() for one in Capability}


def granted_capabilities(state: State) -> list[Capability]:
    """Return the capabilities whose latest question was answered with yes."""
    last = {exchange.asked.topic: exchange for exchange in state.exchanges}
    topics = {one: capability_topic(one, scope) for one, scope in requested_scopes(state).items()}
    return [one for one, topic in topics.items() if (asked := last.get(topic)) and _is_yes(asked)]


def check_granted(state: State, request: SkillBuildRequest) -> SkillBuildRequest:
    """Raise when the request contains a capability that was not granted; default to those that were."""
    granted = granted_capabilities(state)
    if request.capabilities is None:
        known = state.config.capabilities or []
        return request.model_copy(update={"capabilities": [one for one in granted if one in known]})
    if refused := [one.value for one in request.capabilities if one not in granted]:
        raise Invalid(
            f"Capability {refused[0]} was not granted to this skill.",
            hint="Request it in the interview and confirm it there.",
            field="skill_request.capabilities",
        )
    return request


def _is_yes(exchange: Exchange) -> bool:
    match exchange.asked.turn, exchange.answer:
        case AskQuestion(options=options), Chosen(index=index):
            return options[index].id == ALLOW
        case _:
            return False
