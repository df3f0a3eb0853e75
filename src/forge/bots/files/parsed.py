"""The result of parsing a file: a value, or its problems, or a value with warnings."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from forge.bots.models import BotFile, FileProblem
from forge.documents.problems import Problem

T = TypeVar("T")

PATTERN_HINTS = {
    "colour": "Write six hexadecimal digits in lower case after a #, in quotes: `'#e2703a'`.",
    "skill_name": "Use lower-case letters, digits and single hyphens, such as `release-notes`.",
}
"""Hints for fields with a pattern."""
MAX_PROBLEMS = 50
"""Limit for one file, so that a broken file does not produce thousands of problems."""


@dataclass(frozen=True)
class Parsed(Generic[T]):
    value: T | None
    """None if the file has errors."""
    problems: list[FileProblem] = field(default_factory=list[FileProblem])


def parse_result(file: BotFile, value: T | None, problems: Iterable[Problem]) -> Parsed[T]:
    """Sort problems, errors first. With an error there is no value."""
    ordered = sorted(problems, key=lambda problem: (problem.is_warning, problem.line, problem.column))
    is_usable = not any(not problem.is_warning for problem in ordered)
    reported = [to_file_problem(file, problem) for problem in ordered[:MAX_PROBLEMS]]
    return Parsed(value if is_usable else None, reported)


def to_file_problem(file: BotFile, problem: Problem) -> FileProblem:
    return FileProblem(
        file=file,
        line=problem.line,
        column=problem.column,
        message=problem.message,
        hint=problem.hint,
        is_warning=problem.is_warning,
    )
