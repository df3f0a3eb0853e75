"""`IDENTITY.md`: how a bot looks, and what it runs on."""

from collections.abc import Iterator, Mapping
from typing import Any

from forge.bots.files.editing import change_keys
from forge.bots.files.parsed import Parsed, parsed
from forge.bots.files.validation import validate
from forge.bots.models import BotFile, Identity
from forge.documents.frontmatter import FrontMatter, Unusable, read_front_matter, write_front_matter
from forge.documents.problem import Problem
from forge.documents.text import unusable_text

NARROW_PROVIDER = "anthropic"
"""Takes temperatures up to 1 only."""


def parse_identity(text: str) -> Parsed[Identity]:
    if problem := unusable_text(text):
        return parsed(BotFile.IDENTITY, None, [problem])
    try:
        front = read_front_matter(text)
    except Unusable as error:
        return parsed(BotFile.IDENTITY, None, [error.problem])
    identity, problems = validate(Identity, front)
    if identity is not None:
        problems += _combinations(identity, front)
    return parsed(BotFile.IDENTITY, identity, problems)


def _combinations(identity: Identity, front: FrontMatter) -> Iterator[Problem]:
    """What is fine by itself and not together."""
    provider, temperature = front.find("provider"), front.find("temperature")
    if identity.provider and not identity.model and provider:
        hint = "Add a line `model: …`, or remove `provider` to use the model chosen for bots."
        yield front.problem("`provider` is named without a `model`.", provider[0], hint=hint)
    if identity.temperature > 1 and identity.provider in (NARROW_PROVIDER, None) and temperature:
        hint = "Lower it, or name a provider that takes more."
        message = "`temperature` is above 1, and Anthropic's models take 1 at most."
        yield front.problem(message, temperature[0], hint=hint, is_warning=True)


def render_identity(identity: Identity) -> str:
    return write_front_matter(identity.model_dump(mode="json", exclude_none=True), "")


def change_identity(text: str, changes: Mapping[str, Any]) -> str:
    """The file with these keys set, or removed by None. Everything else stays as it is, comments included."""
    return change_keys(BotFile.IDENTITY, Identity, text, changes)
