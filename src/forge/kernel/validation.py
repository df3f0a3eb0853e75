"""Readable problems from pydantic's ValidationError."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError


@dataclass(frozen=True, slots=True)
class ValidationProblem:
    """One problem. `str()` gives `layers.1.name: Field required`, or the message alone if it is about the whole value."""

    path: tuple[int | str, ...]
    message: str
    kind: str
    """pydantic's error type: `missing`, `json_invalid`."""

    @property
    def where(self) -> str:
        return ".".join(map(str, self.path))

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.path else self.message


def validation_problems(error: ValidationError) -> list[ValidationProblem]:
    found = error.errors(include_url=False, include_input=False)
    return [ValidationProblem(problem["loc"], plain_message(problem), problem["type"]) for problem in found]


def first_problem(error: ValidationError) -> ValidationProblem:
    return validation_problems(error)[0]


def plain_message(problem: Mapping[str, Any]) -> str:
    """Return the message of our own validators without pydantic's prefix "Value error, "."""
    raised = problem.get("ctx", {}).get("error")
    return str(raised) if isinstance(raised, Exception) else problem["msg"]
