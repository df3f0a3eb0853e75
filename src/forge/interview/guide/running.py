"""Questions about what a bot runs on, and how freely it speaks."""

from forge.interview.categories import defaults_for
from forge.interview.config import DEFAULT_MODEL, Fields
from forge.interview.guide.questions import Choice, Place, ask, first_of
from forge.interview.state import Asked, ModelOffer, State
from forge.interview.turns import FEWEST_OPTIONS

MAX_MODELS = 4
LONG_ANSWERS = 8192

CREATIVITY = {
    "precise": (
        0.2,
        "Precise",
        "The same question gets nearly the same answer. Best for facts, code and rules.",
    ),
    "balanced": (0.6, "Balanced", "Reliable, but not stiff. Best when it both informs and converses."),
    "inventive": (
        1.0,
        "Inventive",
        "Surprising turns, and now and then a wrong one. Best for ideas and texts.",
    ),
}
LENGTHS = {
    "short": (1024, "Short: a paragraph or two", "Quick to read and cheap."),
    "medium": (4096, "As long as needed: up to about six pages", "Enough for nearly everything."),
    "long": (LONG_ANSWERS, "Long: whole reports and files", "Nothing is cut off; long answers cost more."),
}


def ask_model(place: Place, state: State) -> Asked:
    offers = [offer for offer in state.facts.models if offer.ref != DEFAULT_MODEL]
    usable_first = sorted(offers, key=lambda offer: not offer.has_key)
    choices = [_default(state), *(_model_choice(offer) for offer in usable_first)][:MAX_MODELS]
    if len(choices) < FEWEST_OPTIONS:
        choices.append(
            Choice(
                *("default-long", "The same, with room for long answers"),
                "Whole reports and files are not cut off; long answers cost more.",
                Fields(model=DEFAULT_MODEL, max_tokens=LONG_ANSWERS),
            )
        )
    return ask(place, "Which model should it run on?", choices, free="model")


def _default(state: State) -> Choice:
    offered = next((offer for offer in state.facts.models if offer.ref == DEFAULT_MODEL), None)
    return Choice(
        DEFAULT_MODEL,
        offered.label if offered else "Whatever is chosen for bots",
        offered.reason
        if offered
        else "It follows Settings, Models: choose a better one there, and this bot has it.",
        Fields(model=DEFAULT_MODEL),
    )


def _model_choice(offer: ModelOffer) -> Choice:
    reason = offer.reason if offer.has_key else f"{offer.reason} Its provider has no key yet."
    return Choice(offer.ref, offer.label, reason, Fields(model=offer.ref))


def ask_creativity(place: Place, state: State) -> Asked:
    usual = defaults_for(state.purpose).temperature
    nearest = min(CREATIVITY, key=lambda id: abs(CREATIVITY[id][0] - usual))
    choices = [_creativity(id, usual if id == nearest else None) for id in CREATIVITY]
    return ask(place, "How freely should it express itself?", first_of(choices, nearest), free="temperature")


def _creativity(id: str, usual: float | None) -> Choice:
    temperature, label, reason = CREATIVITY[id]
    why = reason if usual is None else f"{reason} What suits this kind best."
    return Choice(id, label, why, Fields(temperature=temperature if usual is None else usual))


def ask_length(place: Place, state: State) -> Asked:
    usual = defaults_for(state.purpose).max_tokens
    nearest = min(LENGTHS, key=lambda id: abs(LENGTHS[id][0] - usual))
    choices = [
        Choice(id, label, reason, Fields(max_tokens=tokens))
        for id, (tokens, label, reason) in LENGTHS.items()
    ]
    return ask(place, "How long may an answer be?", first_of(choices, nearest), free="max_tokens")
