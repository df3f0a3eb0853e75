"""What reading a file gives: a value, or what is wrong with the file, or a value with warnings."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from forge.bots.models import BotFile, FileProblem
from forge.documents.problem import Problem

T = TypeVar("T")

PATTERN_HINTS = {
    "colour": "Write six hexadecimal digits in lower case after a #, in quotes: `'#e2703a'`.",
    "skill_name": "Use lower-case letters, digits and single hyphens, such as `release-notes`.",
}
"""How what has a pattern is written."""
MAX_PROBLEMS = 50
"""Of one file: nobody reads more, and a file of nothing but mistakes must not become a page of them."""


@dataclass(frozen=True)
class Parsed(Generic[T]):
    value: T | None
    """None when the file cannot be used as it is."""
    problems: list[FileProblem] = field(default_factory=list[FileProblem])


def parsed(file: BotFile, value: T | None, problems: Iterable[Problem]) -> Parsed[T]:
    """Problems by place, mistakes first; with a mistake there is no value."""
    by_place = sorted(problems, key=lambda problem: (problem.is_warning, problem.line, problem.column))
    is_usable = not any(not problem.is_warning for problem in by_place)
    told = [in_file(file, problem) for problem in by_place[:MAX_PROBLEMS]]
    return Parsed(value if is_usable else None, told)


def in_file(file: BotFile, problem: Problem) -> FileProblem:
    return FileProblem(
        file=file,
        line=problem.line,
        column=problem.column,
        message=problem.message,
        hint=problem.hint,
        is_warning=problem.is_warning,
    )
