"""The files of new bots, from an interview and the settings that were confirmed. The same input gives the same bytes."""

from dataclasses import dataclass

from forge.bots.files.identity import render_identity
from forge.bots.files.skills import render_skills
from forge.bots.files.user import render_user
from forge.bots.models import MAX_BOT_DESCRIPTION, BotFile, Category, Identity, SkillEntry
from forge.bots.slugs import slug_of
from forge.interview.assembly.looks import avatar_of, colour_of
from forge.interview.assembly.souls import soul_of, varied
from forge.interview.config import DEFAULT_MODEL, BuilderConfig, SkillRequest, VariantFields
from forge.interview.state import State

ORIGIN = "builder-created"
"""In `overrides` of a skill that an interview gave to a bot."""


@dataclass(frozen=True)
class BotDraft:
    name: str
    slug: str
    """That it would like to have."""
    contents: dict[BotFile, str]


def files_of(state: State, config: BuilderConfig) -> list[BotDraft]:
    """One bot, or one for each variant."""
    if not config.variants:
        return [_draft(state, config, None)]
    return [_draft(state, config, variant) for variant in config.variants]


def entry_of(request: SkillRequest) -> SkillEntry:
    """Nothing is granted here: what a skill may do is confirmed where the skill is."""
    return SkillEntry(skill_name=request.name, overrides={"origin": ORIGIN})


def split_model(ref: str) -> tuple[str | None, str | None]:
    """As IDENTITY.md names it: provider and model; neither for whatever is chosen for bots."""
    if ref == DEFAULT_MODEL:
        return None, None
    provider, colon, model = ref.partition(":")
    return (provider, model) if colon else (None, ref)


def _draft(state: State, config: BuilderConfig, variant: VariantFields | None) -> BotDraft:
    own = varied(config, variant) if variant else config
    contents = {
        BotFile.SOUL: soul_of(state, config, variant),
        BotFile.IDENTITY: render_identity(_identity(state, own, variant)),
        BotFile.USER: render_user(own.name, own.personality.purpose),
        BotFile.SKILLS: render_skills([entry_of(request) for request in own.skills]),
    }
    return BotDraft(own.name, slug_of(own.name), contents)


def _identity(state: State, config: BuilderConfig, variant: VariantFields | None) -> Identity:
    category = Category(config.category)
    provider, model = split_model(config.model_settings.model)
    return Identity(
        display_name=config.name,
        description=_description(config.description, variant),
        category=category,
        tags=config.tags,
        provider=provider,
        model=model,
        temperature=config.model_settings.temperature,
        max_tokens=config.model_settings.max_tokens,
        avatar=avatar_of(config.name, state.purpose, category),
        colour=colour_of(config.name),
    )


def _description(shared: str, variant: VariantFields | None) -> str:
    """With the difference, where there is room: a list of bots shows nothing else of it."""
    if variant is None or not variant.difference.strip():
        return shared
    both = " ".join(part for part in (shared.strip(), " ".join(variant.difference.split())) if part)
    return both if len(both) <= MAX_BOT_DESCRIPTION else shared
