"""The name of a bot as a folder and an address can have it."""

import re
import unicodedata
from collections.abc import Iterator

from forge.bots.models import MAX_SLUG
from forge.errors import Invalid

MAX_SUFFIX = 100
FALLBACK = "bot"

_WINDOWS = {"con", "prn", "aux", "nul"} | {
    f"{port}{number}" for port in ("com", "lpt") for number in range(10)
}
_ADDRESSES = {"import", "new"}
_OTHER = re.compile(r"[^a-z0-9]+")
_LIKE_AN_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def slug_of(name: str) -> str:
    if not any(character.isalnum() for character in name):
        raise Invalid("A name needs a letter or a digit.", field="name")
    slug = _cut(_OTHER.sub("-", _folded(name)).strip("-"), MAX_SLUG) or FALLBACK
    return f"{slug}-{FALLBACK}" if _is_taken_by_others(slug) else slug


def candidates(slug: str) -> Iterator[str]:
    """The slug, and what it becomes when others have it already."""
    yield slug
    for number in range(2, MAX_SUFFIX + 1):
        suffix = f"-{number}"
        yield _cut(slug, MAX_SLUG - len(suffix)) + suffix


def _folded(name: str) -> str:
    """Without accents, in lower case: `Zoë` is `zoe`, `Straße` is `strasse`."""
    parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    return "".join(character for character in parts if not unicodedata.combining(character))


def _cut(slug: str, length: int) -> str:
    return slug[:length].rstrip("-")


def _is_taken_by_others(slug: str) -> bool:
    """By a system's devices, by addresses of ours, or it would be read as the id of some bot."""
    return slug in _WINDOWS or slug in _ADDRESSES or bool(_LIKE_AN_ID.fullmatch(slug))
