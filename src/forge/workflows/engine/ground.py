"""What all steps of one run stand on."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from pydantic import JsonValue

from forge.runs.models import Problem
from forge.workflows.correcting import Correction
from forge.workflows.definition.models import Step
from forge.workflows.engine.calling import Fenced, RunFacts, Write
from forge.workflows.engine.hands import Hands, StepCall
from forge.workflows.engine.linking import Links
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


class ScopeFailed(Exception):
    """A step failed and takes its scope along. Raised and caught inside one run."""

    def __init__(self, title: str, problem: Problem) -> None:
        super().__init__(problem.message)
        self.title = title
        self.problem = problem

    @classmethod
    def of(cls, kept: JsonValue) -> "ScopeFailed | None":
        match kept:
            case {"title": str(title), "problem": problem}:
                return cls(title, Problem.model_validate(problem))
            case _:
                return None

    def kept(self) -> JsonValue:
        return {"title": self.title, "problem": self.problem.model_dump(mode="json")}


Keep = Callable[[ScopeFailed], Awaitable[None]]
"""Writes down that the steps of the run have failed."""


MAX_STEP_RUNS = 10_000
"""Of one run, iterations of loops in loops included."""


AT_ONCE = 50


@dataclass
class Tally:
    """How many steps a run has begun."""

    begun: int = 0
    _room: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _let_in: int = field(default=0, init=False)

    async def take_turn(self) -> None:
        """Of thousands of steps that could begin at once a few do at a time: whoever else is served by this process gets
        their turn in between."""
        async with self._room:
            self._let_in += 1
            if self._let_in % AT_ONCE == 0:
                await asyncio.sleep(0)

    def add(self) -> None:
        self.begun += 1
        if self.begun > MAX_STEP_RUNS:
            message = f"A run does {MAX_STEP_RUNS:,} steps at most, those of loops counted each time."
            hint = "Let a loop do less, or leave a part of it to another workflow."
            raise ScopeFailed("loops", Problem(code="too_many_steps", message=message, hint=hint))


@dataclass(frozen=True)
class Ground:
    facts: RunFacts
    hands: Hands
    correct: Correct
    pace: Pace
    write: Write
    fenced: Fenced
    stop: Stop
    keep: Keep
    failure: ScopeFailed | None = None
    """Of an earlier attempt of the run: its steps had failed."""
    rows: Mapping[str, StepRow] = field(default_factory=dict[str, StepRow])
    """Of an earlier attempt of the run, by key."""
    tally: Tally = field(default_factory=Tally)
    links: Links = field(default_factory=Links)

    async def stop_runs_of(self, key: str) -> None:
        """What a step that failed, or did not come to its end, has begun."""
        for run_id in self.links.take(key):
            await self.stop(run_id)


Variables = Callable[[], dict[str, JsonValue]]
