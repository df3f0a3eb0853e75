"""`forge doctor --deep`: start a self-test run on the server, follow it live, and check its events."""

from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from forge.errors import ForgeError
from forge.events.models import Event, EventData
from forge.runs.models import (
    FINAL,
    Gate,
    GateAnswered,
    GateOpened,
    Run,
    RunCreated,
    RunDetail,
    RunProgressed,
    RunResumed,
    RunStatus,
    RunWaiting,
    StepFinished,
    StepStarted,
)
from forge.runs.run_state import RunState, fact_of
from forge.server.checks.check import Check, bad, ok
from forge.terminal.client import Client

TIMEOUT_S = 120.0
ANSWER = "yes"
NEW_RUN = {"kind": "self_test", "input": {"ask": True, "child": True, "step_ms": 200}}
"""The steps are long enough to overlap visibly on a busy machine."""
_SEE_LOG = "See the server's log in logs/ of its data directory."

ReportProgress = Callable[[str], None]


T = TypeVar("T", bound=EventData)

_DEFECT = "This is a bug in Forge: report it with the server's log."


@dataclass(frozen=True)
class Observation:
    live: list[Event]
    """As received over the WebSocket."""
    stored: list[Event]
    """As stored in the event log."""
    detail: RunDetail

    def facts(self, kind: type[T]) -> Iterator[tuple[datetime, T]]:
        for event in self.live:
            fact = fact_of(event)
            if isinstance(fact, kind):
                yield event.at, fact

    def wait(self, reason: str) -> timedelta | None:
        """Return how long the run waited for this reason; None if it did not wait or never resumed."""
        began = next((at for at, fact in self.facts(RunWaiting) if fact.reason == reason), None)
        ends = [at for at, _ in self.facts(RunResumed)]
        return next((at - began for at in ends if at >= began), None) if began else None


def check_observation(observation: Observation) -> list[Check]:
    return [check(observation) for check in CHECKS]


def _steps(observation: Observation) -> Check:
    done = [
        fact for _, fact in observation.facts(StepFinished) if fact.name == "single" and fact.outcome == "ok"
    ]
    if len(done) != 1:
        return bad("steps", f"a step finished {len(done)} times instead of once", _DEFECT)
    return ok("steps", "a step ran once", took=timedelta(milliseconds=done[0].duration_ms))


def _parallel(observation: Observation) -> Check:
    started = [at for at, fact in observation.facts(StepStarted) if fact.name.startswith("branch")]
    ended = [at for at, fact in observation.facts(StepFinished) if fact.name.startswith("branch")]
    if not started or len(started) != len(ended):
        return bad("parallel", f"{len(started)} steps started, {len(ended)} ended", _DEFECT)
    if max(started) > min(ended):
        return bad("parallel", f"{len(started)} steps ran one after the other", _DEFECT)
    return ok("parallel", f"{len(started)} steps ran in parallel", took=max(ended) - min(started))


def _retry(observation: Observation) -> Check:
    attempts = [(at, fact) for at, fact in observation.facts(StepFinished) if fact.name == "flaky"]
    if [fact.outcome for _, fact in attempts] != ["error", "ok"]:
        return bad("retry", f"a step that fails once was attempted {len(attempts)} times", _DEFECT)
    return ok("retry", "a failed step was retried", took=attempts[1][0] - attempts[0][0])


def _sleep(observation: Observation) -> Check:
    slept = observation.wait("sleep")
    if slept is None:
        return bad("sleep", "the run did not sleep and wake up", _DEFECT)
    return ok("sleep", "the run slept and woke up", took=slept)


def _child(observation: Observation) -> Check:
    waited, children = observation.wait("child"), observation.detail.children
    if waited is None or [child.status for child in children] != [RunStatus.COMPLETED]:
        found = ", ".join(child.status for child in children) or "none"
        return bad("child", f"the child run did not complete (found: {found})", _DEFECT)
    return ok("child", "a child run completed", took=waited)


def _gate(observation: Observation) -> Check:
    opened = [at for at, _ in observation.facts(GateOpened)]
    answered = [at for at, _ in observation.facts(GateAnswered)]
    waited = observation.wait("gate")
    if len(opened) != 1 or len(answered) != 1 or waited is None:
        return bad("gate", "a gate was not opened and answered exactly once", _DEFECT)
    return ok("gate", "a gate was opened and answered", took=waited)


def _events(observation: Observation) -> Check:
    numbers = [event.seq for event in observation.live]
    if numbers != list(range(1, len(numbers) + 1)):
        return bad("events", f"received with gaps or out of order: {numbers}", _DEFECT)
    if observation.stored != observation.live:
        return bad("events", "the live events differ from the log", _DEFECT)
    return ok("events", f"{len(numbers)} received live, in order and without gaps")


def _run(observation: Observation) -> Check:
    run = observation.detail.run
    created = next((at for at, _ in observation.facts(RunCreated)), None)
    if run.status is not RunStatus.COMPLETED or created is None:
        why = run.error.message if run.error else "no reason given"
        return bad("self-test", f"{run.status}: {why}", _DEFECT)
    return ok("self-test", "completed", took=observation.live[-1].at - created)


CHECKS: tuple[Callable[[Observation], Check], ...] = (
    _steps,
    _parallel,
    _retry,
    _sleep,
    _child,
    _gate,
    _events,
    _run,
)


def run_self_test(client: Client | None, report: ReportProgress) -> list[Check]:
    if client is None:
        return [bad("self-test", "needs a running server", "Start it: forge serve")]
    try:
        return check_observation(_run_and_observe(client, report))
    except ForgeError as error:
        return [bad("self-test", error.message, error.hint or _SEE_LOG)]


def _run_and_observe(client: Client, report: ReportProgress) -> Observation:
    run = client.post("/runs", Run, NEW_RUN)
    try:
        live = _follow(client, run.id, report)
    except ForgeError:
        with suppress(ForgeError):  # otherwise it would wait an hour for an answer
            client.post(f"/runs/{run.id}/cancel", Run)
        raise
    stored = client.get("/events", list[Event], {"stream": f"run:{run.id}"})
    return Observation(live, stored, client.get(f"/runs/{run.id}", RunDetail))


def _follow(client: Client, run_id: str, report: ReportProgress) -> list[Event]:
    watched = RunState()
    with closing(client.follow(f"run:{run_id}", Event, within_s=TIMEOUT_S)) as events:
        for event in events:
            watched.add(event)
            fact = fact_of(event)
            if isinstance(fact, GateOpened):
                _answer(client, fact.gate)
            elif isinstance(fact, RunProgressed):
                report(f"Self-test {fact.done}/{fact.total} {fact.note}")
            if watched.status in FINAL:
                break
    return watched.events


def _answer(client: Client, gate: Gate) -> None:
    client.post(f"/gates/{gate.id}/answer", Gate, {"option": ANSWER, "shown_hash": gate.shown_hash})
