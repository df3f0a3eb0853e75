"""The interview about a bot that exists: how it is now, what should change, and what else."""

from forge.interview.completing import preview_of
from forge.interview.config import DEFAULT_MODEL, Fields
from forge.interview.guide.abilities import ask_other_skills
from forge.interview.guide.basics import ask_name, ask_other_purpose
from forge.interview.guide.personality import ask_boundaries, ask_tone, ask_traits
from forge.interview.guide.questions import Choice, Place, ask, first_of
from forge.interview.guide.rounds import MAX_ROUNDS, last_round, what_topic
from forge.interview.guide.running import ask_creativity, ask_model
from forge.interview.guide.topics import Topic, field_of
from forge.interview.parts import Part, part_in
from forge.interview.phases import Phase
from forge.interview.state import Asked, Speaker, State
from forge.interview.turns import MAX_LABEL, AskQuestion, QuestionOption, ShowPreview
from forge.interview.wording import listed, one_line, shortened

MAX_CHOICES = 5
CURRENT = "current"

_TOPICS = {
    Part.IDENTITY: (Topic.NAME, Topic.PURPOSE),
    Part.PERSONALITY: (Topic.TONE, Topic.TRAITS),
    Part.BOUNDARIES: (Topic.BOUNDARIES,),
    Part.MODEL: (Topic.MODEL, Topic.CREATIVITY),
    Part.SKILLS: (Topic.SKILLS,),
}
_QUESTIONS = {
    Topic.NAME: ask_name,
    Topic.PURPOSE: ask_other_purpose,
    Topic.TONE: ask_tone,
    Topic.TRAITS: ask_traits,
    Topic.BOUNDARIES: ask_boundaries,
    Topic.MODEL: ask_model,
    Topic.CREATIVITY: ask_creativity,
    Topic.SKILLS: ask_other_skills,
}


def next_of_change(state: State) -> Asked | None:
    if all(one.asked.topic != CURRENT for one in state.exchanges):
        turn = ShowPreview(phase=Phase.BASICS, preview=preview_of(state))
        return Asked(turn=turn, topic=CURRENT, speaker=Speaker.GUIDE)
    now = last_round(state)
    if now is None:
        return _ask_what(state, 1)
    if now.part is Part.DONE:
        return None
    for topic in _TOPICS.get(now.part, ()) if now.part else ():
        name = now.topic(topic.value)
        if name in now.asked:
            continue
        if asked := _QUESTIONS[topic](Place(state.mode, topic.phase, name), state):
            return _with_current(asked, topic, state)
    return _ask_what(state, now.number + 1) if now.number < MAX_ROUNDS else None


def _ask_what(state: State, number: int) -> Asked:
    known = state.config
    skills = [skill.name for skill in known.skills or []]
    traits = f" and {listed(known.traits)}" if known.traits else ""
    choices = [
        Choice(
            "personality",
            "How it talks and what it is like",
            f"Now: {known.tone or 'no tone of its own'}{traits}.",
        ),
        Choice(
            "identity", "Its name or what it is for", f"Now: {_now(known.name)}; {_now(known.description)}."
        ),
        Choice("skills", "Its skills", f"Now: {listed(skills)}." if skills else "It has none yet."),
        Choice(
            "model", "The model it runs on", f"Now: {preview_of(state).model or 'the model chosen for bots'}."
        ),
        Choice("boundaries", "Its rules", f"Now: {_now(known.boundaries)}."),
    ]
    if number == 1:
        wanted = part_in(state.mode, state.description)
        last = Choice("done", "Nothing after all", "It stays as it is.")
        question = "What should change?"
    else:
        wanted, question = None, "Anything else?"
        last = Choice("done", "No, that is all", "You see every change before it is made.")
        choices = [last, *choices]
        last = None
    ordered = first_of(choices, wanted.value if wanted else None)
    place = Place(state.mode, Phase.BASICS if number == 1 else Phase.REVIEW, what_topic(number))
    return ask(place, question, [*ordered, last] if last else ordered, free="what")


def _now(value: str | None) -> str:
    return f"“{shortened(one_line(value), 150)}”" if value and value.strip() else "nothing said"


def _with_current(asked: Asked, topic: Topic, state: State) -> Asked:
    """With how it is now in front, and without the option that would change nothing."""
    if not isinstance(asked.turn, AskQuestion):
        return asked
    known = state.config
    known = known.merged(Fields(model=known.model or DEFAULT_MODEL))
    others = [
        (option, patch)
        for option, patch in zip(asked.turn.options, asked.patches, strict=True)
        if option.id != "keep" and known.merged(patch) != known
    ][: MAX_CHOICES - 1]
    keep = QuestionOption(
        id="keep",
        label=shortened(f"Keep it: {_current(topic, known)}", MAX_LABEL),
        reason="It is so now.",
    )
    return asked.model_copy(
        update={
            "turn": asked.turn.model_copy(update={"options": [keep, *(option for option, _ in others)]}),
            "patches": [Fields(), *(patch for _, patch in others)],
        }
    )


def _current(topic: Topic, known: Fields) -> str:
    if topic is Topic.SKILLS:
        return listed([skill.name for skill in known.skills or []]) if known.skills else "no skills"
    if topic is Topic.PURPOSE:
        return shortened(one_line(known.purpose or known.description or "nothing said"), 150)
    value: object = getattr(known, field_of(topic))
    if topic is Topic.MODEL and value in (None, DEFAULT_MODEL):
        return "whatever is chosen for bots"
    if not value and value != 0:
        return "nothing said"
    return listed(known.traits or []) if topic is Topic.TRAITS else shortened(one_line(str(value)), 150)
