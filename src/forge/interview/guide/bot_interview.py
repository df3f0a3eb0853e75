"""The interviews about bots: a new one, a batch, and changes to an existing one."""

from forge.interview.domain.build_config import DEFAULT_MODEL, Fields
from forge.interview.domain.categories import CustomPurpose, KnownPurpose, Purpose, defaults_for
from forge.interview.domain.config_builder import build_preview, to_config
from forge.interview.domain.dialogue import (
    MAX_LABEL,
    AskQuestion,
    Clarify,
    Phase,
    QuestionOption,
    ShowPreview,
    is_before,
)
from forge.interview.domain.parts import Part, find_part
from forge.interview.domain.state import Asked, InterviewSpeaker, State
from forge.interview.domain.text_analysis import join_words, one_line, shorten
from forge.interview.domain.variants import VARIATIONS, variant_from
from forge.interview.guide.bot_questions import (
    ask_audience,
    ask_category,
    ask_creativity,
    ask_length,
    ask_model,
    ask_name,
    ask_other_purpose,
    ask_other_skills,
    ask_purpose,
    ask_skills,
)
from forge.interview.guide.personality_questions import ask_boundaries, ask_tone, ask_traits, known_purpose
from forge.interview.guide.questions import (
    MAX_ROUNDS,
    Choice,
    QuestionContext,
    Topic,
    asked_topics,
    build_question,
    current_round,
    move_to_front,
    topic_field,
    what_topic,
)

_COMMON_TOPICS = (Topic.PURPOSE, Topic.CATEGORY, Topic.NAME, Topic.TONE, Topic.MODEL, Topic.SKILLS)
_EXTRA_TOPICS: dict[KnownPurpose | None, tuple[Topic, ...]] = {
    KnownPurpose.SIMPLE_UTILITY: (),
    KnownPurpose.COMPLEX_ANALYST: (
        Topic.AUDIENCE,
        Topic.TRAITS,
        Topic.BOUNDARIES,
        Topic.CREATIVITY,
        Topic.LENGTH,
    ),
    KnownPurpose.CREATIVE: (Topic.TRAITS, Topic.CREATIVITY),
    KnownPurpose.CODING: (Topic.TRAITS, Topic.BOUNDARIES),
    KnownPurpose.RESEARCH: (Topic.AUDIENCE, Topic.TRAITS, Topic.BOUNDARIES),
    KnownPurpose.CUSTOMER_SERVICE: (Topic.AUDIENCE, Topic.BOUNDARIES),
    None: (Topic.TRAITS,),
}
_BY_IMPORTANCE = (
    *(Topic.PURPOSE, Topic.NAME, Topic.CATEGORY, Topic.TONE, Topic.MODEL, Topic.SKILLS, Topic.BOUNDARIES),
    *(Topic.TRAITS, Topic.AUDIENCE, Topic.CREATIVITY, Topic.LENGTH),
)
"""By importance: the last ones are dropped when the budget is short, the first ones added when questions are
missing."""
_SOUL_TOPICS = frozenset(
    (Topic.PURPOSE, Topic.CATEGORY, Topic.AUDIENCE, Topic.TONE, Topic.TRAITS, Topic.BOUNDARIES)
)


def next_bot_question(state: State) -> Asked | None:
    for topic in _open_topics(state):
        asked = _ask_topic(topic, state)
        if asked is not None:
            return asked
    return None


def _ask_topic(topic: Topic, state: State, name: str | None = None) -> Asked | None:
    """Ask about a topic; None when there is nothing to choose from. `name` distinguishes repeated
    questions."""
    context = QuestionContext(state.mode, topic.phase, name or topic.value)
    if topic is Topic.PURPOSE:
        return ask_purpose(context)
    return _QUESTIONS[topic](context, state)


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
    """Return the topics still to be asked about, within the question budget of the purpose."""
    purpose = state.purpose
    budget = defaults_for(purpose).budget
    answered = _answered(state)
    unknown = _unknown(state, purpose)
    wanted = {
        topic for topic in unknown if topic in (*_COMMON_TOPICS, *_EXTRA_TOPICS[known_purpose(purpose)])
    }
    for topic in _BY_IMPORTANCE:
        if answered + len(wanted) >= budget.minimum:
            break
        if topic in unknown and not _is_phase_over(topic, state):
            wanted.add(topic)
    room = max(0, budget.maximum - answered)
    kept = [topic for topic in _BY_IMPORTANCE if topic in wanted][:room]
    return [topic for topic in Topic if topic in kept]


def _answered(state: State) -> int:
    """Count the answered questions, without those about the variants of a batch."""
    return sum(
        isinstance(one.asked.turn, AskQuestion | Clarify) and not one.asked.topic.startswith("variant:")
        for one in state.exchanges
    )


def _is_phase_over(topic: Topic, state: State) -> bool:
    """Check whether the phase of a topic is over."""
    reached = state.exchanges[-1].asked.turn.phase if state.exchanges else Phase.BASICS
    return is_before(topic.phase, reached)


def _unknown(state: State, purpose: Purpose) -> set[Topic]:
    known = state.config
    unknown = {topic for topic in Topic if topic not in asked_topics(state) and not _is_known(topic, known)}
    if state.basis.soul is not None:
        unknown -= _SOUL_TOPICS
    if known.description or known.purpose:
        unknown.discard(Topic.PURPOSE)
    if not isinstance(purpose, CustomPurpose):
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
        and getattr(known, topic_field(topic)) is not None
    )


MAX_VARIATIONS = 4


def next_batch_question(state: State) -> Asked | None:
    """Ask about the variants after the personality and before the model."""
    asked = next_bot_question(state)
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
    for variation in unused[:MAX_VARIATIONS]:
        variant = variant_from(variation, name, others, state.facts.bot_names)
        reason = f"{variation.reason} It would be called “{variant.name}”."
        patch = Fields(variants=[*others, variant])
        choices.append(Choice(variation.id, variation.label, reason, patch))
    context = QuestionContext(state.mode, Phase.PERSONALITY, f"variant:{number}")
    question = f"What makes number {number} of {state.basis.variants} different?"
    return build_question(context, question, choices, free="variants")


MAX_CHANGE_OPTIONS = 5
CURRENT = "current"

_CHANGE_TOPICS = {
    Part.IDENTITY: (Topic.NAME, Topic.PURPOSE),
    Part.PERSONALITY: (Topic.TONE, Topic.TRAITS),
    Part.BOUNDARIES: (Topic.BOUNDARIES,),
    Part.MODEL: (Topic.MODEL, Topic.CREATIVITY),
    Part.SKILLS: (Topic.SKILLS,),
}
_CHANGE_QUESTIONS = {
    Topic.NAME: ask_name,
    Topic.PURPOSE: ask_other_purpose,
    Topic.TONE: ask_tone,
    Topic.TRAITS: ask_traits,
    Topic.BOUNDARIES: ask_boundaries,
    Topic.MODEL: ask_model,
    Topic.CREATIVITY: ask_creativity,
    Topic.SKILLS: ask_other_skills,
}


def next_change_question(state: State) -> Asked | None:
    if all(one.asked.topic != CURRENT for one in state.exchanges):
        turn = ShowPreview(phase=Phase.BASICS, preview=build_preview(state))
        return Asked(turn=turn, topic=CURRENT, speaker=InterviewSpeaker.GUIDE)
    now = current_round(state)
    if now is None:
        return _ask_what(state, 1)
    if now.part is Part.DONE:
        return None
    for topic in _CHANGE_TOPICS.get(now.part, ()) if now.part else ():
        name = now.topic(topic.value)
        if name in now.asked:
            continue
        if asked := _CHANGE_QUESTIONS[topic](QuestionContext(state.mode, topic.phase, name), state):
            return _offer_current(asked, topic, state)
    return _ask_what(state, now.number + 1) if now.number < MAX_ROUNDS else None


def _ask_what(state: State, number: int) -> Asked:
    known = state.config
    skills = [skill.name for skill in known.skills or []]
    traits = f" and {join_words(known.traits)}" if known.traits else ""
    choices = [
        Choice(
            "personality",
            "How it talks and what it is like",
            f"Now: {known.tone or 'no particular tone'}{traits}.",
        ),
        Choice(
            "identity",
            "Its name or what it is for",
            f"Now: {_quote_current(known.name)}; {_quote_current(known.description)}.",
        ),
        Choice("skills", "Its skills", f"Now: {join_words(skills)}." if skills else "It has none yet."),
        Choice(
            "model",
            "The model it runs on",
            f"Now: {build_preview(state).model or 'the model chosen for bots'}.",
        ),
        Choice("boundaries", "Its rules", f"Now: {_quote_current(known.boundaries)}."),
    ]
    if number == 1:
        wanted = find_part(state.mode, state.description)
        last = Choice("done", "Nothing after all", "It stays as it is.")
        question = "What should change?"
    else:
        wanted, question = None, "Anything else?"
        last = Choice("done", "No, that is all", "You see every change before it is applied.")
        choices = [last, *choices]
        last = None
    ordered = move_to_front(choices, wanted.value if wanted else None)
    context = QuestionContext(state.mode, Phase.BASICS if number == 1 else Phase.REVIEW, what_topic(number))
    return build_question(context, question, [*ordered, last] if last else ordered, free="what")


def _quote_current(value: str | None) -> str:
    return f"“{shorten(one_line(value), 150)}”" if value and value.strip() else "not set"


def _offer_current(asked: Asked, topic: Topic, state: State) -> Asked:
    """Put the current value first and drop options that would change nothing."""
    if not isinstance(asked.turn, AskQuestion):
        return asked
    known = state.config
    known = known.merged(Fields(model=known.model or DEFAULT_MODEL))
    others = [
        (option, patch)
        for option, patch in zip(asked.turn.options, asked.patches, strict=True)
        if option.id != "keep" and known.merged(patch) != known
    ][: MAX_CHANGE_OPTIONS - 1]
    keep = QuestionOption(
        id="keep",
        label=shorten(f"Keep it: {_describe_current(topic, known)}", MAX_LABEL),
        reason="This is the current setting.",
    )
    return asked.model_copy(
        update={
            "turn": asked.turn.model_copy(update={"options": [keep, *(option for option, _ in others)]}),
            "patches": [Fields(), *(patch for _, patch in others)],
        }
    )


def _describe_current(topic: Topic, known: Fields) -> str:
    if topic is Topic.SKILLS:
        return join_words([skill.name for skill in known.skills or []]) if known.skills else "no skills"
    if topic is Topic.PURPOSE:
        return shorten(one_line(known.purpose or known.description or "not set"), 150)
    value: object = getattr(known, topic_field(topic))
    if topic is Topic.MODEL and value in (None, DEFAULT_MODEL):
        return "the model chosen for bots"
    if not value and value != 0:
        return "not set"
    return join_words(known.traits or []) if topic is Topic.TRAITS else shorten(one_line(str(value)), 150)
