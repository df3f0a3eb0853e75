"""Build the complete configuration of a bot or skill from an interview's state, with defaults for the
rest."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from forge.bots.models import MAX_BOT_DESCRIPTION, MAX_NAME, MAX_TAG, Category
from forge.interview.domain.build_config import (
    DEFAULT_MODEL,
    MAX_PASSAGE,
    NOTHING,
    BuilderConfig,
    Fields,
    ModelConfig,
    PersonalityConfig,
    Preview,
    SkillBuildRequest,
    VariantFields,
)
from forge.interview.domain.categories import KnownPurpose, Purpose, defaults_for
from forge.interview.domain.dialogue import Mode, ReadyToAssemble, ReadyToCreateSkill
from forge.interview.domain.names import (
    find_name,
    find_subjects,
    suggest_name,
    suggest_skill_names,
    to_skill_name,
)
from forge.interview.domain.state import Basis, InterviewSpeaker, State
from forge.interview.domain.text_analysis import (
    clean_text,
    has_meaning,
    join_words,
    one_line,
    shorten,
    strip_request,
    to_sentence,
)
from forge.interview.domain.variants import VARIATIONS, variant_from
from forge.kernel.hashing import hash_text
from forge.skills.models import MAX_DESCRIPTION, SkillKind

T = TypeVar("T")

MAX_TAGS = 5
MAX_TRIGGER = 300
KIND_NAMES = {
    SkillKind.PROMPT: "Instructions",
    SkillKind.SCRIPT: "A script",
    SkillKind.LOCAL: "A program on this machine",
}


_KIND_TAGS = {
    KnownPurpose.SIMPLE_UTILITY: "utility",
    KnownPurpose.COMPLEX_ANALYST: "analysis",
    KnownPurpose.CREATIVE: "creative",
    KnownPurpose.CODING: "coding",
    KnownPurpose.RESEARCH: "research",
    KnownPurpose.CUSTOMER_SERVICE: "support",
}


def initial_fields(mode: Mode, description: str, purpose: Purpose, basis: Basis) -> Fields:
    """Extract settings from the description. For an existing bot or skill, the description is a change
    request and yields nothing yet."""
    is_change_request = mode is Mode.RECONFIGURE or basis.skill_name is not None
    if is_change_request or not has_meaning(description):
        return Fields()
    known: dict[str, object] = {"description": shorten(one_line(description), MAX_BOT_DESCRIPTION)}
    if mode.makes_bots:
        known["category"] = defaults_for(purpose).bot_category if isinstance(purpose, KnownPurpose) else None
        known["name"] = find_name(description)
    long = clean_text(description)
    if len(long) > MAX_BOT_DESCRIPTION:
        known["steps" if mode is Mode.SKILL else "purpose"] = shorten(long, MAX_PASSAGE)
    before = basis.fields.model_dump(exclude_none=True)
    return Fields.model_validate(
        {name: value for name, value in known.items() if value is not None and name not in before}
    )


def to_config(state: State) -> BuilderConfig:
    """Build the complete bot configuration; deterministic."""
    known, purpose = state.config, state.purpose
    usual = defaults_for(purpose)
    name = known.name or _name(state, known, purpose)
    return BuilderConfig(
        name=name,
        description=known.description or shorten(one_line(known.purpose or ""), MAX_BOT_DESCRIPTION),
        category=known.category or usual.bot_category.value,
        tags=_tags(known, purpose) if known.tags is None else known.tags,
        personality=PersonalityConfig(
            tone=known.tone or usual.tone,
            traits=list(usual.traits) if known.traits is None else known.traits,
            purpose=known.purpose or purpose_text(known, name),
            boundaries=known.boundaries or None,
        ),
        model_config=ModelConfig(
            model=known.model or DEFAULT_MODEL,
            temperature=usual.temperature if known.temperature is None else known.temperature,
            max_tokens=known.max_tokens or usual.max_tokens,
        ),
        skills=known.skills or [],
        variants=_variants(state, known, name) if state.mode is Mode.BATCH else [],
    )


def _name(state: State, known: Fields, purpose: Purpose) -> str:
    return shorten(suggest_name(known.description or known.purpose or state.description, purpose), MAX_NAME)


def _tags(known: Fields, purpose: Purpose) -> list[str]:
    kind = [_KIND_TAGS[purpose]] if isinstance(purpose, KnownPurpose) else []
    about = [word for word in find_subjects(known.description or known.purpose or "") if len(word) <= MAX_TAG]
    return list(dict.fromkeys([*kind, *about]))[:MAX_TAGS]


def purpose_text(known: Fields, name: str | None = None) -> str:
    """Turn the description into full sentences."""
    text = strip_request(known.description or "")
    is_thing = text.lower().startswith(("a ", "an ", "the "))
    whole = f"{name} is {text[0].lower()}{text[1:]}" if is_thing and name else text
    return to_sentence(shorten(whole, MAX_PASSAGE - 1))


def purpose_with_audience(state: State, audience: str) -> str:
    """Add the audience to the purpose."""
    known = state.config
    sentence = f"The people it works for: {audience[:1].lower()}{audience[1:].rstrip('.')}."
    before = shorten(known.purpose or purpose_text(known), MAX_PASSAGE - len(sentence) - 1)
    return f"{before} {sentence}".strip()


def _variants(state: State, known: Fields, name: str) -> list[VariantFields]:
    """Fill up the variants that were discussed with unused variations."""
    variants = list(known.variants or [])
    for variation in VARIATIONS:
        if len(variants) >= state.basis.variants:
            break
        if all(one.difference != variation.difference for one in variants):
            variants.append(variant_from(variation, name, variants, state.facts.bot_names))
    return variants


def to_skill_request(state: State) -> SkillBuildRequest:
    if state.requested is not None:
        return state.requested
    known = state.config
    about = known.description or known.steps or state.description
    taken = state.facts.skill_names
    return SkillBuildRequest(
        name=to_skill_name(known.name or "")
        or state.basis.skill_name
        or suggest_skill_names(about, taken)[0],
        description=_skill_description(state, known, about),
        skill_type=known.kind or SkillKind.PROMPT,
        capabilities=known.capabilities,
    )


def _skill_description(state: State, known: Fields, about: str) -> str:
    """Combine what the skill does and when to use it: all a bot sees before it loads the skill."""
    when = to_sentence(one_line(known.trigger or ""))
    if not when and known.description and known.description == state.basis.fields.description:
        return known.description
    what = to_sentence(one_line(about)) or "A skill."
    if not when or when.casefold() in what.casefold():
        return shorten(what, MAX_DESCRIPTION)
    return f"{shorten(what, MAX_DESCRIPTION - MAX_TRIGGER - 1)} {shorten(when, MAX_TRIGGER)}"


def missing_settings(state: State) -> list[str]:
    """List what is still needed, in words. At the end of an interview defaults fill every gap."""
    known = state.config
    if state.asked is not None and isinstance(state.asked.turn, ReadyToAssemble | ReadyToCreateSkill):
        return []
    if state.mode is Mode.SKILL:
        wanted = {
            "a name": known.name or state.basis.skill_name,
            "what it does": known.description or known.steps,
            "how it works": known.kind,
        }
    else:
        wanted = {
            "a name": known.name,
            "what it is for": known.description or known.purpose,
            "a tone": known.tone or state.basis.soul,
            "a model": known.model,
        }
    left = [what for what, value in wanted.items() if not value]
    few = state.basis.variants - len(known.variants or [])
    if state.mode is Mode.BATCH and few > 0:
        left.append(
            "what makes one variant different" if few == 1 else f"what makes {few} variants different"
        )
    return left


def build_preview(state: State) -> Preview:
    known = state.config
    is_skill = state.mode is Mode.SKILL
    name = known.name if state.mode in (Mode.BOT, Mode.BATCH) else None
    return Preview(
        name=known.name,
        description=known.description,
        personality_summary=_skill_summary(known) if is_skill else _personality_summary(known),
        model=None if is_skill else _model_name(state, known),
        skills=[skill.name for skill in known.skills or []],
        phase=state.phase.value,
        fields=known,
        avatar=pick_avatar(name, state.purpose, defaults_for(state.purpose).bot_category) if name else None,
        colour=pick_color(name) if name else None,
        missing=missing_settings(state),
    )


def _personality_summary(known: Fields) -> str | None:
    who = known.name or "It"
    if known.tone and known.traits:
        return to_sentence(f"{who} is {join_words(known.traits)}, in {_tone(known.tone)}")
    if known.traits:
        return to_sentence(f"{who} is {join_words(known.traits)}")
    return to_sentence(f"{who} speaks in {_tone(known.tone)}") if known.tone else None


def _tone(tone: str) -> str:
    """Format a tone: `a friendly tone`, or `this tone: dry and exact` for free text."""
    if not tone.isalpha():
        return f"this tone: {tone}"
    return f"{'an' if tone[0].lower() in 'aeiou' else 'a'} {tone} tone"


def _skill_summary(known: Fields) -> str | None:
    if known.kind is None:
        return None
    kind = KIND_NAMES[known.kind]
    return to_sentence(f"{kind}: {one_line(known.trigger)}" if known.trigger else kind)


def _model_name(state: State, known: Fields) -> str | None:
    if known.model is None:
        return None
    labels = {offer.ref: offer.label for offer in state.facts.models}
    if known.model == DEFAULT_MODEL:
        return labels.get(DEFAULT_MODEL, "The model chosen for bots")
    return labels.get(known.model, known.model)


def current_config(state: State) -> BuilderConfig:
    """Return the settings edited in the review, or those agreed on."""
    return state.edited or to_config(state)


def original_config(state: State) -> BuilderConfig:
    """Return the settings of a reconfigured bot before the interview."""
    return to_config(state.replace(exchanges=[], opening=NOTHING, edited=None))


def soul_hash(config: BuilderConfig) -> str:
    """Hash the settings that a soul depends on."""
    personality = config.personality.model_dump(mode="json")
    return _hash([config.name, config.description, personality])


def skill_hash(state: State, request: SkillBuildRequest) -> str:
    """Hash the settings that a skill's files depend on. Capabilities are confirmed after writing, so they do
    not count."""
    known = state.config
    return _hash([request.name, request.description, request.skill_type.value, known.trigger, known.steps])


def is_written(state: State) -> bool:
    if state.mode is Mode.SKILL:
        wanted = skill_hash(state, to_skill_request(state))
        return state.written is not None and state.written.of == wanted
    if state.speaker is InterviewSpeaker.GUIDE or state.basis.soul is not None or _keeps_soul(state):
        return True
    return state.written is not None and state.written.of == soul_hash(current_config(state))


def _keeps_soul(state: State) -> bool:
    """Check for a reconfigured bot whose soul does not change."""
    if state.mode is not Mode.RECONFIGURE:
        return False
    return soul_hash(original_config(state)) == soul_hash(current_config(state))


def _hash(parts: list[Any]) -> str:
    return hash_text(json.dumps(parts, ensure_ascii=False, sort_keys=True))


COLORS = ("#e2703a", "#c2483f", "#b0457b", "#7a5bc7", "#4667c9", "#2b7fa8", "#2a8a72", "#5b8a3c", "#a87a1f")

_BY_PURPOSE: Mapping[KnownPurpose, Sequence[str]] = {
    KnownPurpose.CODING: ("💻", "🛠️", "🧩", "⚙️"),
    KnownPurpose.CREATIVE: ("🎨", "🪶", "🎭", "✨"),
    KnownPurpose.RESEARCH: ("🔬", "📚", "🔎", "🧭"),
    KnownPurpose.COMPLEX_ANALYST: ("📊", "📈", "🧮", "🔭"),
    KnownPurpose.CUSTOMER_SERVICE: ("🤝", "💬", "🛎️", "🌟"),
    KnownPurpose.SIMPLE_UTILITY: ("⏱️", "📌", "🧰", "✅"),
}
_BY_CATEGORY: Mapping[Category, Sequence[str]] = {
    Category.ASSISTANT: ("🤖", "🦉", "🌱", "🪄"),
    Category.CREATIVE: ("🎨", "🪶", "🎭", "✨"),
    Category.RESEARCH: ("🔬", "📚", "🔎", "🧭"),
    Category.UTILITY: ("🧰", "⏱️", "📌", "✅"),
}


def pick_avatar(name: str, purpose: Purpose, category: Category) -> str:
    fitting = _BY_PURPOSE[purpose] if isinstance(purpose, KnownPurpose) else _BY_CATEGORY[category]
    return _pick(fitting, f"avatar of {name}")


def pick_color(name: str) -> str:
    return _pick(COLORS, f"colour of {name}")


def _pick(choices: Sequence[T], text: str) -> T:
    return choices[int(hash_text(text)[:8], 16) % len(choices)]
