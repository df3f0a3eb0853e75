"""What a model says about settings, as settings: value by value, so that a wrong one costs nothing but itself."""

from typing import Any

from pydantic import ValidationError

from forge.bots.models import MAX_BOT_DESCRIPTION, MAX_NAME, MAX_TAG, MAX_TONE, MAX_TRAIT
from forge.interview.config import (
    DEFAULT_MODEL,
    MAX_PASSAGE,
    MAX_SKILLS,
    MAX_VARIANTS,
    Fields,
    SkillRequest,
    VariantFields,
)
from forge.interview.naming import skill_slug, untaken
from forge.interview.phases import Mode, Phase
from forge.interview.speaking.reply import ModelPatch, ModelVariant
from forge.interview.state import State
from forge.interview.wording import shortened
from forge.skills.models import Capability

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
"""What can be asked in an interview of a mode, and where it belongs."""
_LONGEST = {
    "description": MAX_BOT_DESCRIPTION,
    "tone": MAX_TONE,
    "purpose": MAX_PASSAGE,
    "boundaries": MAX_PASSAGE,
    "trigger": MAX_PASSAGE,
    "steps": MAX_PASSAGE,
}
_MOST = {"tags": (5, MAX_TAG), "traits": (8, MAX_TRAIT)}
"""How many of a list, and how long each."""


def fields_of(state: State, said: ModelPatch) -> Fields:
    """What can be used of it in an interview of this mode."""
    usable: dict[str, Any] = {}
    for name in FIELD_PHASES[state.mode]:
        value = _fitted(state, name, getattr(said, name))
        if value is not None and _is_valid(name, value):
            usable[name] = value
    return Fields.model_validate(usable)


def _is_valid(name: str, value: Any) -> bool:
    try:
        Fields.model_validate({name: value})
    except ValidationError:
        return False
    return True


def _fitted(state: State, name: str, value: Any) -> Any:
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
            most, longest = _MOST[name]
            return [shortened(one, longest) for one in dict.fromkeys(value)][:most]
        case _ if isinstance(value, str):
            return shortened(value, _LONGEST[name])
        case _:
            return value


def _name(state: State, said: str) -> str | None:
    if state.mode is Mode.SKILL:
        return skill_slug(said)
    return shortened(said, MAX_NAME) if _is_a_name(said) else None


def _is_a_name(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _variants(state: State, said: list[ModelVariant]) -> list[VariantFields]:
    """No more than are wanted, each with a name of its own."""
    variants: list[VariantFields] = []
    for one in said[: state.basis.variants or MAX_VARIANTS]:
        if _is_a_name(one.name):
            name = shortened(untaken(one.name, [other.name for other in variants]), MAX_NAME)
            variants.append(VariantFields(name=name, difference=shortened(one.difference or "", MAX_PASSAGE)))
    return variants


def _capabilities(said: list[str]) -> list[Capability] | None:
    """Those there are. A list of none of them says nothing; an empty one says that nothing is needed."""
    known = [one for one in Capability if one in {name.casefold() for name in said}]
    return known if known or not said else None


def _offered_model(state: State, said: str) -> str | None:
    known = {DEFAULT_MODEL, *(offer.ref for offer in state.facts.models)}
    if state.config.model is not None:
        known.add(state.config.model)
    return said if said in known else None


def _skills(state: State, names: list[str]) -> list[SkillRequest]:
    """Those of the library or of the bot as they are; any other is to be written new."""
    known = {one.name: one for one in state.config.skills or []}
    for offer in state.facts.skills:
        known.setdefault(offer.name, SkillRequest.of(offer))
    wanted = dict.fromkeys(found for name in names if (found := skill_slug(name)) and found != "none")
    return [known.get(name) or SkillRequest(name=name) for name in wanted][:MAX_SKILLS]
