"""The interview about a skill: what it does, when it is used, how it works, and what it may do."""

from forge.interview.completing import KIND_NAMES
from forge.interview.config import MAX_PASSAGE, Fields
from forge.interview.guide.basics import ask_purpose
from forge.interview.guide.permissions import ask_capabilities, next_capability
from forge.interview.guide.questions import Choice, Place, ask, first_of
from forge.interview.guide.rounds import MAX_ROUNDS, last_round, what_topic
from forge.interview.guide.topics import asked_topics
from forge.interview.naming import skill_names_for, subjects_of
from forge.interview.parts import Part
from forge.interview.phases import Phase
from forge.interview.state import Asked, State
from forge.interview.wording import (
    cleaned,
    one_line,
    says_something,
    sentence,
    shortened,
    wish,
    words,
)
from forge.interview.writing import is_written
from forge.skills.models import SkillKind

_COMPUTING = """
    calculate calculates compute computes convert converts count counts csv extract extracts format formats json parse
    parses regex sort sorts sum sums validate validates
"""
_PROGRAMS = "command commands docker ffmpeg git install installed local machine pandoc program programs shell terminal"
_TOPICS = {Part.STEPS: ("steps",), Part.TRIGGER: ("trigger",), Part.KIND: ("kind", "capabilities")}


def next_of_skill(state: State) -> Asked | None:
    if is_written(state):
        return next_capability(state)
    return next_of_new(state) if state.basis.skill_name is None else next_of_existing(state)


def next_of_new(state: State) -> Asked | None:
    known, asked = state.config, asked_topics(state)
    if not known.description and not known.steps:
        return ask_purpose(Place(state.mode, Phase.BASICS, "purpose"))
    if known.name is None and "name" not in asked:
        return _ask_name(state)
    if known.steps is None and "steps" not in asked:
        return _ask_steps(state, "steps")
    if known.trigger is None and "trigger" not in asked:
        return _ask_trigger(state, "trigger")
    if known.kind is None and "kind" not in asked:
        return _ask_kind(state, "kind")
    if (
        known.kind not in (None, SkillKind.PROMPT)
        and known.capabilities is None
        and "capabilities" not in asked
    ):
        return ask_capabilities(state, "capabilities")
    return None


def next_of_existing(state: State) -> Asked | None:
    now = last_round(state)
    if now is None:
        return _ask_what(state, 1)
    if now.part is Part.DONE:
        return None
    for topic in _TOPICS.get(now.part, ()) if now.part else ():
        name = now.topic(topic)
        is_idle = topic == "capabilities" and state.config.kind is SkillKind.PROMPT
        if name not in now.asked and not is_idle:
            return _QUESTIONS[topic](state, name)
    return _ask_what(state, now.number + 1) if now.number < MAX_ROUNDS else None


def _ask_what(state: State, number: int) -> Asked:
    choices = [
        Choice("steps", "What it does", "Other steps, another result; say it in your own words."),
        Choice("trigger", "When it is used", "A bot takes it up by what is said about this."),
        Choice("kind", "How it works and what it may do", f"Now: {_kind_name(state)}."),
    ]
    if number > 1:
        choices = [Choice("done", "Nothing more", "It is written and tried, and you see it first."), *choices]
        question = "Anything else?"
    else:
        question = "What should change?"
        if says_something(state.description):
            said = shortened(one_line(state.description), 120)
            steps = Fields(steps=shortened(cleaned(state.description), MAX_PASSAGE))
            choices = [
                Choice("said", f"What you said: “{said}”", "The instructions are changed that way.", steps),
                *choices,
            ]
        choices.append(Choice("done", "Nothing after all", "It stays as it is."))
    place = Place(state.mode, Phase.BASICS, what_topic(number))
    return ask(place, question, choices, free="steps")


def _kind_name(state: State) -> str:
    return KIND_NAMES[state.config.kind or SkillKind.PROMPT].lower()


def _ask_name(state: State) -> Asked:
    about = _about(state)
    names = skill_names_for(about, state.facts.skill_names)
    said = shortened(one_line(wish(about)), 100)
    choices = [
        Choice(
            name,
            name,
            f"From your words: “{said}”." if number == 0 else "Shorter, or from another side.",
            Fields(name=name),
        )
        for number, name in enumerate(names)
    ]
    if len(choices) == 1:
        other = f"{names[0][:58]}-skill"
        choices.append(Choice(other, other, "The same, and it says what it is.", Fields(name=other)))
    question = "What should the skill be called? Lower case letters, digits and hyphens."
    return ask(Place(state.mode, Phase.BASICS, "name"), question, choices, free="name")


def _about(state: State) -> str:
    return state.config.description or state.config.steps or state.description


def _task(state: State) -> str:
    """The description as the middle of a sentence."""
    return shortened(one_line(wish(_about(state))).rstrip(" .!"), 300)


def _ask_steps(state: State, topic: str) -> Asked:
    task = _task(state)
    said = shortened(task, 100)
    readings = (
        ("plain", "Do it in one go and give the result", f"“{said}” needs no detour.", ()),
        (
            *("check", "Check first whether everything is there, then do it"),
            "It asks when something is missing, instead of guessing.",
            ("Say what is missing or unclear, and ask for it before going on.",),
        ),
        (
            *("explain", "Do it, and show how the result came about"),
            "Others can check it, or do it themselves next time.",
            ("Show behind the result, in a few lines, how it came about.",),
        ),
    )
    choices = [
        Choice(id, label, reason, Fields(steps=_steps(id, task, list(more))))
        for id, label, reason, more in readings
    ]
    question = "What should it do, step by step, and what comes out? Your own words are best."
    return ask(Place(state.mode, Phase.BASICS, topic), question, choices, free="steps")


def _steps(id: str, task: str, more: list[str]) -> str:
    do = f"Do what it is for: {sentence(task)}"
    first = ["Take in everything that was given, to the end."]
    steps = [*first, *more, do] if id == "check" else [*first, do, *more]
    steps.append("Give the result first, in a form that can be used as it is.")
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))


def _ask_trigger(state: State, topic: str) -> Asked:
    task = _task(state)
    about = subjects_of(task)[:2]
    subject = " or ".join(f"“{word}”" for word in about) or "its subject"
    choices = [
        Choice(
            *("asked", "When somebody asks for just that"),
            f"It stays out of the way until it is wanted: “{shortened(task, 100)}”.",
            Fields(trigger="Use it when somebody asks for exactly this."),
        ),
        Choice(
            *("subject", f"Whenever the talk turns to {subject}"),
            "The bot takes it up by itself, even when nobody knows it is there.",
            Fields(trigger=f"Use it whenever the conversation turns to {subject}."),
        ),
        Choice(
            *("named", "Only when somebody asks for it by name"),
            "Nothing happens by accident.",
            Fields(trigger="Use it only when somebody asks for it by its name."),
        ),
    ]
    return ask(
        Place(state.mode, Phase.PERSONALITY, topic), "When should a bot use it?", choices, free="trigger"
    )


_KINDS = {
    SkillKind.PROMPT: "The bot reads them and follows them. Best for judgement and language; nothing can break, nothing is executed.",
    SkillKind.SCRIPT: "Plain Python source, run where it can touch nothing: the same input gives the same output. Best for "
    "calculating, converting and checking.",
    SkillKind.LOCAL: "Run in the sandbox, able to use what is installed here. Best when other programs are needed; the most "
    "power, and the most to trust.",
}


def _ask_kind(state: State, topic: str) -> Asked:
    said = set(words(f"{_about(state)} {state.config.steps or ''}"))
    computing, programs = said & set(_COMPUTING.split()), said & set(_PROGRAMS.split())
    best, why = SkillKind.PROMPT, ""
    if programs:
        best, why = SkillKind.LOCAL, min(programs)
    elif computing:
        best, why = SkillKind.SCRIPT, min(computing)
    choices = [
        Choice(
            kind.value,
            KIND_NAMES[kind],
            _why_kind(state, kind, why if kind is best else "", reason),
            Fields(kind=kind),
        )
        for kind, reason in _KINDS.items()
    ]
    place = Place(state.mode, Phase.MODEL, topic)
    return ask(place, "How should it work?", first_of(choices, best.value), free="kind")


def _why_kind(state: State, kind: SkillKind, word: str, reason: str) -> str:
    said = f"Your description says “{word}”. " if word else ""
    now = " It is so now." if state.basis.fields.kind is kind else ""
    return f"{said}{reason}{now}"


_QUESTIONS = {
    "steps": _ask_steps,
    "trigger": _ask_trigger,
    "kind": _ask_kind,
    "capabilities": ask_capabilities,
}
