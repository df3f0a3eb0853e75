"""The interview about a skill: what it does, when it is used, how it works, and its capabilities."""

from forge.interview.domain.build_config import MAX_PASSAGE, Fields
from forge.interview.domain.capability_grants import (
    ALLOW,
    capability_topic,
    granted_capabilities,
    requested_scopes,
)
from forge.interview.domain.config_builder import KIND_NAMES, is_written
from forge.interview.domain.dialogue import Phase
from forge.interview.domain.names import find_subjects, make_unique_skill_name, suggest_skill_names
from forge.interview.domain.parts import Part
from forge.interview.domain.state import Asked, State
from forge.interview.domain.text_analysis import (
    capitalize_first,
    clean_text,
    has_meaning,
    join_words,
    one_line,
    shorten,
    strip_request,
    to_sentence,
    words,
)
from forge.interview.guide.bot_questions import ask_purpose
from forge.interview.guide.questions import (
    MAX_ROUNDS,
    Choice,
    QuestionContext,
    asked_topics,
    build_question,
    current_round,
    move_to_front,
    what_topic,
)
from forge.skills.capabilities import CAPABILITY_INFO, format_scope
from forge.skills.models import Capability, Scope, SkillKind
from forge.skills.suggestions import suggest_capabilities

_COMPUTING = """
    calculate calculates compute computes convert converts count counts csv extract extracts format formats json parse
    parses regex sort sorts sum sums validate validates
"""
_PROGRAMS = "command commands docker ffmpeg git install installed local machine pandoc program programs shell terminal"
_TOPICS = {Part.STEPS: ("steps",), Part.TRIGGER: ("trigger",), Part.KIND: ("kind", "capabilities")}


def next_skill_question(state: State) -> Asked | None:
    if is_written(state):
        return _next_capability(state)
    return _next_for_new_skill(state) if state.basis.skill_name is None else _next_for_existing_skill(state)


def _next_for_new_skill(state: State) -> Asked | None:
    known, asked = state.config, asked_topics(state)
    if not known.description and not known.steps:
        return ask_purpose(QuestionContext(state.mode, Phase.BASICS, "purpose"))
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
        return _ask_capabilities(state, "capabilities")
    return None


def _next_for_existing_skill(state: State) -> Asked | None:
    now = current_round(state)
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
        Choice(
            "steps", "What it does", "Different steps or a different result; describe it in your own words."
        ),
        Choice("trigger", "When it is used", "This tells a bot when to use it."),
        Choice("kind", "How it works and what it may do", f"Now: {_kind_name(state)}."),
    ]
    if number > 1:
        choices = [
            Choice("done", "Nothing more", "It is written and tested, and you see it first."),
            *choices,
        ]
        question = "Anything else?"
    else:
        question = "What should change?"
        if has_meaning(state.description):
            excerpt = shorten(one_line(state.description), 120)
            steps = Fields(steps=shorten(clean_text(state.description), MAX_PASSAGE))
            choices = [
                Choice(
                    "said", f"What you said: “{excerpt}”", "The instructions are changed accordingly.", steps
                ),
                *choices,
            ]
        choices.append(Choice("done", "Nothing after all", "It stays as it is."))
    context = QuestionContext(state.mode, Phase.BASICS, what_topic(number))
    return build_question(context, question, choices, free="steps")


def _kind_name(state: State) -> str:
    return KIND_NAMES[state.config.kind or SkillKind.PROMPT].lower()


def _ask_name(state: State) -> Asked:
    about = _subject_text(state)
    names = suggest_skill_names(about, state.facts.skill_names)
    excerpt = shorten(one_line(strip_request(about)), 100)
    choices = [
        Choice(
            name,
            name,
            f"From your words: “{excerpt}”." if number == 0 else "A shorter or different name.",
            Fields(name=name),
        )
        for number, name in enumerate(names)
    ]
    if len(choices) == 1:
        other = make_unique_skill_name(f"{names[0][:58]}-skill", state.facts.skill_names)
        choices.append(Choice(other, other, "The same name, marked as a skill.", Fields(name=other)))
    question = "What should the skill be called? Lower case letters, digits and hyphens."
    return build_question(QuestionContext(state.mode, Phase.BASICS, "name"), question, choices, free="name")


def _subject_text(state: State) -> str:
    return state.config.description or state.config.steps or state.description


def _task_text(state: State) -> str:
    """Return the description in a form that fits into a sentence."""
    return shorten(one_line(strip_request(_subject_text(state))).rstrip(" .!"), 300)


def _ask_steps(state: State, topic: str) -> Asked:
    task = _task_text(state)
    excerpt = shorten(task, 100)
    readings = (
        ("plain", "Do it in one go and return the result", f"“{excerpt}” needs nothing else.", ()),
        (
            *("check", "First check that nothing is missing, then do it"),
            "It asks about missing input instead of guessing.",
            ("Say what is missing or unclear, and ask for it before going on.",),
        ),
        (
            *("explain", "Do it, and explain the result"),
            "Others can check it, or do it themselves next time.",
            ("Show behind the result, in a few lines, how it came about.",),
        ),
    )
    choices = [
        Choice(id, label, reason, Fields(steps=_steps(id, task, list(more))))
        for id, label, reason, more in readings
    ]
    question = "What should it do, step by step, and what comes out? Your own words are best."
    return build_question(QuestionContext(state.mode, Phase.BASICS, topic), question, choices, free="steps")


def _steps(id: str, task: str, more: list[str]) -> str:
    do = f"Do what it is for: {to_sentence(task)}"
    first = ["Take in everything that was given, to the end."]
    steps = [*first, *more, do] if id == "check" else [*first, do, *more]
    steps.append("Give the result first, in a form that can be used as it is.")
    return "\n".join(f"{number}. {step}" for number, step in enumerate(steps, start=1))


def _ask_trigger(state: State, topic: str) -> Asked:
    task = _task_text(state)
    about = find_subjects(task)[:2]
    subject = " or ".join(f"“{word}”" for word in about) or "its subject"
    choices = [
        Choice(
            *("asked", "When someone asks for exactly that"),
            f"It stays out of the way until it is needed: “{shorten(task, 100)}”.",
            Fields(trigger="Use it when someone asks for exactly this."),
        ),
        Choice(
            *("subject", f"Whenever the conversation turns to {subject}"),
            "The bot uses it unasked, even when people do not know about it.",
            Fields(trigger=f"Use it whenever the conversation turns to {subject}."),
        ),
        Choice(
            *("named", "Only when someone asks for it by name"),
            "It is never used by accident.",
            Fields(trigger="Use it only when someone asks for it by name."),
        ),
    ]
    return build_question(
        QuestionContext(state.mode, Phase.PERSONALITY, topic),
        "When should a bot use it?",
        choices,
        free="trigger",
    )


_KINDS = {
    SkillKind.PROMPT: "The bot reads and follows them. Best for judgment and language; nothing can break, nothing is executed.",
    SkillKind.SCRIPT: "Plain Python source, run in isolation: the same input gives the same output. Best for "
    "calculating, converting and checking.",
    SkillKind.LOCAL: "Run in the sandbox with the programs installed here. Best when other programs are needed; it has the most "
    "power and needs the most trust.",
}


def _ask_kind(state: State, topic: str) -> Asked:
    found = set(words(f"{_subject_text(state)} {state.config.steps or ''}"))
    computing, programs = found & set(_COMPUTING.split()), found & set(_PROGRAMS.split())
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
    context = QuestionContext(state.mode, Phase.MODEL, topic)
    return build_question(context, "How should it work?", move_to_front(choices, best.value), free="kind")


def _why_kind(state: State, kind: SkillKind, word: str, reason: str) -> str:
    prefix = f"Your description says “{word}”. " if word else ""
    now = " This is the current setting." if state.basis.fields.kind is kind else ""
    return f"{prefix}{reason}{now}"


MAX_SINGLE_CAPABILITIES = 3
_COMMON = (Capability.READ_FILE, Capability.HTTP_GET)


def _ask_capabilities(state: State, topic: str) -> Asked:
    suggested = _suggested(state)
    singles = dict.fromkeys([*suggested, *(() if suggested else _COMMON)])
    none = Choice(
        *("none", "Nothing: it works with its input"),
        "The safest choice: it only turns its input into an output.",
        Fields(capabilities=[]),
    )
    alone = [
        Choice(
            capability.value,
            f"Only {CAPABILITY_INFO[capability].title}",
            f"{suggested.get(capability, 'Often needed.')} {CAPABILITY_INFO[capability].allows}",
            Fields(capabilities=[capability]),
        )
        for capability in list(singles)[:MAX_SINGLE_CAPABILITIES]
    ]
    together = [_all_capabilities_choice(list(suggested))] if len(suggested) > 1 else []
    choices = [*together, *alone, none] if suggested else [none, *alone]
    context = QuestionContext(state.mode, Phase.SKILLS, topic)
    question = "What does it need permission for? You confirm each one before it is created."
    return build_question(context, question, choices, free="capabilities")


def _suggested(state: State) -> dict[Capability, str]:
    known = state.config
    return suggest_capabilities(f"{known.description or ''} {known.steps or ''}")


def _all_capabilities_choice(capabilities: list[Capability]) -> Choice:
    titles = [CAPABILITY_INFO[capability].title for capability in capabilities]
    return Choice(
        *("all", capitalize_first(join_words(titles))),
        "Your description mentions all of these.",
        Fields(capabilities=capabilities),
    )


def _next_capability(state: State) -> Asked | None:
    """Ask about the first capability that is not granted. A refused one is removed from the list, and asked
    about again if it is requested again."""
    granted = granted_capabilities(state)
    for capability in state.config.capabilities or []:
        if capability not in granted:
            return _ask_capability(state, capability, requested_scopes(state)[capability])
    return None


def _ask_capability(state: State, capability: Capability, scope: Scope) -> Asked:
    meaning = CAPABILITY_INFO[capability]
    wanted = state.config.capabilities or []
    why = _suggested(state).get(capability, "The written skill asks for it.")
    choices = [
        Choice(ALLOW, "Allow it", f"{meaning.allows} {why}"),
        Choice(
            *("deny", "Do not allow it"),
            f"{meaning.risk} Without it, that part of the skill does not work.",
            Fields(capabilities=[one for one in wanted if one is not capability]),
        ),
    ]
    context = QuestionContext(state.mode, Phase.SKILLS, capability_topic(capability, scope))
    reach = "" if scope == Scope() else f" ({format_scope(scope)})"
    return build_question(context, f"It asks to {meaning.title}{reach}. Allow this?", choices, free=None)


_QUESTIONS = {
    "steps": _ask_steps,
    "trigger": _ask_trigger,
    "kind": _ask_kind,
    "capabilities": _ask_capabilities,
}
