"""What a kind of secret is, and where one was found."""

from dataclasses import dataclass
from enum import IntEnum


class Rank(IntEnum):
    """Of two rules that see the same characters the higher one speaks: it knows more."""

    GENERIC = 0
    STRUCTURE = 1
    """A place where secrets are: a URL with a password, an authorization header."""
    VENDOR = 2
    """A name in front of it says whose it is."""
    TOKEN = 3
    """Its own shape says whose it is."""


@dataclass(frozen=True, slots=True)
class Rule:
    id: str
    kind: str
    """What a person calls it: "GitHub token"."""
    pattern: str
    """RE2. The first group is the secret."""
    starts: tuple[str, ...]
    """Every match contains one of these, in this case: what is looked for first."""
    samples: tuple[str, ...]
    """Lines in the language of `shapes.py` with such a secret in them. Whole tokens are never written down."""
    lead: str = ""
    """A cheaper pattern for a part of every match; the starts, where nothing better is given."""
    rank: Rank = Rank.TOKEN
    floor: float = 2.5
    """Bits per character below which it is a placeholder."""
    surprise: float = 0.0
    """Bits per pair of neighbours below which it is a name."""
    is_bounded: bool = False
    """Nothing that is a letter or digit may stand before the lead."""
    harmless: tuple[str, ...] = ()
    """Lines, in the same language, that look like one and are none."""


@dataclass(frozen=True, slots=True)
class Vendor:
    """Secrets without a shape of their own: only the name they are given tells what they are."""

    id: str
    kind: str
    words: tuple[str, ...]
    """One of them is part of the name, in lower case and without `_`, `-` and `.`."""
    shapes: tuple[str, ...]
    """What the value looks like, in the language of `shapes.py`."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A secret within one text."""

    rule: str
    kind: str
    rank: Rank
    start: int
    end: int
