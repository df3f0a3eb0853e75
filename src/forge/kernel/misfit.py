"""What is wrong with a value that does not fit its model, in words for people."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError


@dataclass(frozen=True, slots=True)
class Misfit:
    """As text `layers.1.name: Field required`, or the message alone when it is about the whole."""

    path: tuple[int | str, ...]
    message: str
    kind: str
    """What pydantic calls this mistake: `missing`, `json_invalid`."""

    @property
    def where(self) -> str:
        return ".".join(map(str, self.path))

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.path else self.message


def misfits(error: ValidationError) -> list[Misfit]:
    found = error.errors(include_url=False, include_input=False)
    return [Misfit(problem["loc"], plain_message(problem), problem["type"]) for problem in found]


def first_misfit(error: ValidationError) -> Misfit:
    return misfits(error)[0]


def plain_message(problem: Mapping[str, Any]) -> str:
    """What a validator of ours said is told as it said it: pydantic puts "Value error, " before it."""
    raised = problem.get("ctx", {}).get("error")
    return str(raised) if isinstance(raised, Exception) else problem["msg"]
