"""What all steps of one run stand on."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import JsonValue

from forge.runs.models import Problem
from forge.workflows.correcting import Correction
from forge.workflows.definition.models import Step
from forge.workflows.engine.calling import Fenced, RunFacts, Write
from forge.workflows.engine.hands import Hands, StepCall
from forge.workflows.engine.pace import Pace
from forge.workflows.engine.rows import StepRow

Stop = Callable[[str], Awaitable[None]]
"""Cancels a run that a step began, if it has not ended."""


class Correct(Protocol):
    """A model that rewrites what went into a step that failed."""

    def __call__(
        self,
        call: StepCall,
        step: Step,
        given: dict[str, JsonValue],
        problem: Problem,
        *,
        attempt: int,
        of: int,
    ) -> Awaitable[Correction]: ...


@dataclass(frozen=True)
class Ground:
    facts: RunFacts
    hands: Hands
    correct: Correct
    pace: Pace
    write: Write
    fenced: Fenced
    stop: Stop
    rows: Mapping[str, StepRow] = field(default_factory=dict[str, StepRow])
    """Of an earlier attempt of the run, by key."""


Variables = Callable[[], dict[str, JsonValue]]


class ScopeFailed(Exception):
    """A step failed and takes its scope along. Raised and caught inside one run."""

    def __init__(self, title: str, problem: Problem) -> None:
        super().__init__(problem.message)
        self.title = title
        self.problem = problem
