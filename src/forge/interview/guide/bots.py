"""The interview about a new bot: which questions matter for its kind, and in which order."""

from forge.interview.categories import Custom, Known, Purpose, defaults_for
from forge.interview.config import Fields
from forge.interview.guide.abilities import ask_skills
from forge.interview.guide.basics import ask_audience, ask_category, ask_name, ask_purpose
from forge.interview.guide.personality import ask_boundaries, ask_tone, ask_traits, kind_of
from forge.interview.guide.questions import Place
from forge.interview.guide.running import ask_creativity, ask_length, ask_model
from forge.interview.guide.topics import Topic, asked_topics, field_of
from forge.interview.phases import Phase, is_before
from forge.interview.state import Asked, State
from forge.interview.turns import AskQuestion, Clarify

_ALWAYS = (Topic.PURPOSE, Topic.CATEGORY, Topic.NAME, Topic.TONE, Topic.MODEL, Topic.SKILLS)
_MORE: dict[Known | None, tuple[Topic, ...]] = {
    Known.SIMPLE_UTILITY: (),
    Known.COMPLEX_ANALYST: (Topic.AUDIENCE, Topic.TRAITS, Topic.BOUNDARIES, Topic.CREATIVITY, Topic.LENGTH),
    Known.CREATIVE: (Topic.TRAITS, Topic.CREATIVITY),
    Known.CODING: (Topic.TRAITS, Topic.BOUNDARIES),
    Known.RESEARCH: (Topic.AUDIENCE, Topic.TRAITS, Topic.BOUNDARIES),
    Known.CUSTOMER_SERVICE: (Topic.AUDIENCE, Topic.BOUNDARIES),
    None: (Topic.TRAITS,),
}
_BY_WORTH = (
    *(Topic.PURPOSE, Topic.NAME, Topic.CATEGORY, Topic.TONE, Topic.MODEL, Topic.SKILLS, Topic.BOUNDARIES),
    *(Topic.TRAITS, Topic.AUDIENCE, Topic.CREATIVITY, Topic.LENGTH),
)
"""Where there is no room for all of them, the last are left out; where there is too little to ask, the first of the
others are added."""
_OF_A_SOUL = frozenset(
    (Topic.PURPOSE, Topic.CATEGORY, Topic.AUDIENCE, Topic.TONE, Topic.TRAITS, Topic.BOUNDARIES)
)


def next_of_bot(state: State) -> Asked | None:
    for topic in _open_topics(state):
        asked = ask_topic(topic, state)
        if asked is not None:
            return asked
    return None


def ask_topic(topic: Topic, state: State, name: str | None = None) -> Asked | None:
    """None when there is nothing to choose from. `name` tells a second question of the topic from the first."""
    place = Place(state.mode, topic.phase, name or topic.value)
    if topic is Topic.PURPOSE:
        return ask_purpose(place)
    return _QUESTIONS[topic](place, state)


_QUESTIONS = {
    Topic.CATEGORY: ask_category,
    Topic.NAME: ask_name,
    Topic.AUDIENCE: ask_audience,
    Topic.TONE: ask_tone,
    Topic.TRAITS: ask_traits,
    Topic.BOUNDARIES: ask_boundaries,
    Topic.MODEL: ask_model,
    Topic.CREATIVITY: ask_creativity,
    Topic.LENGTH: ask_length,
    Topic.SKILLS: ask_skills,
}


def _open_topics(state: State) -> list[Topic]:
    """What is still to be asked, in order: as much as the kind of bot deserves, and no more than it bears."""
    purpose = state.purpose
    budget = defaults_for(purpose).budget
    answered = _answered(state)
    unknown = _unknown(state, purpose)
    wanted = {topic for topic in unknown if topic in (*_ALWAYS, *_MORE[kind_of(purpose)])}
    for topic in _BY_WORTH:
        if answered + len(wanted) >= budget.fewest:
            break
        if topic in unknown and not _is_behind(topic, state):
            wanted.add(topic)
    room = max(0, budget.most - answered)
    kept = [topic for topic in _BY_WORTH if topic in wanted][:room]
    return [topic for topic in Topic if topic in kept]


def _answered(state: State) -> int:
    """Without those that only tell the bots of a batch apart."""
    return sum(
        isinstance(one.asked.turn, AskQuestion | Clarify) and not one.asked.topic.startswith("variant:")
        for one in state.exchanges
    )


def _is_behind(topic: Topic, state: State) -> bool:
    """Its phase is over."""
    reached = state.exchanges[-1].asked.turn.phase if state.exchanges else Phase.BASICS
    return is_before(topic.phase, reached)


def _unknown(state: State, purpose: Purpose) -> set[Topic]:
    known = state.config
    unknown = {topic for topic in Topic if topic not in asked_topics(state) and not _is_known(topic, known)}
    if state.basis.soul is not None:
        unknown -= _OF_A_SOUL
    if known.description or known.purpose:
        unknown.discard(Topic.PURPOSE)
    if not isinstance(purpose, Custom):
        unknown.discard(Topic.CATEGORY)
    if state.basis.fields.purpose:
        unknown.discard(Topic.AUDIENCE)
    if not state.facts.skills:
        unknown.discard(Topic.SKILLS)
    return unknown


def _is_known(topic: Topic, known: Fields) -> bool:
    return (
        topic is not Topic.AUDIENCE
        and topic is not Topic.PURPOSE
        and getattr(known, field_of(topic)) is not None
    )
