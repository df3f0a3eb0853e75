"""Track whether a run works or waits, limit its working time and its parallel steps."""

import asyncio
import time
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime, timedelta

from forge.runs.context import RunContext
from forge.runs.models import RunStatus
from forge.workflows.definition.models import StepType
from forge.workflows.engine.step_store import StepRow

SETTLE_S = 0.05
"""Shorter pauses are not shown as waiting, because the next step is about to start."""
PASSIVE_STEPS = frozenset(
    {StepType.APPROVAL, StepType.WAIT, StepType.LOOP, StepType.SUB_WORKFLOW, StepType.CONDITIONAL}
)
"""Steps that only wait; they take no slot and no working time."""


class RunActivity:
    def __init__(self, limit_s: float, spent_s: float, at_a_time: int) -> None:
        self._limit_s = limit_s
        self._spent_s = spent_s
        self._since = 0.0
        self._working = 0
        self._waiting: list[datetime | None] = []
        self._slots = asyncio.Semaphore(at_a_time)
        self._changed = asyncio.Event()
        self._is_shown_waiting = False

    @asynccontextmanager
    async def work(self) -> AsyncGenerator[None]:
        """Count as working while the context is open. Waits for a free slot first."""
        async with self._slots:
            self._begin()
            try:
                yield
            finally:
                self._end()

    @contextmanager
    def waiting(self, until: datetime | None, *, counts_as_work: bool) -> Generator[None]:
        """Count as waiting while the context is open. `counts_as_work`: the caller is inside `work()`, which is suspended."""
        self._waiting.append(until)
        if counts_as_work:
            self._end()
        self._changed.set()
        try:
            yield
        finally:
            if counts_as_work:
                self._begin()
            self._waiting.remove(until)
            self._is_shown_waiting = False  # answering a gate has set the run's status to running
            self._changed.set()

    @property
    def remaining_s(self) -> float:
        """The remaining working time."""
        running = time.monotonic() - self._since if self._working else 0.0
        return self._limit_s - self._spent_s - running

    async def track_status(self, context: RunContext) -> None:
        """Keep the run's status up to date until cancelled: waiting while no step works."""
        if context.run.status is RunStatus.WAITING:
            await context.mark_running()
        while True:
            await self._changed.wait()
            await asyncio.sleep(SETTLE_S)
            self._changed.clear()
            is_waiting = not self._working and bool(self._waiting)
            if is_waiting == self._is_shown_waiting:
                continue
            self._is_shown_waiting = is_waiting
            if is_waiting:
                await context.mark_waiting(min(filter(None, self._waiting), default=None))
            else:
                await context.mark_running()

    def _begin(self) -> None:
        if not self._working:
            self._since = time.monotonic()
        self._working += 1
        if self._is_shown_waiting:
            self._changed.set()

    def _end(self) -> None:
        self._working -= 1
        if not self._working:
            self._spent_s += time.monotonic() - self._since
            self._changed.set()


def working_time_s(steps: Iterable[StepRow]) -> float:
    """Return the working time of the stored steps; overlapping attempts are counted once."""
    times = sorted(
        (
            attempt.started_at,
            attempt.started_at + timedelta(milliseconds=attempt.duration_ms - attempt.waited_ms),
        )
        for step in steps
        if step.summary.type not in PASSIVE_STEPS and not step.summary.is_kept
        for attempt in step.attempts
        if attempt.duration_ms is not None
    )
    total, reached = 0.0, None
    for began, ended in times:
        start = began if reached is None or began > reached else reached
        if ended > start:
            total += (ended - start).total_seconds()
            reached = ended
    return total
