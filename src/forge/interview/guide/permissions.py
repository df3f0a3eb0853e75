"""Questions about what a skill may do: which capabilities it needs, and then each one by itself."""

from forge.interview.config import Fields
from forge.interview.granting import ALLOW, granted_capabilities, scopes_of, topic_of
from forge.interview.guide.questions import Choice, Place, ask
from forge.interview.phases import Phase
from forge.interview.state import Asked, State
from forge.interview.wording import capitalised, listed
from forge.skills.capabilities import MEANINGS, suggest_capabilities
from forge.skills.command_words import scope_words
from forge.skills.models import Capability, Scope

MAX_ALONE = 3
_COMMON = (Capability.READ_FILE, Capability.HTTP_GET)


def ask_capabilities(state: State, topic: str) -> Asked:
    suggested = _suggested(state)
    singles = dict.fromkeys([*suggested, *(() if suggested else _COMMON)])
    none = Choice(
        *("none", "Nothing: it works with what it is given"),
        "The safest: it gets an input and gives back an output.",
        Fields(capabilities=[]),
    )
    alone = [
        Choice(
            capability.value,
            f"Only {MEANINGS[capability].title}",
            f"{suggested.get(capability, 'Often needed.')} {MEANINGS[capability].allows}",
            Fields(capabilities=[capability]),
        )
        for capability in list(singles)[:MAX_ALONE]
    ]
    together = [_together(list(suggested))] if len(suggested) > 1 else []
    choices = [*together, *alone, none] if suggested else [none, *alone]
    place = Place(state.mode, Phase.SKILLS, topic)
    question = "What does it need to be allowed? You confirm each one before it is made."
    return ask(place, question, choices, free="capabilities")


def _suggested(state: State) -> dict[Capability, str]:
    known = state.config
    return suggest_capabilities(f"{known.description or ''} {known.steps or ''}")


def _together(capabilities: list[Capability]) -> Choice:
    titles = [MEANINGS[capability].title for capability in capabilities]
    return Choice(
        *("all", capitalised(listed(titles))),
        "Your description speaks of all of these.",
        Fields(capabilities=capabilities),
    )


def next_capability(state: State) -> Asked | None:
    """The first that nobody has allowed. What is not allowed is taken from the list; should it come back, it is asked
    about again."""
    granted = granted_capabilities(state)
    for capability in state.config.capabilities or []:
        if capability not in granted:
            return _ask_capability(state, capability, scopes_of(state)[capability])
    return None


def _ask_capability(state: State, capability: Capability, scope: Scope) -> Asked:
    meaning = MEANINGS[capability]
    wanted = state.config.capabilities or []
    why = _suggested(state).get(capability, "The skill as it is written asks for it.")
    choices = [
        Choice(ALLOW, "Allow it", f"{meaning.allows} {why}"),
        Choice(
            *("deny", "Do not allow it"),
            f"{meaning.risk} Without it, that part of the skill does not work.",
            Fields(capabilities=[one for one in wanted if one is not capability]),
        ),
    ]
    place = Place(state.mode, Phase.SKILLS, topic_of(capability, scope))
    reach = "" if scope == Scope() else f" ({scope_words(scope)})"
    return ask(place, f"It asks to {meaning.title}{reach}. Is that all right?", choices, free=None)
