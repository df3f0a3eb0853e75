"""Suggest how the bots of a batch can differ from each other."""

from collections.abc import Sequence
from dataclasses import dataclass

from forge.bots.models import MAX_NAME
from forge.interview.domain.build_config import VariantFields
from forge.interview.domain.names import make_unique


@dataclass(frozen=True)
class Variation:
    id: str
    label: str
    suffix: str
    """Appended to the shared name."""
    difference: str
    reason: str


VARIATIONS = (
    Variation(
        *("plain", "Exactly as described", "Classic"),
        "This one is exactly as described, without any twist.",
        "A plain one to compare the others with.",
    ),
    Variation(
        *("brief", "Short answers", "Brief"),
        "This one answers as briefly as the matter allows: a sentence or two, a list where there are several things.",
        "For people who want the result and nothing around it.",
    ),
    Variation(
        *("thorough", "Thorough answers", "In Depth"),
        "This one explains its reasoning, names alternatives and says what speaks against its own answer.",
        "For decisions that deserve a second look.",
    ),
    Variation(
        *("beginners", "For beginners", "for Beginners"),
        "This one talks to people who are new to the subject: no jargon, an example for every idea.",
        "Newcomers get lost in what experts take for granted.",
    ),
    Variation(
        *("experts", "For experts", "for Experts"),
        "This one talks to people who know the subject well: precise terms, no introductions.",
        "Experts lose patience with explanations they do not need.",
    ),
    Variation(
        *("warm", "A warmer tone", "Warm"),
        "This one is warm and encouraging, and takes a moment for the person before the matter.",
        "For conversations with people who may be unsure or upset.",
    ),
    Variation(
        *("formal", "A formal tone", "Formal"),
        "This one is formal and reserved, fit for people outside the house.",
        "For letters, customers and authorities.",
    ),
    Variation(
        *("playful", "A playful tone", "Playful"),
        "This one is light and playful, as long as the matter allows it.",
        "It makes routine more pleasant.",
    ),
    Variation(
        *("asking", "Asks before it answers", "Curious"),
        "This one asks a question or two before it answers, until it has understood what is really wanted.",
        "For vague requests, where the first answer is rarely the right one.",
    ),
    Variation(
        *("critical", "Plays the critic", "Critic"),
        "This one looks for what is weak, missing or wrong, says so kindly, and proposes something better.",
        "A second opinion that does not nod.",
    ),
    Variation(
        *("teaching", "Teaches instead of doing", "Tutor"),
        "This one does not hand over the result but leads people to it, step by step.",
        "For people who want to be able to do it themselves.",
    ),
    Variation(
        *("structured", "Always in a fixed form", "Structured"),
        "This one answers in a fixed form: a summary, the details as a list, and next steps.",
        "Answers of the same form are easy to compare and to file.",
    ),
)


def variant_from(
    variation: Variation, name: str, others: Sequence[VariantFields], taken: Sequence[str]
) -> VariantFields:
    return create_variant(f"{name} {variation.suffix}", variation.difference, others, taken)


def create_variant(
    name: str, difference: str, others: Sequence[VariantFields], taken: Sequence[str]
) -> VariantFields:
    """Create a variant whose name differs from the other variants and from existing bots."""
    names = [*taken, *(one.name for one in others)]
    return VariantFields(name=make_unique(name[:MAX_NAME].strip(), names), difference=difference)
