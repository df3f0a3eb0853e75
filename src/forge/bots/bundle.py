"""A bot as one file: what goes into it, and what may come out of one.

A bundle holds the four files of a bot and nothing else, so no memory, conversation or secret can be in it.
"""

from collections.abc import Mapping
from datetime import datetime
from re import fullmatch

from forge.bots.files.identity import parse_identity
from forge.bots.files.skills import render_skills
from forge.bots.files.user import render_user
from forge.bots.models import SLUG_PATTERN, BotFile, Bundle
from forge.bots.slugs import slug_of
from forge.errors import Invalid

FILES = {file.file_name: file for file in BotFile}
NEEDED = (BotFile.SOUL, BotFile.IDENTITY)


def to_bundle(slug: str, contents: Mapping[BotFile, str], at: datetime) -> Bundle:
    files = {file.file_name: text for file, text in contents.items()}
    return Bundle(forge_bot=1, slug=slug, exported_at=at, files=files)


def contents_of(bundle: Bundle) -> dict[BotFile, str]:
    """The four files; those a bot can do without are written when they are missing."""
    if unknown := sorted(set(bundle.files) - set(FILES)):
        raise Invalid(
            f"A bot has no file called {unknown[0]!r}.", hint=f"It has {', '.join(FILES)}.", field="files"
        )
    given = {FILES[name]: text for name, text in bundle.files.items()}
    for file in NEEDED:
        if file not in given:
            raise Invalid(f"{file.file_name} is missing.", hint="A bot is not one without it.", field="files")
    usual = {BotFile.USER: render_user(_name(given)), BotFile.SKILLS: render_skills([])}
    return {file: given.get(file, usual.get(file, "")) for file in BotFile}


def slug_for(bundle: Bundle, contents: Mapping[BotFile, str]) -> str:
    """The one it had, if it can be one here."""
    return slug_of(bundle.slug if fullmatch(SLUG_PATTERN, bundle.slug) else _name(contents))


def _name(contents: Mapping[BotFile, str]) -> str:
    identity = parse_identity(contents[BotFile.IDENTITY]).value
    return identity.display_name if identity else "bot"
