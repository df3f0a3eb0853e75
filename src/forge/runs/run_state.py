"""Derive the state of a run from its events, and follow a run."""

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime

import click

from forge.errors import ForgeError
from forge.events.models import Event, EventData, read_fact
from forge.runs.models import (
    EVENTS,
    Gate,
    GateAnswered,
    GateClosed,
    GateExpired,
    GateOpened,
    Problem,
    Progress,
    RunCancelled,
    RunCompleted,
    RunCreated,
    RunFailed,
    RunProgressed,
    RunResumed,
    RunStarted,
    RunStatus,
    RunWaiting,
    Step,
)
from forge.runs.step_history import fold_steps
from forge.terminal.client import Client


def fact_of(event: Event) -> EventData | None:
    return read_fact(event, EVENTS)


@dataclass
class RunState:
    title: str = ""
    status: RunStatus = RunStatus.PENDING
    progress: Progress | None = None
    outcome: str | None = None
    """Why the run completed without success."""
    waiting_for: str = ""
    gates: dict[str, Gate] = field(default_factory=dict[str, Gate])
    error: Problem | None = None
    began_at: datetime | None = None
    last_at: datetime | None = None
    events: list[Event] = field(default_factory=list[Event])

    def add(self, event: Event) -> None:
        self.events.append(event)
        self.began_at, self.last_at = self.began_at or event.at, event.at
        fact = fact_of(event)
        if fact is not None:
            self._note_run(fact)
            self._note_gate(fact)

    @property
    def has_succeeded(self) -> bool:
        return self.status is RunStatus.COMPLETED and self.outcome is None

    @property
    def steps(self) -> list[Step]:
        return fold_steps(self.events)

    def _note_run(self, fact: EventData) -> None:
        match fact:
            case RunCreated():
                self.title = fact.title
            case RunProgressed():
                self.progress = Progress(done=fact.done, total=fact.total, note=fact.note)
            case RunStarted() if self.status is not RunStatus.PENDING:
                pass  # another worker resumed it, possibly while it is still waiting
            case RunStarted() | RunResumed():
                self._become(RunStatus.RUNNING)
            case RunWaiting():
                self._become(RunStatus.WAITING, waiting_for=fact.reason)
            case RunCompleted():
                self._become(RunStatus.COMPLETED)
                self.outcome = fact.outcome
            case RunFailed():
                self._become(RunStatus.FAILED, error=fact.error)
            case RunCancelled():
                self._become(RunStatus.CANCELLED)
            case _:
                pass

    def _become(self, status: RunStatus, *, waiting_for: str = "", error: Problem | None = None) -> None:
        self.status, self.waiting_for, self.error = status, waiting_for, error
        if status.is_final:
            self.gates.clear()

    def _note_gate(self, fact: EventData) -> None:
        match fact:
            case GateOpened():
                self.gates[fact.gate.id] = fact.gate
            case GateAnswered() | GateExpired() | GateClosed():
                self.gates.pop(fact.gate_id, None)
            case _:
                pass


def report_lost(error: ForgeError) -> None:
    click.echo(f"{error.message} Reconnecting …", err=True)


def follow_run(
    client: Client,
    run_id: str,
    *,
    within_s: float | None = None,
    on_lost: Callable[[ForgeError], None] = report_lost,
) -> Generator[tuple[Event, RunState]]:
    """Yield the events of a run until it ends, each with the resulting state of the run."""
    state = RunState()
    with closing(client.follow(f"run:{run_id}", Event, within_s=within_s, on_lost=on_lost)) as events:
        for event in events:
            state.add(event)
            yield event, state
            if state.status.is_final:
                return
