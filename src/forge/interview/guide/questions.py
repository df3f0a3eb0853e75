"""Build questions of the guide, and find the topics and rounds that were asked about."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from forge.interview.domain.build_config import NOTHING, Fields
from forge.interview.domain.dialogue import (
    MAX_ID,
    MAX_LABEL,
    MAX_REASON,
    AskQuestion,
    Chosen,
    Clarify,
    Mode,
    Phase,
    QuestionOption,
    Said,
    phase_label,
)
from forge.interview.domain.parts import Part, find_part
from forge.interview.domain.state import Asked, Exchange, InterviewSpeaker, State
from forge.interview.domain.text_analysis import shorten


@dataclass(frozen=True)
class Choice:
    id: str
    label: str
    reason: str
    patch: Fields = NOTHING


@dataclass(frozen=True)
class QuestionContext:
    """The mode, phase and topic a question is asked in."""

    mode: Mode
    phase: Phase
    topic: str


def build_question(
    context: QuestionContext, question: str, choices: Sequence[Choice], *, free: str | None
) -> Asked:
    turn = AskQuestion(
        phase=context.phase,
        question=question,
        options=[
            QuestionOption(
                id=choice.id[:MAX_ID],
                label=shorten(choice.label, MAX_LABEL),
                reason=shorten(choice.reason, MAX_REASON),
            )
            for choice in choices
        ],
        allow_free_text=free is not None,
        phase_label=phase_label(context.mode, context.phase),
    )
    patches = [choice.patch for choice in choices]
    return Asked(turn=turn, topic=context.topic, speaker=InterviewSpeaker.GUIDE, patches=patches, free=free)


def build_clarification(context: QuestionContext, message: str, *, free: str) -> Asked:
    turn = Clarify(phase=context.phase, message=message)
    return Asked(turn=turn, topic=context.topic, speaker=InterviewSpeaker.GUIDE, free=free)


def move_to_front(choices: Sequence[Choice], id: str | None) -> list[Choice]:
    """Move the choice with this id to the front."""
    return sorted(choices, key=lambda choice: choice.id != id)


class Topic(StrEnum):
    """Listed in the order they are asked about."""

    PURPOSE = "purpose"
    CATEGORY = "category"
    NAME = "name"
    AUDIENCE = "audience"
    TONE = "tone"
    TRAITS = "traits"
    BOUNDARIES = "boundaries"
    MODEL = "model"
    CREATIVITY = "creativity"
    LENGTH = "length"
    SKILLS = "skills"

    @property
    def phase(self) -> Phase:
        return _PHASES[self]


_PHASES = {
    Topic.PURPOSE: Phase.BASICS,
    Topic.CATEGORY: Phase.BASICS,
    Topic.NAME: Phase.BASICS,
    Topic.AUDIENCE: Phase.BASICS,
    Topic.TONE: Phase.PERSONALITY,
    Topic.TRAITS: Phase.PERSONALITY,
    Topic.BOUNDARIES: Phase.PERSONALITY,
    Topic.MODEL: Phase.MODEL,
    Topic.CREATIVITY: Phase.MODEL,
    Topic.LENGTH: Phase.MODEL,
    Topic.SKILLS: Phase.SKILLS,
}
_FIELDS = {Topic.CREATIVITY: "temperature", Topic.LENGTH: "max_tokens"}
"""Topics whose field has a different name."""


def topic_field(topic: Topic) -> str:
    return _FIELDS.get(topic, topic.value)


def asked_topics(state: State) -> set[str]:
    """Return the answered topics; a question of the model counts for its field."""
    answered = [one.asked for one in state.exchanges if not _is_unanswered(one)]
    by_model = {asked.free for asked in answered if asked.speaker is InterviewSpeaker.MODEL and asked.free}
    return {asked.topic for asked in answered} | by_model


def _is_unanswered(exchange: Exchange) -> bool:
    """Check for an inserted turn after which the question itself is still open."""
    return isinstance(exchange.asked.turn, Clarify) and not exchange.patch.model_fields_set


MAX_ROUNDS = 8
WHAT = "what"


@dataclass(frozen=True)
class Round:
    number: int
    part: Part | None
    """None when the answer described the change itself instead of naming a part."""
    asked: frozenset[str]
    """Topics asked about in this round."""

    def topic(self, name: str) -> str:
        """Return the name of a topic in this round."""
        return name if self.number == 1 else f"{name}@{self.number}"


def what_topic(number: int) -> str:
    return WHAT if number == 1 else f"{WHAT}:{number}"


def current_round(state: State) -> Round | None:
    """Return the current round; None before the first."""
    starts = [index for index, one in enumerate(state.exchanges) if _is_what(one.asked.topic)]
    if not starts:
        return None
    since = frozenset(one.asked.topic for one in state.exchanges[starts[-1] + 1 :])
    return Round(len(starts), _part_of(state, state.exchanges[starts[-1]]), since)


def _is_what(topic: str) -> bool:
    return topic == WHAT or topic.startswith(f"{WHAT}:")


def _part_of(state: State, exchange: Exchange) -> Part | None:
    turn, answer = exchange.asked.turn, exchange.answer
    if isinstance(answer, Chosen) and isinstance(turn, AskQuestion):
        chosen = turn.options[answer.index].id
        return Part(chosen) if chosen in set(Part) else None
    if isinstance(answer, Said) and not exchange.patch.model_fields_set:
        return find_part(state.mode, answer.text)
    return None
