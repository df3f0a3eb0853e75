"""What a question of the guide is made of: choices, each with its reason and with what it means."""

from collections.abc import Sequence
from dataclasses import dataclass

from forge.interview.config import NOTHING, Fields
from forge.interview.phases import Mode, Phase, phase_label
from forge.interview.state import Asked, Speaker
from forge.interview.turns import (
    MAX_ID,
    MAX_LABEL,
    MAX_REASON,
    AskQuestion,
    Clarify,
    QuestionOption,
)
from forge.interview.wording import shortened


@dataclass(frozen=True)
class Choice:
    id: str
    label: str
    reason: str
    patch: Fields = NOTHING


@dataclass(frozen=True)
class Place:
    """Where in an interview something is asked."""

    mode: Mode
    phase: Phase
    topic: str


def ask(place: Place, question: str, choices: Sequence[Choice], *, free: str | None) -> Asked:
    turn = AskQuestion(
        phase=place.phase,
        question=question,
        options=[
            QuestionOption(
                id=choice.id[:MAX_ID],
                label=shortened(choice.label, MAX_LABEL),
                reason=shortened(choice.reason, MAX_REASON),
            )
            for choice in choices
        ],
        allow_free_text=free is not None,
        phase_label=phase_label(place.mode, place.phase),
    )
    patches = [choice.patch for choice in choices]
    return Asked(turn=turn, topic=place.topic, speaker=Speaker.GUIDE, patches=patches, free=free)


def clarify(place: Place, message: str, *, free: str) -> Asked:
    turn = Clarify(phase=place.phase, message=message)
    return Asked(turn=turn, topic=place.topic, speaker=Speaker.GUIDE, free=free)


def first_of(choices: Sequence[Choice], id: str | None) -> list[Choice]:
    """The same, beginning with the one of this id."""
    return sorted(choices, key=lambda choice: choice.id != id)
