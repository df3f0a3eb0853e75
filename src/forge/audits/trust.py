"""Whose signatures count. The keys and memories themselves are kept outside of every project, by `keys.py`."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Head:
    """The last entry of a chain of records that this machine has signed or seen."""

    count: int
    hash: str
    """Of the whole last line."""
    chain: str = ""
    """The id of the chain: another one in its place is a forgery, too."""


def _nothing() -> Mapping[str, Head]:
    return {}


@dataclass(frozen=True, slots=True)
class Trust:
    keys: frozenset[str] = frozenset()
    """Public keys (hex) of this machine and of those it trusts."""
    heads: Mapping[str, Head] = field(default_factory=_nothing)
    """By `seen_at`: an older head with a good signature is still a ledger cut short."""


def seen_at(file: str, branch: str | None, head: str | None) -> str:
    """Where in a project a chain was seen: each branch has its own, and so has a commit without a branch."""
    return f"{file}@{branch or head or ''}"
