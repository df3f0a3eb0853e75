"""Scripts of a model that leads interviews, and states of interviews to try things on.

    script = interview_script([ask("What shall it be called?", "Quill", "Inky", field="name"), ready()])

A turn is found by how many were answered before it, which the prompt says: a repair, a retry and a step back are played
as they should be.
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
"""Of the last message of the prompt: which turn is next."""

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
    **given: Any,
) -> dict[str, Any]:
    """A question of the model. An option is its label, or `option(...)`."""
    shown = [option(one) if isinstance(one, str) else one for one in options]
    return _turn("ask_question", question=question, options=shown, field=field, phase=phase, **given)


def option(label: str, value: str | None = None, reason: str | None = None) -> dict[str, Any]:
    return {"label": label, "reason": reason or f"Because you spoke of {label.lower()}.", "value": value}


def clarify(message: str, *, field: str | None = None, **given: Any) -> dict[str, Any]:
    return _turn("clarify", message=message, field=field, **given)


def show_preview(**given: Any) -> dict[str, Any]:
    return _turn("show_preview", **given)


def ready(**patch: Any) -> dict[str, Any]:
    return _turn("ready", phase="review", patch=patch)


def _turn(action: str, **given: Any) -> dict[str, Any]:
    return {"action": action, **{name: value for name, value in given.items() if value is not None}}


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
"""Two questions of an interview about them."""


def interview_script(
    turns: list[dict[str, Any]],
    *,
    soul: str | dict[str, Any] = SOUL,
    skill: dict[str, Any] | None = None,
    kind: ProviderKind = ProviderKind.ANTHROPIC,
    faults: dict[int, Any] | None = None,
    **given: Any,
) -> dict[str, Any]:
    """What `open_models` serves: the turns of an interview, the soul and the skill that are written at its end.

    `faults` go wrong at the turn of that number, as in any script: `{1: {"kind": "529", "times": 2}}`.
    """
    played = [_played(turn, kind) for turn in turns or [ready()]]
    for number, fault in (faults or {}).items():
        played[number]["fault"] = fault
    text = soul if isinstance(soul, dict) else {"text": soul}
    scenes: dict[str, Any] = {
        "soul": {"match": {"system": "^You write the soul of a bot"}, "turns": [text]},
        "interview": {"match": {"system": "^You are Forge"}, "turns": played, "position": POSITION},
    }
    if skill is not None:
        scenes["skill"] = {"match": {"system": "^You write a skill"}, "turns": [_played(skill, kind)]}
    return {"scenes": scenes, **given}


def _played(turn: dict[str, Any], kind: ProviderKind) -> dict[str, Any]:
    """In the form the dialect wants an answer in. What is a turn of a script already stays as it is."""
    if {"text", "json", "tools", "fault", "stop"} & set(turn):
        return dict(turn)
    return {"tools": [{"answer": turn}]} if kind is ProviderKind.ANTHROPIC else {"json": turn}


def a_state(
    description: str = STORIES,
    *,
    mode: Mode = Mode.BOT,
    speaker: InterviewSpeaker = InterviewSpeaker.MODEL,
    purpose: Purpose | None = None,
    **given: Any,
) -> State:
    return State(
        session_id=SESSION,
        mode=mode,
        description=description,
        found_purpose=purpose or classify(description),
        speaker=speaker,
        **{"facts": FACTS, **given},
    )


def an_exchange(
    number: int,
    question: str,
    *labels: str,
    answer: str | int = 0,
    phase: Phase = Phase.BASICS,
    patch: Fields = NOTHING,
) -> Exchange:
    """A question with these options, answered by one of them or in words."""
    options = [QuestionOption(id=f"o{n}", label=label, reason="Why not.") for n, label in enumerate(labels)]
    given: Answer = Said(text=answer) if isinstance(answer, str) else Chosen(index=answer)
    return Exchange(
        number=number,
        asked=Asked(
            turn=AskQuestion(phase=phase, question=question, options=options),
            topic=f"model:{number}",
            speaker=InterviewSpeaker.MODEL,
        ),
        answer=given,
        label=answer if isinstance(answer, str) else labels[answer],
        patch=patch,
        answered_at=AT,
    )
