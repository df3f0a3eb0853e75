"""Derive the steps of a run from its events; there is no other record of them."""

from collections.abc import Iterable

from forge.events.models import Event
from forge.runs.models import (
    RunCancelled,
    RunFailed,
    Step,
    StepFinished,
    StepStarted,
    StepStatus,
)

FOLDED = (StepStarted.type, StepFinished.type, RunCancelled.type, RunFailed.type)
"""Event types that define steps."""
_OPEN = (StepStatus.RUNNING, StepStatus.RETRYING)


def fold_steps(events: Iterable[Event]) -> list[Step]:
    steps: dict[int, Step] = {}
    for event in events:
        if event.type == StepStarted.type:
            _start(steps, event, StepStarted.model_validate(event.data))
        elif event.type == StepFinished.type:
            _finish(steps, StepFinished.model_validate(event.data))
        elif event.type in (RunCancelled.type, RunFailed.type):
            for number, step in steps.items():
                if step.status in _OPEN:
                    steps[number] = step.model_copy(update={"status": StepStatus.CANCELLED})
    return [steps[number] for number in sorted(steps)]


def _start(steps: dict[int, Step], event: Event, fact: StepStarted) -> None:
    before = steps.get(fact.step)
    steps[fact.step] = Step(
        number=fact.step,
        name=fact.name,
        status=StepStatus.RUNNING,
        attempt=fact.attempt,
        started_at=before.started_at if before else event.at,
    )


def _finish(steps: dict[int, Step], fact: StepFinished) -> None:
    if fact.outcome == "ok":
        status = StepStatus.COMPLETED
    else:
        status = StepStatus.RETRYING if fact.retry_in_s is not None else StepStatus.FAILED
    change = {"status": status, "duration_ms": fact.duration_ms, "error": fact.error}
    steps[fact.step] = steps[fact.step].model_copy(update=change)
