"""The interview about several bots of one kind: what they share, then what each has of its own."""

from forge.interview.completing import to_config
from forge.interview.config import Fields
from forge.interview.guide.bots import next_of_bot
from forge.interview.guide.questions import Choice, Place, ask
from forge.interview.phases import Phase, is_before
from forge.interview.state import Asked, State
from forge.interview.variations import VARIATIONS, variant_of

MAX_CHOICES = 4


def next_of_batch(state: State) -> Asked | None:
    """The differences are part of the personality: they come before the model."""
    asked = next_of_bot(state)
    known = len(state.config.variants or [])
    is_early = asked is not None and is_before(asked.turn.phase, Phase.MODEL)
    if is_early or known >= state.basis.variants:
        return asked
    return _ask_variant(state, known + 1)


def _ask_variant(state: State, number: int) -> Asked:
    others = list(state.config.variants or [])
    name = state.config.name or to_config(state).name
    used = {one.difference for one in others}
    unused = [variation for variation in VARIATIONS if variation.difference not in used]
    choices: list[Choice] = []
    for variation in unused[:MAX_CHOICES]:
        variant = variant_of(variation, name, others, state.facts.bot_names)
        reason = f"{variation.reason} It would be called “{variant.name}”."
        patch = Fields(variants=[*others, variant])
        choices.append(Choice(variation.id, variation.label, reason, patch))
    place = Place(state.mode, Phase.PERSONALITY, f"variant:{number}")
    question = f"What makes number {number} of {state.basis.variants} different?"
    return ask(place, question, choices, free="variants")
