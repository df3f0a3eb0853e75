"""Convert a model's reply into a turn that can be shown, repairing or dropping invalid parts."""

import re
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from forge.bots.models import MAX_BOT_DESCRIPTION, MAX_NAME, MAX_TAG, MAX_TONE, MAX_TRAIT
from forge.interview.domain.answer_parser import UnclearAnswer, is_no_answer, is_taken, parse_answer
from forge.interview.domain.build_config import (
    DEFAULT_MODEL,
    MAX_PASSAGE,
    MAX_SKILLS,
    MAX_VARIANTS,
    NOTHING,
    Fields,
    SkillRequest,
    VariantFields,
)
from forge.interview.domain.categories import MAX_CUSTOM_PURPOSE, CustomPurpose, KnownPurpose, Purpose
from forge.interview.domain.config_builder import build_preview
from forge.interview.domain.dialogue import (
    MAX_LABEL,
    MAX_REASON,
    MIN_OPTIONS,
    AskQuestion,
    Chosen,
    Clarify,
    Mode,
    Phase,
    QuestionOption,
    ShowPreview,
    is_before,
    phase_label,
)
from forge.interview.domain.names import make_unique, to_skill_name
from forge.interview.domain.state import Asked, InterviewSpeaker, State
from forge.interview.domain.text_analysis import shorten
from forge.interview.interviewer.model_reply import (
    MAX_MODEL_OPTIONS,
    MAX_QUESTION,
    ModelClarification,
    ModelOption,
    ModelPatch,
    ModelPreview,
    ModelQuestion,
    ModelReady,
    ModelReply,
    ModelTurn,
    ModelVariant,
)
from forge.kernel.grounding import added_details, mentions
from forge.skills.models import Capability

RESERVED_IDS = ("skip", "same", "setup")
"""Ids of the options that Forge adds."""
_OTHER = re.compile(
    r"(an?)?other( option| one)?|something (else|different|of my own)|none of (these|the above|them)|custom"
    r"|(i will|i'll|let me) (type|write|describe|say|specify)( it| my own| something)?( myself)?|(write|type) my own"
    r"|(please )?specify|free text|etwas anderes|anderes|andere|autre( chose)?|otro|otra cosa|altro"
)
_TRAILING_REMARK = re.compile(r"(\W\s|\s\W|[(\[:]).*$", re.DOTALL)
"""The rest of a label after a dash, a colon or a bracket."""
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
class ParsedReply:
    asked: Asked | None
    """None when the model has no more questions."""
    patch: Fields
    purpose: Purpose | None
    keeps: list[int]
    """Numbers of the set-aside answers that still hold."""
    is_ready: bool


def parse_reply(state: State, reply: ModelReply) -> ParsedReply:
    patch = _parse_patch(state, reply.patch)
    asked = _asked(_with_patch(state, patch), reply.turn)
    return ParsedReply(
        asked=asked,
        patch=patch,
        purpose=_purpose(state, reply.purpose_category),
        keeps=sorted({one.number for one in state.set_aside} & set(reply.keeps)),
        is_ready=asked is None,
    )


def _with_patch(state: State, patch: Fields) -> State:
    """Apply the patch of this reply to the state."""
    if not state.exchanges:
        return state.replace(opening=state.opening.merged(patch))
    last = state.exchanges[-1]
    last = last.model_copy(update={"patch": last.patch.merged(patch)})
    return state.replace(exchanges=[*state.exchanges[:-1], last])


def _purpose(state: State, category: str | None) -> Purpose | None:
    if category is None:
        return None
    name = re.sub(r"[\s-]+", "_", category.casefold())
    found = (
        KnownPurpose(name)
        if name in set(KnownPurpose)
        else CustomPurpose(custom=category[:MAX_CUSTOM_PURPOSE])
    )
    return None if found == state.purpose else found


def _asked(state: State, turn: ModelTurn) -> Asked | None:
    field = turn.field if isinstance(turn, ModelQuestion | ModelClarification) else None
    field = field if field in FIELD_PHASES[state.mode] else None
    phase = _phase(state, turn.phase, field)
    if isinstance(turn, ModelReady) or phase is Phase.REVIEW:
        return None
    if isinstance(turn, ModelPreview):
        return _preview(state, phase)
    text = turn.question if isinstance(turn, ModelQuestion) else turn.message
    without_options = _to_ask(state, Clarify(phase=phase, message=shorten(text, MAX_QUESTION)), field)
    return _question(state, turn, without_options) if isinstance(turn, ModelQuestion) else without_options


def _to_ask(state: State, turn: Clarify | ShowPreview, field: str | None = None) -> Asked:
    topic = f"model:{len(state.exchanges)}"
    return Asked(turn=turn, topic=topic, speaker=InterviewSpeaker.MODEL, free=field)


def _phase(state: State, named: Phase | None, field: str | None) -> Phase:
    """Return the phase the model names, but never an earlier one: only a person goes back."""
    by_field = FIELD_PHASES[state.mode].get(field) if field else None
    before = state.exchanges[-1].asked.turn.phase if state.exchanges else Phase.BASICS
    phase = named or by_field or before
    if state.mode is Mode.RECONFIGURE or before is Phase.REVIEW:
        return phase
    return before if is_before(phase, before) else phase


def _preview(state: State, phase: Phase) -> Asked | None:
    """Show a preview, but never twice in a row: it would only be confirmed again."""
    last = state.exchanges[-1] if state.exchanges else None
    if last is not None and isinstance(last.asked.turn, ShowPreview):
        if last.label == "Yes":
            return None
        return _to_ask(state, Clarify(phase=phase, message="What should be different?"))
    return _to_ask(state, ShowPreview(phase=phase, preview=build_preview(state)))


def _question(state: State, turn: ModelQuestion, without_options: Asked) -> Asked:
    own = _unique_labels([option for option in turn.options if not _is_other(option.label)])
    offered = [_agree(state, without_options, option) for option in own]
    if without_options.free == "name":
        offered = [one for one in offered if not _is_in_use(state, one[1].name or one[0].label)]
    if len(offered) < MIN_OPTIONS:
        return without_options
    shown = offered[:MAX_MODEL_OPTIONS]
    phase = without_options.turn.phase
    question = AskQuestion(
        phase=phase,
        question=shorten(turn.question, MAX_QUESTION),
        options=_options(state, [option for option, _ in shown], without_options.free),
        allow_free_text=turn.allow_free_text or len(offered) < len(turn.options),
        phase_label=phase_label(state.mode, phase),
    )
    return without_options.model_copy(update={"turn": question, "patches": [patch for _, patch in shown]})


def _is_in_use(state: State, name: str) -> bool:
    """Check for a name that must not be suggested. A person may still give it to a bot, but not to a skill."""
    if state.mode is Mode.SKILL:
        return is_taken(state, to_skill_name(name) or "")
    others = {bot.casefold() for bot in state.facts.bot_names} - {(state.basis.fields.name or "").casefold()}
    return name.casefold() in others


def _is_other(label: str) -> bool:
    words = _TRAILING_REMARK.sub("", label.casefold()).strip(" .…!?\"'“”")
    return _OTHER.fullmatch(words) is not None


def _unique_labels(options: list[ModelOption]) -> list[ModelOption]:
    return list({option.label.casefold(): option for option in reversed(options)}.values())[::-1]


def _options(state: State, offered: list[ModelOption], field: str | None) -> list[QuestionOption]:
    options: list[QuestionOption] = []
    taken: set[str] = set(RESERVED_IDS)
    for number, option in enumerate(offered, 1):
        wanted = to_skill_name(option.label) or f"option-{number}"
        id_ = wanted if wanted not in taken else f"{wanted[:60]}-{number}"
        taken.add(id_)
        label = shorten(option.label, MAX_LABEL)
        reason = shorten(option.reason or _reason(state, option, field), MAX_REASON)
        options.append(QuestionOption(id=id_, label=label, reason=reason))
    return options


def _reason(state: State, option: ModelOption, field: str | None) -> str:
    """Return a reason for an option without one."""
    about = option.value or option.label
    skills = {skill.name: skill.reason for skill in state.facts.skills}
    models = {model.ref: model.reason for model in state.facts.models}
    return skills.get(about) or models.get(about) or _REASONS.get(field or "", _ANY_REASON)


_CLOSED_FIELDS = frozenset(("model", "temperature", "max_tokens", "skills", "kind", "capabilities"))
"""Fields with a fixed set of values, which a label may paraphrase."""
_EXCERPTS = frozenset(("name", "traits", "tags"))
"""Fields whose value may be a part of the label: `Call it Quill`."""


def _agree(state: State, asked: Asked, option: ModelOption) -> tuple[ModelOption, Fields]:
    """Return the option and its patch, which agree: what is stored is what the label says.

    A value that says something else is ignored. A value that the label does not determine is added to the label.
    """
    field, label, value = asked.free, option.label, option.value or ""
    said, stored = _parse_option(state, asked, label), _parse_option(state, asked, value)
    if field is None or stored is None:
        return option, said or NOTHING
    is_part = mentions(label, value) and (field in _CLOSED_FIELDS | _EXCERPTS or mentions(value, label))
    if said == stored or is_part:
        return option, stored
    if said is not None and _is_definite(state, field, said):
        return option, said
    return option.model_copy(update={"label": f"{label} ({value})"}), stored


def _parse_option(state: State, asked: Asked, words: str) -> Fields | None:
    """Return None if it cannot be parsed: the model then interprets the answer."""
    try:
        return parse_answer(state, asked, words) if asked.free else None
    except UnclearAnswer:
        return None


def _is_definite(state: State, field: str, said: Fields) -> bool:
    """Check that a label was not mistaken for the name of a new skill, as any words can be."""
    known = {offer.name for offer in state.facts.skills}
    return field != "skills" or {skill.name for skill in said.skills or []} <= known


_BOT_PHASES = {
    "name": Phase.BASICS,
    "description": Phase.BASICS,
    "purpose": Phase.BASICS,
    "tags": Phase.BASICS,
    "tone": Phase.PERSONALITY,
    "traits": Phase.PERSONALITY,
    "boundaries": Phase.PERSONALITY,
    "model": Phase.MODEL,
    "temperature": Phase.MODEL,
    "max_tokens": Phase.MODEL,
    "skills": Phase.SKILLS,
}
_SKILL_PHASES = {
    "name": Phase.BASICS,
    "description": Phase.BASICS,
    "steps": Phase.BASICS,
    "trigger": Phase.PERSONALITY,
    "kind": Phase.MODEL,
    "capabilities": Phase.SKILLS,
}
FIELD_PHASES: dict[Mode, dict[str, Phase]] = {
    Mode.BOT: _BOT_PHASES,
    Mode.RECONFIGURE: _BOT_PHASES,
    Mode.BATCH: {**_BOT_PHASES, "variants": Phase.PERSONALITY},
    Mode.SKILL: _SKILL_PHASES,
}
"""The fields of each mode and their phases."""
_MAX_LENGTHS = {
    "description": MAX_BOT_DESCRIPTION,
    "tone": MAX_TONE,
    "purpose": MAX_PASSAGE,
    "boundaries": MAX_PASSAGE,
    "trigger": MAX_PASSAGE,
    "steps": MAX_PASSAGE,
}
_PROSE = frozenset(
    ("name", "description", "tags", "tone", "traits", "purpose", "boundaries", "trigger", "steps")
)
_MAX_ITEMS = {"tags": (5, MAX_TAG), "traits": (8, MAX_TRAIT)}
"""Maximum number of items in a list, and their maximum length."""


def _parse_patch(state: State, patch: ModelPatch) -> Fields:
    """Return the valid settings for the mode of the interview that follow from what the person said.

    What a person chose among options is not interpreted again.
    """
    last = state.exchanges[-1] if state.exchanges else None
    chosen = last.patch.model_fields_set if last and isinstance(last.answer, Chosen) else set[str]()
    source = _said(state)
    usable: dict[str, Any] = {}
    for name in [one for one in FIELD_PHASES[state.mode] if one not in chosen]:
        value = _convert(state, name, getattr(patch, name))
        if value is not None and _is_valid(name, value) and _is_backed(name, value, source):
            usable[name] = value
            source += f"\n{value}" if name == "name" else ""
    return Fields.model_validate(usable)


def _said(state: State) -> str:
    """Return the words of the person, those they had before them to choose from, and those that were there before."""
    turns = [exchange.asked.turn for exchange in state.exchanges[-1:]]
    offered = [option.label for turn in turns if isinstance(turn, AskQuestion) for option in turn.options]
    known = state.config.model_dump(include=set(_PROSE), exclude_none=True)
    basis = state.basis
    files = list(basis.skill_files.files.values()) if basis.skill_files else []
    said = [state.description, *(exchange.label for exchange in state.exchanges), *offered]
    return "\n".join([*said, *map(_prose, known.values()), basis.soul or "", basis.old_soul or "", *files])


def _is_backed(name: str, value: Any, source: str) -> bool:
    """Check that a value adds no name, number or date to what the person said. The name itself must be said."""
    if name == "name":
        return mentions(source, value)
    if name == "variants":
        source = "\n".join([source, *(one.name for one in value)])
        value = [one.difference for one in value]
    if name in ("description", "purpose") and is_no_answer(value):
        return False
    return name in _CLOSED_FIELDS or not added_details(_prose(value), source)


def _prose(value: str | list[str]) -> str:
    return value if isinstance(value, str) else "\n".join(value)


def _is_valid(name: str, value: Any) -> bool:
    try:
        Fields.model_validate({name: value})
    except ValidationError:
        return False
    return True


def _convert(state: State, name: str, value: Any) -> Any:
    if value is None:
        return None
    match name:
        case "name":
            return _name(state, value)
        case "model":
            return _offered_model(state, value)
        case "skills":
            return _skills(state, value)
        case "variants":
            return _variants(state, value)
        case "kind":
            return value.casefold()
        case "capabilities":
            return _capabilities(value)
        case "tags" | "traits":
            max_items, max_length = _MAX_ITEMS[name]
            return [shorten(one, max_length) for one in dict.fromkeys(value)][:max_items]
        case _ if isinstance(value, str):
            return shorten(value, _MAX_LENGTHS[name])
        case _:
            return value


def _name(state: State, name: str) -> str | None:
    if state.mode is Mode.SKILL:
        return to_skill_name(name)
    return shorten(name, MAX_NAME) if _is_a_name(name) else None


def _is_a_name(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _variants(state: State, proposed: list[ModelVariant]) -> list[VariantFields]:
    """Return as many variants as requested, with distinct names."""
    variants: list[VariantFields] = []
    for one in proposed[: state.basis.variants or MAX_VARIANTS]:
        if _is_a_name(one.name):
            name = shorten(make_unique(one.name, [other.name for other in variants]), MAX_NAME)
            variants.append(VariantFields(name=name, difference=shorten(one.difference or "", MAX_PASSAGE)))
    return variants


def _capabilities(names: list[str]) -> list[Capability] | None:
    """Keep known capabilities. An empty list means none are needed; a list without a known one means
    nothing."""
    known = [one for one in Capability if one in {name.casefold() for name in names}]
    return known if known or not names else None


def _offered_model(state: State, ref: str) -> str | None:
    known = {DEFAULT_MODEL, *(offer.ref for offer in state.facts.models)}
    if state.config.model is not None:
        known.add(state.config.model)
    return ref if ref in known else None


def _skills(state: State, names: list[str]) -> list[SkillRequest]:
    """Resolve names to skills of the bot or the library; the others become requests for new ones."""
    known = {one.name: one for one in state.config.skills or []}
    for offer in state.facts.skills:
        known.setdefault(offer.name, SkillRequest.of(offer))
    wanted = dict.fromkeys(found for name in names if (found := to_skill_name(name)) and found != "none")
    return [known.get(name) or SkillRequest(name=name) for name in wanted][:MAX_SKILLS]
