"""What reading a file gives: a value, or what is wrong with the file, or a value with warnings."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from forge.bots.models import FileProblem

T = TypeVar("T")

MOST_PROBLEMS = 50
"""Of one file: nobody reads more, and a file of nothing but mistakes must not become a page of them."""


@dataclass(frozen=True)
class Parsed(Generic[T]):
    value: T | None
    """None when the file cannot be used as it is."""
    problems: list[FileProblem] = field(default_factory=list[FileProblem])


def parsed(value: T | None, problems: Iterable[FileProblem]) -> Parsed[T]:
    """Problems by place, mistakes first; with a mistake there is no value."""
    by_place = sorted(
        problems, key=lambda problem: (problem.is_warning, problem.line or 0, problem.column or 0)
    )
    is_usable = not any(not problem.is_warning for problem in by_place)
    return Parsed(value if is_usable else None, by_place[:MOST_PROBLEMS])
