"""Render, change and read the files of bots. Deterministic: the same input gives the same bytes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from forge.bots.files.identity import change_identity, render_identity
from forge.bots.files.problems import errors_of, invalid_file
from forge.bots.files.skills_toml import parse_skills, render_skills, with_skill, without_skill
from forge.bots.files.soul import SECTIONS, change_soul, parse_soul
from forge.bots.files.user import render_user
from forge.bots.management.creation import slug_of
from forge.bots.models import MAX_BOT_DESCRIPTION, BotFile, Category, Identity, SkillEntry, Soul
from forge.bots.versions.file_status import BotFiles
from forge.errors import Internal
from forge.interview.assembly.soul_text import (
    STANDARD_BOUNDARIES,
    STANDARD_PURPOSE,
    build_soul,
    read_section,
    replace_section,
    template_soul,
    variant_config,
    written_body,
)
from forge.interview.domain.build_config import (
    DEFAULT_MODEL,
    MAX_PASSAGE,
    MAX_SKILLS,
    BuilderConfig,
    Fields,
    SkillRequest,
    VariantFields,
)
from forge.interview.domain.config_builder import original_config, pick_avatar, pick_color, soul_hash
from forge.interview.domain.state import State

ORIGIN = "builder-created"
"""Marks a skill entry as added by an interview, in its `overrides`."""


@dataclass(frozen=True)
class BotDraft:
    name: str
    slug: str
    """The preferred slug."""
    contents: dict[BotFile, str]


def render_bots(state: State, config: BuilderConfig) -> list[BotDraft]:
    """Render one bot, or one per variant."""
    if not config.variants:
        return [_draft(state, config, None)]
    return [_draft(state, config, variant) for variant in config.variants]


def _skill_entry(request: SkillRequest) -> SkillEntry:
    """Create the entry for skills.toml. It grants nothing: grants belong to the skill."""
    return SkillEntry(skill_name=request.name, overrides={"origin": ORIGIN})


def _split_model(ref: str) -> tuple[str | None, str | None]:
    """Split a reference into provider and model for IDENTITY.md; both are None for the default model."""
    if ref == DEFAULT_MODEL:
        return None, None
    provider, colon, model = ref.partition(":")
    return (provider, model) if colon else (None, ref)


def _draft(state: State, config: BuilderConfig, variant: VariantFields | None) -> BotDraft:
    own = variant_config(config, variant) if variant else config
    contents = {
        BotFile.SOUL: build_soul(state, config, variant),
        BotFile.IDENTITY: render_identity(_identity(state, own, variant)),
        BotFile.USER: render_user(own.name, own.personality.purpose),
        BotFile.SKILLS: render_skills([_skill_entry(request) for request in own.skills]),
    }
    return BotDraft(own.name, slug_of(own.name), contents)


def _identity(state: State, config: BuilderConfig, variant: VariantFields | None) -> Identity:
    category = Category(config.category)
    provider, model = _split_model(config.model_settings.model)
    return Identity(
        display_name=config.name,
        description=_description(config.description, variant),
        category=category,
        tags=config.tags,
        provider=provider,
        model=model,
        temperature=config.model_settings.temperature,
        max_tokens=config.model_settings.max_tokens,
        avatar=pick_avatar(config.name, state.purpose, category),
        colour=pick_color(config.name),
    )


def _description(shared: str, variant: VariantFields | None) -> str:
    """Append the difference where it fits: lists of bots show only the description."""
    if variant is None or not variant.difference.strip():
        return shared
    both = " ".join(part for part in (shared.strip(), " ".join(variant.difference.split())) if part)
    return both if len(both) <= MAX_BOT_DESCRIPTION else shared


def changed_files(state: State, config: BuilderConfig, before: Mapping[BotFile, str]) -> dict[BotFile, str]:
    """Return the files that change. Concurrent edits in a file are kept unless the interview changed the same
    setting."""
    old = original_config(state)
    changes: dict[BotFile, Callable[[str], str]] = {
        BotFile.SOUL: lambda text: _changed_soul(state, old, config, text),
        BotFile.IDENTITY: lambda text: change_identity(text, _identity_changes(old, config)),
        BotFile.SKILLS: lambda text: _changed_skills(old, config, text),
    }
    after = {file: change(before[file]) for file, change in changes.items() if file in before}
    return {file: text for file, text in after.items() if text != before[file]}


def _identity_changes(old: BuilderConfig, new: BuilderConfig) -> dict[str, Any]:
    """Return the changed keys of IDENTITY.md; None removes a key."""
    provider, model = _split_model(new.model_settings.model)
    now = {
        "display_name": (old.name, new.name),
        "description": (old.description, new.description),
        "category": (old.category, new.category),
        "tags": (old.tags, new.tags),
        "temperature": (old.model_settings.temperature, new.model_settings.temperature),
        "max_tokens": (old.model_settings.max_tokens, new.model_settings.max_tokens),
    }
    changes: dict[str, Any] = {key: to for key, (was, to) in now.items() if was != to}
    if old.model_settings.model != new.model_settings.model:
        changes |= {"provider": provider, "model": model}
    return changes


def _changed_soul(state: State, old: BuilderConfig, new: BuilderConfig, text: str) -> str:
    if soul_hash(old) == soul_hash(new):
        return text
    keys = {
        "name": (old.name, new.name),
        "traits": (old.personality.traits, new.personality.traits),
        "tone": (old.personality.tone, new.personality.tone),
    }
    changes: dict[str, Any] = {key: to for key, (was, to) in keys.items() if was != to}
    body = parse_soul(text).value
    now = _changed_body(state, old, new, body.body if body else "")
    return change_soul(text, changes, None if body and body.body == now else now)


def _changed_body(state: State, old: BuilderConfig, new: BuilderConfig, body: str) -> str:
    """Use the sections written for the new settings. Without those, replace an unedited template as a whole,
    and in any other text only the sections whose settings changed. Custom sections always stay."""
    if written := written_body(state, new):
        for title in SECTIONS:
            body = replace_section(body, title, read_section(written, title) or "")
        return body
    if body.strip() == template_soul(old).strip():
        return template_soul(new)
    for title, was, to in (
        ("Purpose", old.personality.purpose, new.personality.purpose),
        ("Boundaries", old.personality.boundaries, new.personality.boundaries),
    ):
        if was != to:
            usual = read_section(template_soul(new), title) or ""
            body = replace_section(body, title, "\n".join(_without_duplicates(usual.splitlines())))
    return body


def _without_duplicates(lines: list[str]) -> list[str]:
    """Remove duplicate lines: text taken from the file may already contain what Forge adds."""
    return [line for at, line in enumerate(lines) if not line.strip() or line not in lines[:at]]


def _changed_skills(old: BuilderConfig, new: BuilderConfig, text: str) -> str:
    """Append added skills and remove dropped ones; leave the other entries untouched."""
    before, after = {one.name for one in old.skills}, {one.name for one in new.skills}
    have = [entry.skill_name for entry in parse_skills(text).value or []]
    for name in have:
        if name in before - after:
            text = without_skill(text, name)
    for one in new.skills:
        if one.name in after - before and one.name not in have:
            text = with_skill(text, _skill_entry(one))
    return text


_STANDARD_LINES = {STANDARD_PURPOSE, *(f"- {rule}" for rule in STANDARD_BOUNDARIES)}


def fields_from_files(files: BotFiles) -> Fields:
    fields = _fields_from_identity(files.identity).merged(_fields_from_parsed_soul(files.soul))
    name = Fields(name=files.identity.display_name)
    return fields.merged(name).merged(Fields(skills=_skill_requests(files.skills)))


def fields_from_soul(text: str) -> Fields:
    """Read settings from a SOUL.md. Raise when it is invalid."""
    found = parse_soul(text)
    if errors := errors_of(found.problems):
        raise invalid_file(errors)
    if found.value is None:
        raise Internal("SOUL.md has no errors but could not be parsed.")
    return _fields_from_parsed_soul(found.value)


def _fields_from_identity(identity: Identity) -> Fields:
    return Fields(
        description=identity.description,
        category=identity.category.value,
        tags=identity.tags,
        model=identity.ref or DEFAULT_MODEL,
        temperature=identity.temperature,
        max_tokens=identity.max_tokens,
    )


def _fields_from_parsed_soul(soul: Soul) -> Fields:
    return Fields(
        name=soul.name,
        tone=soul.tone or None,
        traits=soul.traits,
        purpose=_passage(soul.body, "Purpose"),
        boundaries=_passage(soul.body, "Boundaries"),
    )


def _passage(body: str, title: str) -> str | None:
    """Return the text of a section without what Forge adds to every soul."""
    lines = (read_section(body, title) or "").splitlines()
    own = "\n".join(line for line in lines if line.strip() not in _STANDARD_LINES).strip()
    return own[:MAX_PASSAGE] or None


def _skill_requests(entries: list[SkillEntry]) -> list[SkillRequest]:
    return [SkillRequest(name=entry.skill_name) for entry in entries[:MAX_SKILLS]]
