"""Shapes: a small language for token formats, which gives both patterns and examples.

`gh<p|o>_<a36>` is `ghp_` or `gho_` and 36 letters or digits. A rule is one readable line, and the source contains no
complete token that a scanner would find.
"""

import random
import re
from dataclasses import dataclass
from itertools import product
from typing import assert_never

CLASSES = {
    "a": "0-9A-Za-z",
    "l": "0-9a-z",
    "u": "0-9A-Z",
    "L": "A-Za-z",
    "h": "0-9a-f",
    "H": "0-9A-F",
    "x": "0-9A-Fa-f",
    "d": "0-9",
    "w": "0-9A-Za-z_-",
    "b": "0-9A-Za-z+/",
    "q": "2-7A-Z",
}
_UUID = "<h8>-<h4>-<h4>-<h4>-<h12>"
_PART = re.compile(r"<([a-zA-Z])(\d+)(?:-(\d+)|(\+))?>|<([^<>]*\|[^<>]*)>|([^<]+|<)")
_LEAD = 12
_FAR = 10_000
_MAX_MORE = 20
"""The maximum of characters above the minimum in an example."""


@dataclass(frozen=True, slots=True)
class Letters:
    """`<a20>`, `<a20-40>` or `<a20+>`"""

    ranges: str
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Choice:
    """`<live|test>`, or a fixed text as the only choice."""

    words: tuple[str, ...]


Part = Letters | Choice


def pattern_of(shape: str) -> str:
    """Convert a shape to a regular expression without groups."""
    return "".join(_pattern(part) for part in _parts(shape))


def sample_of(shape: str, seed: int) -> str:
    """Return an example of the shape, deterministic for a seed."""
    chance = random.Random(f"{shape} {seed}")  # noqa: S311 (examples, not keys)
    return "".join(_sample(part, chance) for part in _parts(shape))


def starts_of(shape: str) -> tuple[str, ...]:
    """Return the fixed texts a shape may start with."""
    choices: list[tuple[str, ...]] = []
    for part in _parts(shape):
        if isinstance(part, Letters):
            break
        choices.append(part.words)
    return tuple("".join(words) for words in product(*choices))


def lead_of(shape: str) -> str:
    """Return a pattern for the beginning of a shape, just long enough to be rare."""
    text = ""
    for part in _parts(shape):
        text += _pattern(
            part
            if isinstance(part, Choice)
            else Letters(part.ranges, min(part.least, _LEAD), min(part.least, _LEAD))
        )
        if isinstance(part, Letters):
            break
    return text


def _parts(shape: str) -> list[Part]:
    return [_part(match) for match in _PART.finditer(shape.replace("<uuid>", _UUID))]


def _part(match: re.Match[str]) -> Part:
    if match[1] is not None:
        least = int(match[2])
        return Letters(CLASSES[match[1]], least, None if match[4] else int(match[3] or least))
    return Choice(tuple(match[5].split("|"))) if match[5] is not None else Choice((match[6],))


def _pattern(part: Part) -> str:
    match part:
        case Letters(ranges, least, most):
            return f"[{ranges}]{{{least}}}" if least == most else f"[{ranges}]{{{least},{most or ''}}}"
        case Choice((word,)):
            return re.escape(word)
        case Choice(words):
            return "(?:" + "|".join(re.escape(word) for word in words) + ")"
        case _:
            assert_never(part)


def _sample(part: Part, chance: random.Random) -> str:
    if isinstance(part, Choice):
        return chance.choice(part.words)
    letters = re.sub(r"(.)-(.)", _span, part.ranges)
    return "".join(
        chance.choices(letters, k=chance.randint(part.least, min(part.most or _FAR, part.least + _MAX_MORE)))
    )


def _span(ends: re.Match[str]) -> str:
    return "".join(chr(code) for code in range(ord(ends[1]), ord(ends[2]) + 1))
