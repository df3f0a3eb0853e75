"""What an expression refers to: each path that is written out, and the variable that stands for it."""

from dataclasses import dataclass
from enum import StrEnum

Path = tuple[str | int, ...]


class Use(StrEnum):
    VALUE = "v"
    OR_NULL = "o"
    """Null when it is missing."""
    IS_THERE = "h"
    RANGE = "r"
    """Gone through: of a map its keys, in their order."""


@dataclass
class Slot:
    """A path of the expression, and the variable that stands for it."""

    name: str
    path: Path
    use: Use
    column: int
    count: int = 0


@dataclass(frozen=True)
class Parsed:
    source: str
    """In CEL, with a variable for each slot."""
    slots: tuple[Slot, ...]
    functions: frozenset[str]

    @property
    def only(self) -> Slot | None:
        """The slot that is all there is."""
        return next((slot for slot in self.slots if slot.name == self.source and slot.use is Use.VALUE), None)


def spelled(path: Path) -> str:
    """As a person would write it."""
    first, *others = path
    return str(first) + "".join(map(_segment, others))


def _segment(segment: str | int) -> str:
    if isinstance(segment, str) and segment.replace("-", "_").isidentifier():
        return f".{segment}"
    return f"[{segment!r}]"
