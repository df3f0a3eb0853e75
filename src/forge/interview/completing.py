"""What is known so far, made whole: sensible settings for what nobody said."""

from forge.bots.models import MAX_BOT_DESCRIPTION, MAX_NAME, MAX_TAG
from forge.interview.assembly.looks import avatar_of, colour_of
from forge.interview.categories import Known, Purpose, defaults_for
from forge.interview.config import (
    DEFAULT_MODEL,
    MAX_PASSAGE,
    BuilderConfig,
    Fields,
    ModelConfig,
    PersonalityConfig,
    Preview,
    SkillBuildRequest,
    VariantFields,
)
from forge.interview.naming import name_in, name_of, skill_names_for, skill_slug, subjects_of
from forge.interview.phases import Mode
from forge.interview.state import Basis, State
from forge.interview.turns import ReadyToAssemble, ReadyToCreateSkill
from forge.interview.variations import VARIATIONS, variant_of
from forge.interview.wording import (
    cleaned,
    listed,
    one_line,
    says_something,
    sentence,
    shortened,
    wish,
)
from forge.skills.models import MAX_DESCRIPTION, SkillKind

MAX_TAGS = 5
MAX_TRIGGER = 300
KIND_NAMES = {
    SkillKind.PROMPT: "Instructions",
    SkillKind.SCRIPT: "A script",
    SkillKind.LOCAL: "A program on this machine",
}


_KIND_TAGS = {
    Known.SIMPLE_UTILITY: "utility",
    Known.COMPLEX_ANALYST: "analysis",
    Known.CREATIVE: "creative",
    Known.CODING: "coding",
    Known.RESEARCH: "research",
    Known.CUSTOMER_SERVICE: "support",
}


def opening_of(mode: Mode, description: str, purpose: Purpose, basis: Basis) -> Fields:
    """What a description alone says. Of something that exists already it says what should change: nothing of that is
    known before it was asked."""
    is_wish = mode is Mode.RECONFIGURE or basis.skill_name is not None
    if is_wish or not says_something(description):
        return Fields()
    known: dict[str, object] = {"description": shortened(one_line(description), MAX_BOT_DESCRIPTION)}
    if mode.makes_bots:
        known["category"] = defaults_for(purpose).bot_category if isinstance(purpose, Known) else None
        known["name"] = name_in(description)
    long = cleaned(description)
    if len(long) > MAX_BOT_DESCRIPTION:
        known["steps" if mode is Mode.SKILL else "purpose"] = shortened(long, MAX_PASSAGE)
    before = basis.fields.model_dump(exclude_none=True)
    return Fields.model_validate(
        {name: value for name, value in known.items() if value is not None and name not in before}
    )


def to_config(state: State) -> BuilderConfig:
    """A whole bot: the same one whenever it is asked for."""
    known, purpose = state.config, state.purpose
    usual = defaults_for(purpose)
    name = known.name or _name(state, known, purpose)
    return BuilderConfig(
        name=name,
        description=known.description or shortened(one_line(known.purpose or ""), MAX_BOT_DESCRIPTION),
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
    return shortened(name_of(known.description or known.purpose or state.description, purpose), MAX_NAME)


def _tags(known: Fields, purpose: Purpose) -> list[str]:
    kind = [_KIND_TAGS[purpose]] if isinstance(purpose, Known) else []
    about = [word for word in subjects_of(known.description or known.purpose or "") if len(word) <= MAX_TAG]
    return list(dict.fromkeys([*kind, *about]))[:MAX_TAGS]


def purpose_text(known: Fields, name: str | None = None) -> str:
    """The description in full sentences."""
    text = wish(known.description or "")
    is_thing = text.lower().startswith(("a ", "an ", "the "))
    whole = f"{name} is {text[0].lower()}{text[1:]}" if is_thing and name else text
    return sentence(shortened(whole, MAX_PASSAGE - 1))


def for_audience(state: State, audience: str) -> str:
    """The purpose, with whom it serves."""
    known = state.config
    said = f"The people it works for: {audience[:1].lower()}{audience[1:].rstrip('.')}."
    before = shortened(known.purpose or purpose_text(known), MAX_PASSAGE - len(said) - 1)
    return f"{before} {said}".strip()


def _variants(state: State, known: Fields, name: str) -> list[VariantFields]:
    """Those that were talked about; for the rest, variations nobody has chosen yet."""
    variants = list(known.variants or [])
    for variation in VARIATIONS:
        if len(variants) >= state.basis.variants:
            break
        if all(one.difference != variation.difference for one in variants):
            variants.append(variant_of(variation, name, variants, state.facts.bot_names))
    return variants


def to_skill_request(state: State) -> SkillBuildRequest:
    known = state.config
    about = known.description or known.steps or state.description
    taken = state.facts.skill_names
    return SkillBuildRequest(
        name=skill_slug(known.name or "") or state.basis.skill_name or skill_names_for(about, taken)[0],
        description=_skill_description(state, known, about),
        skill_type=known.kind or SkillKind.PROMPT,
        capabilities=known.capabilities,
    )


def _skill_description(state: State, known: Fields, about: str) -> str:
    """What it does and when to use it: all that a bot sees before it takes a skill up."""
    when = sentence(one_line(known.trigger or ""))
    if not when and known.description and known.description == state.basis.fields.description:
        return known.description
    what = sentence(one_line(about)) or "A skill."
    if not when or when.casefold() in what.casefold():
        return shortened(what, MAX_DESCRIPTION)
    return f"{shortened(what, MAX_DESCRIPTION - MAX_TRIGGER - 1)} {shortened(when, MAX_TRIGGER)}"


def missing(state: State) -> list[str]:
    """What is still to be said, in words for a person. In the end, what nobody said has got its default."""
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


def preview_of(state: State) -> Preview:
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
        avatar=avatar_of(name, state.purpose, defaults_for(state.purpose).bot_category) if name else None,
        colour=colour_of(name) if name else None,
        missing=missing(state),
    )


def _personality_summary(known: Fields) -> str | None:
    who = known.name or "It"
    if known.tone and known.traits:
        return sentence(f"{who} is {listed(known.traits)}, in {_tone(known.tone)}")
    if known.traits:
        return sentence(f"{who} is {listed(known.traits)}")
    return sentence(f"{who} speaks in {_tone(known.tone)}") if known.tone else None


def _tone(tone: str) -> str:
    """`a friendly tone`; somebody's own words stay apart: `this tone: dry and exact`."""
    if not tone.isalpha():
        return f"this tone: {tone}"
    return f"{'an' if tone[0].lower() in 'aeiou' else 'a'} {tone} tone"


def _skill_summary(known: Fields) -> str | None:
    if known.kind is None:
        return None
    kind = KIND_NAMES[known.kind]
    return sentence(f"{kind}: {one_line(known.trigger)}" if known.trigger else kind)


def _model_name(state: State, known: Fields) -> str | None:
    if known.model is None:
        return None
    labels = {offer.ref: offer.label for offer in state.facts.models}
    if known.model == DEFAULT_MODEL:
        return labels.get(DEFAULT_MODEL, "The model chosen for bots")
    return labels.get(known.model, known.model)
