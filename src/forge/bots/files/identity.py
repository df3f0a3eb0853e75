"""Parse, write and edit `IDENTITY.md`."""

from collections.abc import Iterator, Mapping
from typing import Any

from forge.bots.files.front_matter import change_keys, validate
from forge.bots.files.parsed import Parsed, parse_result
from forge.bots.models import BotFile, Identity
from forge.documents.frontmatter import (
    FrontMatter,
    UnreadableFrontMatter,
    read_front_matter,
    write_front_matter,
)
from forge.documents.problems import Problem, find_unusable_text

NARROW_PROVIDER = "anthropic"
"""Accepts temperatures up to 1 only."""


def parse_identity(text: str) -> Parsed[Identity]:
    if problem := find_unusable_text(text):
        return parse_result(BotFile.IDENTITY, None, [problem])
    try:
        front = read_front_matter(text)
    except UnreadableFrontMatter as error:
        return parse_result(BotFile.IDENTITY, None, [error.problem])
    identity, problems = validate(Identity, front)
    if identity is not None:
        problems += _combinations(identity, front)
    return parse_result(BotFile.IDENTITY, identity, problems)


def _combinations(identity: Identity, front: FrontMatter) -> Iterator[Problem]:
    """Check values that are valid on their own but not in combination."""
    provider, temperature = front.find("provider"), front.find("temperature")
    if identity.provider and not identity.model and provider:
        hint = "Add a line `model: …`, or remove `provider` to use the default model for bots."
        yield front.problem("`provider` is set without a `model`.", provider[0], hint=hint)
    if identity.temperature > 1 and identity.provider in (NARROW_PROVIDER, None) and temperature:
        hint = "Lower it, or choose a provider that accepts more."
        message = "`temperature` is above 1; Anthropic models accept at most 1."
        yield front.problem(message, temperature[0], hint=hint, is_warning=True)


def render_identity(identity: Identity) -> str:
    return write_front_matter(identity.model_dump(mode="json", exclude_none=True), "")


def change_identity(text: str, changes: Mapping[str, Any]) -> str:
    """Return the file with these keys set, or removed if None. Everything else is unchanged, comments included."""
    return change_keys(BotFile.IDENTITY, Identity, text, changes)
