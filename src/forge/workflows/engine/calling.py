"""A step while it is being done: what its hand may ask of the run."""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from pydantic import JsonValue

from forge.events.models import EventData
from forge.kernel.clock import now
from forge.store.engine import Tx
from forge.workflows import steps_store
from forge.workflows.definition.models import Step
from forge.workflows.engine.hands import Begin
from forge.workflows.engine.linking import Links
from forge.workflows.engine.pace import Pace
from forge.workflows.engine.rows import StepRow
from forge.workflows.expressions.marks import SecretMarks
from forge.workflows.models import LogLine, StepStatus, WorkflowStepLogged, WorkflowStepMoved


@dataclass(frozen=True)
class RunFacts:
    """What every step of a run knows of it."""

    run_id: str
    account_id: str
    workflow_id: str
    workflow_name: str
    depth: int


Write = Callable[[StepRow, tuple[EventData, ...]], Awaitable[None]]
Kept = Callable[[Tx], Awaitable[tuple[StepRow, JsonValue]]]
Fenced = Callable[[Kept], Awaitable[JsonValue]]


@dataclass
class LiveCall:
    facts: RunFacts
    step: Step
    row: StepRow
    """As it is known so far; changes with what happens."""
    pace: Pace
    write: Write
    fenced: Fenced
    secrets: SecretMarks
    links: Links = field(default_factory=Links)
    works: bool = True
    waited_s: float = 0.0
    timer: asyncio.Timeout | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def account_id(self) -> str:
        return self.facts.account_id

    @property
    def run_id(self) -> str:
        return self.facts.run_id

    @property
    def workflow_id(self) -> str:
        return self.facts.workflow_id

    @property
    def workflow_name(self) -> str:
        return self.facts.workflow_name

    @property
    def depth(self) -> int:
        return self.facts.depth

    @property
    def step_id(self) -> str:
        return self.row.summary.step

    @property
    def key(self) -> str:
        return self.row.key

    @property
    def attempt(self) -> int:
        return self.row.summary.attempt

    @property
    def started_at(self) -> datetime:
        return self.row.summary.started_at or now()

    @property
    def idempotency_key(self) -> str:
        return f"{self.run_id}:{self.key}:{self.attempt}"

    async def begin(self, function: Begin) -> JsonValue:
        """Alone: what else is written of the step at this moment would not know of it yet, and undo it."""
        async with self._lock:
            if self.row.ticket is None:
                self.row = replace(self.row, ticket=await self.fenced(self._once(function)))
            return self.row.ticket

    def _once(self, function: Begin) -> Kept:
        async def kept(tx: Tx) -> tuple[StepRow, JsonValue]:
            known = (await steps_store.load(tx, self.run_id, [self.key])).get(self.key)
            if known is not None and known.ticket is not None:
                return known, known.ticket  # committed, and the database went before it could say so
            ticket = await function(tx)
            return replace(self.row, ticket=ticket), ticket

        return kept

    @asynccontextmanager
    async def waits(self, note: str, until: datetime | None = None) -> AsyncGenerator[None]:
        left, began = self._stop_timer(), time.monotonic()
        await self._move(status=StepStatus.WAITING, note=note)
        with self.pace.waiting(until, works=self.works):
            try:
                yield
            finally:
                self.waited_s += time.monotonic() - began
                self._start_timer(left)
        await self._move(status=StepStatus.RUNNING, note="")

    async def link(self, run_id: str) -> None:
        self.links.add(self.key, run_id)
        if self.row.summary.linked_run_id != run_id:
            await self._move(linked_run_id=run_id)

    async def log(self, *lines: LogLine) -> None:
        async with self._lock:
            before = len(self.row.logs)
            self.row = self.row.logged(*lines)
            kept = list(self.row.logs[before:])
            if kept:
                await self.write(self.row, (WorkflowStepLogged(key=self.key, lines=kept),))

    async def tell_start(self) -> None:
        """That it has begun, for those who watch."""
        await self._move()

    async def _move(self, **changes: Any) -> None:
        async with self._lock:
            self.row = self.row.moved(**changes)
            await self.write(self.row, (WorkflowStepMoved(step=self.row.summary),))

    def _stop_timer(self) -> float | None:
        if self.timer is None or (when := self.timer.when()) is None:
            return None
        self.timer.reschedule(None)
        return when - asyncio.get_running_loop().time()

    def _start_timer(self, left: float | None) -> None:
        if self.timer is not None and left is not None and not self.timer.expired():
            self.timer.reschedule(asyncio.get_running_loop().time() + left)


def begun(row: StepRow) -> StepRow:
    """Under way, from now or from when it was."""
    changes: dict[str, Any] = {"status": StepStatus.RUNNING, "note": "", "error": None}
    if row.summary.started_at is None:
        changes["started_at"] = now()
    return row.moved(**changes)
