"""Model scripts for interviews, and interview states for tests.

    script = interview_script([ask("What shall it be called?", "Quill", "Inky", field="name"), ready()])

A turn is selected by the number of answered turns, which is in the prompt, so repairs, retries and steps back get the
right turn.
"""

from datetime import UTC, datetime
from typing import Any

from forge.interview.domain.build_config import NOTHING, Fields
from forge.interview.domain.categories import Purpose, classify
from forge.interview.domain.dialogue import Answer, AskQuestion, Chosen, Mode, Phase, QuestionOption, Said
from forge.interview.domain.state import Asked, Exchange, Facts, InterviewSpeaker, ModelOffer, State
from forge.llm.models import ProviderKind
from forge.skills.models import SkillKind, SkillOffer, SkillSource

SESSION = "01890000-0000-7000-8000-000000000001"
AT = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
POSITION = r"Turns so far: (\d+)\."
"""Matches the number of answered turns in the last message of the prompt."""

SOUL = """\
# Personality

You write in short scenes and read every line aloud before you show it.

# Purpose

You invent bedtime stories for children of five to eight, with the people and places they name.

# Boundaries

- Nothing frightening without a way home in the same story.
- You do not claim that something is true which you made up.
"""

FACTS = Facts(
    skills=[
        SkillOffer(
            name="text-generation",
            description="Draft prose in a given voice.",
            kind=SkillKind.PROMPT,
            source=SkillSource.STARTER,
            reason="Most bots for creative work have it.",
        ),
        SkillOffer(
            name="editing",
            description="Improve a draft without changing what it says.",
            kind=SkillKind.PROMPT,
            source=SkillSource.STARTER,
            reason="Your description mentions “stories”.",
        ),
    ],
    models=[
        ModelOffer(ref="default", label="Whatever is chosen for bots", reason="Usually right.", has_key=True),
        ModelOffer(ref="demo:scripted", label="Scripted", reason="Costs nothing.", has_key=True),
    ],
)


def ask(
    question: str,
    *options: str | dict[str, Any],
    field: str | None = None,
    phase: str | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """Return a question turn; an option is a label or the result of `option(...)`."""
    labeled = [option(choice) if isinstance(choice, str) else choice for choice in options]
    return _turn("ask_question", question=question, options=labeled, field=field, phase=phase, **fields)


def option(label: str, value: str | None = None, reason: str | None = None) -> dict[str, Any]:
    return {"label": label, "reason": reason or f"Because you spoke of {label.lower()}.", "value": value}


def clarify(message: str, *, field: str | None = None, **fields: Any) -> dict[str, Any]:
    return _turn("clarify", message=message, field=field, **fields)


def show_preview(**fields: Any) -> dict[str, Any]:
    return _turn("show_preview", **fields)


def ready(**patch: Any) -> dict[str, Any]:
    return _turn("ready", phase="review", patch=patch)


def _turn(action: str, **fields: Any) -> dict[str, Any]:
    given = {name: value for name, value in fields.items() if value is not None}
    beside = {name: given.pop(name) for name in ("patch", "purpose_category", "keeps") if name in given}
    return {**beside, "turn": {"action": action, **given}}


STORIES = "A bot that invents bedtime stories for my children"
NAME = ask(
    "What shall it be called?", option("Quill", "Quill"), option("Owl", "Owl"), field="name", phase="basics"
)
TONE = ask(
    "How should it tell?",
    option("Gently", "gentle"),
    option("Wildly", "wild"),
    field="tone",
    phase="personality",
)


def interview_script(
    turns: list[dict[str, Any]],
    *,
    soul: str | dict[str, Any] = SOUL,
    skill: dict[str, Any] | None = None,
    kind: ProviderKind = ProviderKind.ANTHROPIC,
    faults: dict[int, Any] | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """Return a script for `open_models`: the interview's turns, then the soul and the skill written at its end.

    `faults` maps turn numbers to faults as in any script: `{1: {"kind": "529", "times": 2}}`.
    """
    encoded = [_encode_turn(turn, kind) for turn in turns or [ready()]]
    for number, fault in (faults or {}).items():
        encoded[number]["fault"] = fault
    text = soul if isinstance(soul, dict) else {"text": soul}
    scenes: dict[str, Any] = {
        "soul": {"match": {"system": "^You write the soul of a bot"}, "turns": [text]},
        "interview": {"match": {"system": "^You are Forge"}, "turns": encoded, "position": POSITION},
    }
    if skill is not None:
        scenes["skill"] = {"match": {"system": "^You write a skill"}, "turns": [_encode_turn(skill, kind)]}
    return {"scenes": scenes, **fields}


def _encode_turn(turn: dict[str, Any], kind: ProviderKind) -> dict[str, Any]:
    """Encode a turn as the provider kind expects it; leave a complete script turn unchanged."""
    if {"text", "json", "tools", "fault", "stop"} & set(turn):
        return dict(turn)
    return {"tools": [{"answer": turn}]} if kind is ProviderKind.ANTHROPIC else {"json": turn}


def make_state(
    description: str = STORIES,
    *,
    mode: Mode = Mode.BOT,
    speaker: InterviewSpeaker = InterviewSpeaker.MODEL,
    purpose: Purpose | None = None,
    **fields: Any,
) -> State:
    return State(
        session_id=SESSION,
        mode=mode,
        description=description,
        found_purpose=purpose or classify(description),
        speaker=speaker,
        **{"facts": FACTS, **fields},
    )


def make_exchange(
    number: int,
    question: str,
    *labels: str,
    answer: str | int = 0,
    phase: Phase = Phase.BASICS,
    patch: Fields = NOTHING,
) -> Exchange:
    """Return an exchange whose question was answered with an option's index or with free text."""
    options = [QuestionOption(id=f"o{n}", label=label, reason="Why not.") for n, label in enumerate(labels)]
    fields: Answer = Said(text=answer) if isinstance(answer, str) else Chosen(index=answer)
    return Exchange(
        number=number,
        asked=Asked(
            turn=AskQuestion(phase=phase, question=question, options=options),
            topic=f"model:{number}",
            speaker=InterviewSpeaker.MODEL,
        ),
        answer=fields,
        label=answer if isinstance(answer, str) else labels[answer],
        patch=patch,
        answered_at=AT,
    )
