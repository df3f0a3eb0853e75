"""The state that the steps of a run share."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import JsonValue

from forge.kernel.clock import now
from forge.runs.models import Problem
from forge.workflows.definition.models import Step
from forge.workflows.engine.activity import RunActivity
from forge.workflows.engine.self_correction import Correction
from forge.workflows.engine.step_executor import (
    LinkedRuns,
    RunFenced,
    RunInfo,
    StepCall,
    StepExecutors,
    WriteStep,
)
from forge.workflows.engine.step_store import StepRow
from forge.workflows.models import StepProblem, StepStatus


def mark_running(row: StepRow) -> StepRow:
    """Return the row as running; a start time that is set already is kept."""
    changes: dict[str, Any] = {"status": StepStatus.RUNNING, "note": "", "error": None}
    if row.summary.started_at is None:
        changes["started_at"] = now()
    return row.with_summary(**changes)


class CorrectInput(Protocol):
    """Ask a model to rewrite the input of a failed step."""

    def __call__(
        self,
        call: StepCall,
        step: Step,
        input_fields: dict[str, JsonValue],
        problem: Problem,
        *,
        attempt: int,
        of: int,
    ) -> Awaitable[Correction]: ...


class ScopeFailed(Exception):
    """A step failed and its scope with it. Never leaves the run."""

    def __init__(self, title: str, problem: StepProblem) -> None:
        super().__init__(problem.message)
        self.title = title
        self.problem = problem

    @classmethod
    def from_json(cls, stored: JsonValue) -> "ScopeFailed | None":
        match stored:
            case {"title": str(title), "problem": problem}:
                return cls(title, StepProblem.model_validate(problem))
            case _:
                return None

    def as_json(self) -> JsonValue:
        return {"title": self.title, "problem": self.problem.model_dump(mode="json")}


StoreFailure = Callable[[ScopeFailed], Awaitable[None]]
"""Store that the steps of the run have failed."""


MAX_STEP_RUNS = 10_000
"""Per run, counting each iteration of each loop."""


YIELD_EVERY = 50


@dataclass
class StepCounter:
    """Count and limit the steps that a run starts."""

    count: int = 0
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _admitted: int = field(default=0, init=False)

    async def yield_periodically(self) -> None:
        """Yield to the event loop regularly, so that a run that starts thousands of steps does not block the process."""
        async with self._lock:
            self._admitted += 1
            if self._admitted % YIELD_EVERY == 0:
                await asyncio.sleep(0)

    def add(self) -> None:
        self.count += 1
        if self.count > MAX_STEP_RUNS:
            message = f"The run exceeded {MAX_STEP_RUNS:,} steps, counting each iteration of loops."
            hint = "Reduce the iterations of a loop, or move some steps to another workflow."
            raise ScopeFailed("loops", StepProblem(code="too_many_steps", message=message, hint=hint))


@dataclass(frozen=True)
class ExecutionContext:
    facts: RunInfo
    step_executors: StepExecutors
    correct: CorrectInput
    activity: RunActivity
    write: WriteStep
    run_fenced: RunFenced
    stop_run: Callable[[str], Awaitable[None]]
    """Cancel a run that a step started, unless it has ended."""
    store_failure: StoreFailure
    failure: ScopeFailed | None = None
    """The failure stored by an earlier attempt of the run."""
    rows: Mapping[str, StepRow] = field(default_factory=dict[str, StepRow])
    """Steps stored by an earlier attempt of the run, by key."""
    step_counter: StepCounter = field(default_factory=StepCounter)
    linked_runs: LinkedRuns = field(default_factory=LinkedRuns)

    async def stop_runs_of(self, key: str) -> None:
        """Cancel the runs started by a step that failed or was interrupted."""
        for run_id in self.linked_runs.take(key):
            await self.stop_run(run_id)


Variables = Callable[[], dict[str, JsonValue]]
