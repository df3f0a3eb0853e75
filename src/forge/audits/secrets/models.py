"""The types of secret rules and hits."""

from dataclasses import dataclass
from enum import IntEnum


class Rank(IntEnum):
    """The precedence of rules that match the same characters."""

    GENERIC = 0
    STRUCTURE = 1
    """Found in a place for secrets, such as a URL with a password or an authorization header."""
    VENDOR = 2
    """Identified by the vendor's name before it."""
    TOKEN = 3
    """Identified by its own format."""


@dataclass(frozen=True, slots=True)
class Rule:
    id: str
    kind: str
    """The display name, such as "GitHub token"."""
    pattern: str
    """An RE2 expression whose first group is the secret."""
    starts: tuple[str, ...]
    """Every match contains one of these; they are searched first."""
    samples: tuple[str, ...]
    """Example lines as shapes (see `shapes.py`), so that the source contains no complete token."""
    lead: str = ""
    """A cheap pattern for a part of every match; defaults to `starts`."""
    rank: Rank = Rank.TOKEN
    floor: float = 2.5
    """Minimum entropy in bits per character; below it is a placeholder."""
    surprise: float = 0.0
    """Minimum surprisal per character pair; below it is a name."""
    is_bounded: bool = False
    """Whether no letter or digit may precede the lead."""
    harmless: tuple[str, ...] = ()
    """Example lines, as shapes, that must not match."""


@dataclass(frozen=True, slots=True)
class Vendor:
    """A vendor whose secrets have no specific format and are identified by their name."""

    id: str
    kind: str
    words: tuple[str, ...]
    """The name contains one of these, in lower case and without `_`, `-` and `.`."""
    shapes: tuple[str, ...]
    """The formats of the value, as shapes (see `shapes.py`)."""


@dataclass(frozen=True, slots=True)
class Hit:
    """The position of a secret in a text."""

    rule: str
    kind: str
    rank: Rank
    start: int
    end: int
