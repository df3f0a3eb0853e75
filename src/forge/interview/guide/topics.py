"""What the guide can ask about a bot, and in which phase."""

from enum import StrEnum

from forge.interview.phases import Phase
from forge.interview.state import Exchange, Speaker, State
from forge.interview.turns import Clarify


class Topic(StrEnum):
    """In the order they are asked in."""

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
"""Where the field has another name."""


def field_of(topic: Topic) -> str:
    return _FIELDS.get(topic, topic.value)


def asked_topics(state: State) -> set[str]:
    """What was answered, by topic; a model's question counts for the field it was about."""
    answered = [one.asked for one in state.exchanges if not _led_nowhere(one)]
    by_model = {asked.free for asked in answered if asked.speaker is Speaker.MODEL and asked.free}
    return {asked.topic for asked in answered} | by_model


def _led_nowhere(exchange: Exchange) -> bool:
    """Something was put in between, and the question itself is still open."""
    return isinstance(exchange.asked.turn, Clarify) and not exchange.patch.model_fields_set
