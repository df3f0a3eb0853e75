"""What a self-test's events prove, mechanism by mechanism."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from forge.events.models import Event, EventData
from forge.runs.models import (
    GateAnswered,
    GateOpened,
    RunCreated,
    RunDetail,
    RunResumed,
    RunStatus,
    RunWaiting,
    StepFinished,
    StepStarted,
)
from forge.runs.watched import fact_of
from forge.server.checks.check import Check, bad, ok

T = TypeVar("T", bound=EventData)

_DEFECT = "This is a defect of Forge: report it with the server's log."


@dataclass(frozen=True)
class Story:
    live: list[Event]
    """As they came over the WebSocket."""
    stored: list[Event]
    """As the log has them."""
    detail: RunDetail

    def facts(self, kind: type[T]) -> Iterator[tuple[datetime, T]]:
        for event in self.live:
            fact = fact_of(event)
            if isinstance(fact, kind):
                yield event.at, fact

    def wait(self, reason: str) -> timedelta | None:
        """How long the run waited for this; None when it did not, or never went on."""
        began = next((at for at, fact in self.facts(RunWaiting) if fact.reason == reason), None)
        ends = [at for at, _ in self.facts(RunResumed)]
        return next((at - began for at in ends if at >= began), None) if began else None


def judge(story: Story) -> list[Check]:
    return [test(story) for test in TESTS]


def _steps(story: Story) -> Check:
    done = [fact for _, fact in story.facts(StepFinished) if fact.name == "single" and fact.outcome == "ok"]
    if len(done) != 1:
        return bad("steps", f"a step was finished {len(done)} times instead of once", _DEFECT)
    return ok("steps", "a step ran once", took=timedelta(milliseconds=done[0].duration_ms))


def _parallel(story: Story) -> Check:
    started = [at for at, fact in story.facts(StepStarted) if fact.name.startswith("branch")]
    ended = [at for at, fact in story.facts(StepFinished) if fact.name.startswith("branch")]
    if not started or len(started) != len(ended):
        return bad("parallel", f"{len(started)} steps began, {len(ended)} ended", _DEFECT)
    if max(started) > min(ended):
        return bad("parallel", f"{len(started)} steps ran one after the other", _DEFECT)
    return ok("parallel", f"{len(started)} steps ran side by side", took=max(ended) - min(started))


def _retry(story: Story) -> Check:
    tries = [(at, fact) for at, fact in story.facts(StepFinished) if fact.name == "flaky"]
    if [fact.outcome for _, fact in tries] != ["error", "ok"]:
        return bad("retry", f"a step that fails once was tried {len(tries)} times", _DEFECT)
    return ok("retry", "a step that failed was tried again", took=tries[1][0] - tries[0][0])


def _sleep(story: Story) -> Check:
    slept = story.wait("sleep")
    if slept is None:
        return bad("sleep", "the run did not sleep and wake up", _DEFECT)
    return ok("sleep", "the run slept and woke up", took=slept)


def _child(story: Story) -> Check:
    waited, children = story.wait("child"), story.detail.children
    if waited is None or [child.status for child in children] != [RunStatus.COMPLETED]:
        found = ", ".join(child.status for child in children) or "none"
        return bad("child", f"the run below this one did not complete (found: {found})", _DEFECT)
    return ok("child", "a run below this one completed", took=waited)


def _gate(story: Story) -> Check:
    opened = [at for at, _ in story.facts(GateOpened)]
    answered = [at for at, _ in story.facts(GateAnswered)]
    waited = story.wait("gate")
    if len(opened) != 1 or len(answered) != 1 or waited is None:
        return bad("gate", "a question was not asked and answered once", _DEFECT)
    return ok("gate", "a question was asked, and its answer came back", took=waited)


def _events(story: Story) -> Check:
    numbers = [event.seq for event in story.live]
    if numbers != list(range(1, len(numbers) + 1)):
        return bad("events", f"they came with gaps or out of order: {numbers}", _DEFECT)
    if story.stored != story.live:
        return bad("events", "what came live is not what the log has", _DEFECT)
    return ok("events", f"{len(numbers)} came live, in order and without a gap")


def _run(story: Story) -> Check:
    run = story.detail.run
    created = next((at for at, _ in story.facts(RunCreated)), None)
    if run.status is not RunStatus.COMPLETED or created is None:
        why = run.error.message if run.error else "no reason given"
        return bad("self-test", f"{run.status}: {why}", _DEFECT)
    return ok("self-test", "completed", took=story.live[-1].at - created)


TESTS: tuple[Callable[[Story], Check], ...] = (
    _steps,
    _parallel,
    _retry,
    _sleep,
    _child,
    _gate,
    _events,
    _run,
)
