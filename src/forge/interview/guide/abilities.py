"""Questions about the skills a bot takes from the library."""

from forge.interview.config import MAX_SKILLS, Fields, SkillRequest
from forge.interview.guide.questions import Choice, Place, ask
from forge.interview.state import Asked, State
from forge.interview.wording import listed
from forge.skills.models import SkillOffer

MAX_ALONE = 3
MAX_TOGETHER = 5


def ask_skills(place: Place, state: State) -> Asked | None:
    """Nothing is asked when there is nothing to choose from."""
    offers = state.facts.skills[:MAX_TOGETHER]
    if not offers:
        return None
    together = [_together(offers)] if len(offers) > 1 else []
    choices = [
        *together,
        *(_alone(offer) for offer in offers[:MAX_ALONE]),
        Choice(
            "none",
            "None for now",
            "Skills can be added at any time; without any it stays simple.",
            Fields(skills=[]),
        ),
    ]
    question = "Which skills should it have? Name others of the library, or new ones, in your own words."
    return ask(place, question, choices, free="skills")


def ask_other_skills(place: Place, state: State) -> Asked | None:
    """What would go with the skills a bot has. Nothing is asked when there is nothing to add or to take away."""
    has = state.config.skills or []
    names = {skill.name for skill in has}
    offers = [offer for offer in state.facts.skills if offer.name not in names]
    choices = [
        *(
            Choice(
                offer.name, f"Add {offer.name}", offer.reason, Fields(skills=[*has, SkillRequest.of(offer)])
            )
            for offer in offers[:MAX_ALONE]
            if len(has) < MAX_SKILLS
        ),
        *(
            [
                Choice(
                    "none",
                    "Take all of them away",
                    "It stays simple, and answers from itself.",
                    Fields(skills=[]),
                )
            ]
            if has
            else []
        ),
    ]
    if not choices:
        return None
    keep = Choice("keep", "Keep what it has", "It is so now.")
    question = "Which skills should it have? Name some to add, or say “remove” and which."
    return ask(place, question, [keep, *choices], free="skills")


def _together(offers: list[SkillOffer]) -> Choice:
    names = [offer.name for offer in offers]
    return Choice(
        "all",
        f"All of these: {listed(names)}",
        "They go well together, and a skill costs nothing until it is used.",
        Fields(skills=[SkillRequest.of(offer) for offer in offers]),
    )


def _alone(offer: SkillOffer) -> Choice:
    return Choice(offer.name, f"Only {offer.name}", offer.reason, Fields(skills=[SkillRequest.of(offer)]))
