"""A need: a package that a file imports and that nobody has declared for it."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from forge.audits.dependencies.manifests.discovery import View


class Standing(IntEnum):
    """How bad it is, the worst first."""

    UNDECLARED = 0
    UNSURE = 1
    """Undeclared by that name, and something is declared that may well bring it."""
    DEV_ONLY = 2
    """Declared for development, and imported by what users run."""
    TYPES_ONLY = 3
    """Undeclared, and imported for type checkers only."""


@dataclass(frozen=True, slots=True)
class Need:
    path: str
    line: int
    label: str
    """As imported: `google.cloud.storage`, `@scope/name`."""
    package: str
    """What to declare."""
    standing: Standing
    view: View
    is_python: bool
    is_known: bool = True
    """`package` is more than a guess."""
    declared: str | None = None
    """What is declared, but not for this, or not for sure."""


def worst_of(needs: Iterable[Need]) -> list[Need]:
    """One per package of a file: the worst of them, where it is first."""
    kept: dict[str, Need] = {}
    for need in needs:
        known = kept.get(need.label)
        if known is None or need.standing < known.standing:
            kept[need.label] = need
    return list(kept.values())
