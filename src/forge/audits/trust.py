"""Whose signatures count. The keys and memories themselves are kept outside of every project, by `keys.py`."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Head:
    """The last entry of a ledger that this machine has signed or seen."""

    count: int
    hash: str


def _nothing() -> Mapping[str, Head]:
    return {}


@dataclass(frozen=True, slots=True)
class Trust:
    keys: frozenset[str] = frozenset()
    """Public keys (hex) of this machine and of those it trusts."""
    heads: Mapping[str, Head] = field(default_factory=_nothing)
    """By the id of the ledger: an older head with a good signature is still a ledger cut short."""
