"""The files of a bot that is changed. Only what an interview changed: the rest stays as people wrote it."""

from collections.abc import Callable, Mapping
from typing import Any

from forge.bots.files.identity import change_identity
from forge.bots.files.skills import parse_skills
from forge.bots.files.skills_editing import with_skill, without_skill
from forge.bots.files.soul import SECTIONS, change_soul, parse_soul
from forge.bots.models import BotFile
from forge.interview.assembly.files import entry_of, split_model
from forge.interview.assembly.sections import read_section, replace_section
from forge.interview.assembly.souls import written_body
from forge.interview.config import BuilderConfig
from forge.interview.speaking.souls import template_soul
from forge.interview.state import State
from forge.interview.writing import settings_before, soul_hash


def changed_files(state: State, config: BuilderConfig, before: Mapping[BotFile, str]) -> dict[BotFile, str]:
    """Those of them that are other now. What somebody changed in a file meanwhile stays, unless the interview changed
    the same."""
    old = settings_before(state)
    changes: dict[BotFile, Callable[[str], str]] = {
        BotFile.SOUL: lambda text: _soul(state, old, config, text),
        BotFile.IDENTITY: lambda text: change_identity(text, _identity(old, config)),
        BotFile.SKILLS: lambda text: _skills(old, config, text),
    }
    after = {file: change(before[file]) for file, change in changes.items() if file in before}
    return {file: text for file, text in after.items() if text != before[file]}


def _identity(old: BuilderConfig, new: BuilderConfig) -> dict[str, Any]:
    """As IDENTITY.md names what was changed; None takes a key away."""
    provider, model = split_model(new.model_settings.model)
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


def _soul(state: State, old: BuilderConfig, new: BuilderConfig, text: str) -> str:
    if soul_hash(old) == soul_hash(new):
        return text
    keys = {
        "name": (old.name, new.name),
        "traits": (old.personality.traits, new.personality.traits),
        "tone": (old.personality.tone, new.personality.tone),
    }
    changes: dict[str, Any] = {key: to for key, (was, to) in keys.items() if was != to}
    body = parse_soul(text).value
    now = _body(state, old, new, body.body if body else "")
    return change_soul(text, changes, None if body and body.body == now else now)


def _body(state: State, old: BuilderConfig, new: BuilderConfig, body: str) -> str:
    """With the sections that were written for the new settings. Without those, a text that Forge wrote itself is written
    anew; in one that people or a model wrote, only the sections are replaced that were talked about. Sections of a
    person's own always stay."""
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
            body = replace_section(body, title, "\n".join(_once(usual.splitlines())))
    return body


def _once(lines: list[str]) -> list[str]:
    """A text that was taken over from the file may say already what Forge would add."""
    return [line for at, line in enumerate(lines) if not line.strip() or line not in lines[:at]]


def _skills(old: BuilderConfig, new: BuilderConfig, text: str) -> str:
    """What is added comes to the end; of the others nothing is touched."""
    before, after = {one.name for one in old.skills}, {one.name for one in new.skills}
    have = [entry.skill_name for entry in parse_skills(text).value or []]
    for name in have:
        if name in before - after:
            text = without_skill(text, name)
    for one in new.skills:
        if one.name in after - before and one.name not in have:
            text = with_skill(text, entry_of(one))
    return text
