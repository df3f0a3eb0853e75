"""What is known of a run from the events seen so far: a fold over its stream."""

from dataclasses import dataclass, field
from datetime import datetime

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
from forge.runs.steps import fold_steps


def fact_of(event: Event) -> EventData | None:
    return read_fact(event, EVENTS)


@dataclass
class Watched:
    title: str = ""
    status: RunStatus = RunStatus.PENDING
    progress: Progress | None = None
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
    def steps(self) -> list[Step]:
        return fold_steps(self.events)

    def _note_run(self, fact: EventData) -> None:
        match fact:
            case RunCreated():
                self.title = fact.title
            case RunProgressed():
                self.progress = Progress(done=fact.done, total=fact.total, note=fact.note)
            case RunStarted() if self.status is not RunStatus.PENDING:
                pass  # another worker took it up where it was, perhaps still waiting
            case RunStarted() | RunResumed():
                self._become(RunStatus.RUNNING)
            case RunWaiting():
                self._become(RunStatus.WAITING, waiting_for=fact.reason)
            case RunCompleted():
                self._become(RunStatus.COMPLETED)
            case RunFailed():
                self._become(RunStatus.FAILED, error=fact.error)
            case RunCancelled():
                self._become(RunStatus.CANCELLED)
            case _:
                pass

    def _become(self, status: RunStatus, *, waiting_for: str = "", error: Problem | None = None) -> None:
        self.status, self.waiting_for, self.error = status, waiting_for, error
        if status.is_final:
            self.gates.clear()  # nobody waits for an answer any more

    def _note_gate(self, fact: EventData) -> None:
        match fact:
            case GateOpened():
                self.gates[fact.gate.id] = fact.gate
            case GateAnswered() | GateExpired() | GateClosed():
                self.gates.pop(fact.gate_id, None)
            case _:
                pass
