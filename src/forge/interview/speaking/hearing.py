"""A model's turn, made fit to be shown: what it got a little wrong is put right, what it got quite wrong is left out."""

import re
from dataclasses import dataclass

from forge.interview.categories import MAX_CUSTOM, Custom, Known, Purpose
from forge.interview.completing import preview_of
from forge.interview.config import NOTHING, Fields
from forge.interview.naming import skill_slug
from forge.interview.phases import Mode, Phase, is_before, phase_label
from forge.interview.speaking.patches import FIELD_PHASES, fields_of
from forge.interview.speaking.reply import (
    MAX_OWN_OPTIONS,
    MAX_QUESTION,
    Action,
    ModelOption,
    ModelTurn,
)
from forge.interview.state import Asked, Speaker, State
from forge.interview.turns import (
    FEWEST_OPTIONS,
    MAX_LABEL,
    MAX_REASON,
    AskQuestion,
    Clarify,
    QuestionOption,
    ShowPreview,
)
from forge.interview.understanding import Unclear, understand
from forge.interview.wording import shortened

TAKEN_IDS = ("skip", "same", "setup")
"""Of the options that Forge adds."""
_OTHER = re.compile(
    r"(an?)?other( option| one)?|something (else|different|of my own)|none of (these|the above|them)|custom"
    r"|(i will|i'll|let me) (type|write|describe|say|specify)( it| my own| something)?( myself)?|(write|type) my own"
    r"|(please )?specify|free text|etwas anderes|anderes|andere|autre( chose)?|otro|otra cosa|altro"
)
_ASIDE = re.compile(r"(\W\s|\s\W|[(\[:]).*$", re.DOTALL)
"""What follows the first words behind a dash, a colon or a bracket."""
_REASONS = {
    "name": "A name that fits what you described.",
    "tone": "It sets how every answer sounds.",
    "traits": "It shows in how it goes about things.",
    "purpose": "It decides what the rest is built around.",
    "boundaries": "It keeps it from what you would not want.",
    "model": "It decides how well, how fast and at what price it answers.",
    "temperature": "It decides how freely it answers.",
    "max_tokens": "It decides how long its answers may be.",
    "skills": "It decides what it can do beyond talking.",
    "kind": "It decides how the skill does its work.",
    "trigger": "It tells a bot when to use it.",
    "steps": "It is what the skill will do.",
    "capabilities": "It is what the skill would have to be allowed.",
}
_ANY_REASON = "It fits what you have said so far."


@dataclass(frozen=True)
class Heard:
    asked: Asked | None
    """None when the model has nothing more to ask."""
    patch: Fields
    purpose: Purpose | None
    keeps: list[int]
    """Numbers of answers set aside that still hold."""
    is_ready: bool


def heard(state: State, turn: ModelTurn) -> Heard:
    patch = fields_of(state, turn.patch)
    asked = _asked(_knowing(state, patch), turn)
    return Heard(
        asked=asked,
        patch=patch,
        purpose=_purpose(state, turn.purpose_category),
        keeps=sorted({one.number for one in state.set_aside} & set(turn.keeps)),
        is_ready=asked is None,
    )


def _knowing(state: State, patch: Fields) -> State:
    """The state with what the model has just understood."""
    if not state.exchanges:
        return state.but(opening=state.opening.merged(patch))
    last = state.exchanges[-1]
    last = last.model_copy(update={"patch": last.patch.merged(patch)})
    return state.but(exchanges=[*state.exchanges[:-1], last])


def _purpose(state: State, said: str | None) -> Purpose | None:
    if said is None:
        return None
    name = re.sub(r"[\s-]+", "_", said.casefold())
    found = Known(name) if name in set(Known) else Custom(custom=said[:MAX_CUSTOM])
    return None if found == state.purpose else found


def _asked(state: State, turn: ModelTurn) -> Asked | None:
    field = turn.field if turn.field in FIELD_PHASES[state.mode] else None
    phase = _phase(state, turn, field)
    if turn.action is Action.READY or phase is Phase.REVIEW:
        return None
    blank = Asked(
        turn=Clarify(phase=phase, message=shortened(turn.said, MAX_QUESTION)),
        topic=f"model:{len(state.exchanges)}",
        speaker=Speaker.MODEL,
        free=field,
    )
    match turn.action:
        case Action.PREVIEW:
            return _preview(state, blank)
        case Action.CLARIFY:
            return blank
        case Action.ASK:
            return _question(state, turn, blank)


def _phase(state: State, turn: ModelTurn, field: str | None) -> Phase:
    """As the model says, but not back behind what was asked before: only a person goes back."""
    by_field = FIELD_PHASES[state.mode].get(field) if field else None
    before = state.exchanges[-1].asked.turn.phase if state.exchanges else Phase.BASICS
    phase = turn.phase or by_field or before
    if state.mode is Mode.RECONFIGURE or before is Phase.REVIEW:
        return phase
    return before if is_before(phase, before) else phase


def _preview(state: State, blank: Asked) -> Asked | None:
    """Once is enough: shown again at once, it would only be confirmed again."""
    last = state.exchanges[-1] if state.exchanges else None
    if last is not None and isinstance(last.asked.turn, ShowPreview):
        if last.label != "Yes":
            again = Clarify(phase=blank.turn.phase, message="What should be different?")
            return blank.model_copy(update={"turn": again})
        return None
    shown = ShowPreview(phase=blank.turn.phase, preview=preview_of(state))
    return blank.model_copy(update={"turn": shown, "free": None})


def _question(state: State, turn: ModelTurn, blank: Asked) -> Asked:
    offered = _distinct([option for option in turn.options if not _is_other(option.label)])
    if len(offered) < FEWEST_OPTIONS:
        return blank
    shown = offered[:MAX_OWN_OPTIONS]
    question = AskQuestion(
        phase=blank.turn.phase,
        question=shortened(turn.said, MAX_QUESTION),
        options=_options(state, shown, blank.free),
        allow_free_text=turn.allow_free_text or len(offered) < len(turn.options),
        phase_label=phase_label(state.mode, blank.turn.phase),
    )
    asked = blank.model_copy(update={"turn": question})
    return asked.model_copy(update={"patches": [_patch(state, asked, option) for option in shown]})


def _is_other(label: str) -> bool:
    words = _ASIDE.sub("", label.casefold()).strip(" .…!?\"'“”")
    return _OTHER.fullmatch(words) is not None


def _distinct(options: list[ModelOption]) -> list[ModelOption]:
    return list({option.label.casefold(): option for option in reversed(options)}.values())[::-1]


def _options(state: State, offered: list[ModelOption], field: str | None) -> list[QuestionOption]:
    options: list[QuestionOption] = []
    taken: set[str] = set(TAKEN_IDS)
    for number, option in enumerate(offered, 1):
        wanted = skill_slug(option.label) or f"option-{number}"
        id_ = wanted if wanted not in taken else f"{wanted[:60]}-{number}"
        taken.add(id_)
        label = shortened(option.label, MAX_LABEL)
        reason = shortened(option.reason or _reason(state, option, field), MAX_REASON)
        options.append(QuestionOption(id=id_, label=label, reason=reason))
    return options


def _reason(state: State, option: ModelOption, field: str | None) -> str:
    """When the model gave none: what Forge itself knows about it."""
    about = option.value or option.label
    skills = {skill.name: skill.reason for skill in state.facts.skills}
    models = {model.ref: model.reason for model in state.facts.models}
    return skills.get(about) or models.get(about) or _REASONS.get(field or "", _ANY_REASON)


def _patch(state: State, asked: Asked, option: ModelOption) -> Fields:
    """What choosing it says. Where it cannot be put down, the model learns it from the answer itself."""
    if asked.free is None:
        return NOTHING
    for words in (option.value, option.label):
        if words is not None:
            try:
                return understand(state, asked, words)
            except Unclear:
                continue
    return NOTHING
