"""How busy a run is: whether it works or waits, how long it has worked, how much it does at a time."""

import asyncio
import time
from collections.abc import AsyncGenerator, Generator, Iterable
from contextlib import asynccontextmanager, contextmanager
from datetime import datetime, timedelta

from forge.runs.context import RunContext
from forge.runs.models import RunStatus
from forge.workflows.definition.models import StepType
from forge.workflows.engine.rows import StepRow

SETTLE_S = 0.05
"""A run that has nothing to do for less than this does not count as waiting: the next step is about to begin."""
RESTING = frozenset(
    {StepType.APPROVAL, StepType.WAIT, StepType.LOOP, StepType.SUB_WORKFLOW, StepType.CONDITIONAL}
)
"""Steps that are no work themselves."""


class Pace:
    def __init__(self, limit_s: float, spent_s: float, at_a_time: int) -> None:
        self._limit_s = limit_s
        self._spent_s = spent_s
        self._since = 0.0
        self._working = 0
        self._waiting: list[datetime | None] = []
        self._room = asyncio.Semaphore(at_a_time)
        self._changed = asyncio.Event()
        self._is_shown_waiting = False

    @asynccontextmanager
    async def work(self) -> AsyncGenerator[None]:
        """One thing at work; no more of them at a time than there is room for."""
        async with self._room:
            self._begin()
            try:
                yield
            finally:
                self._end()

    @contextmanager
    def waiting(self, until: datetime | None, *, works: bool) -> Generator[None]:
        """While something waits. What `works` is counted as work before and after."""
        self._waiting.append(until)
        if works:
            self._end()
        self._changed.set()
        try:
            yield
        finally:
            if works:
                self._begin()
            self._waiting.remove(until)
            self._is_shown_waiting = False  # an answer that was waited for has set the run going
            self._changed.set()

    @property
    def left_s(self) -> float:
        """Of the time for work."""
        running = time.monotonic() - self._since if self._working else 0.0
        return self._limit_s - self._spent_s - running

    async def show(self, context: RunContext) -> None:
        """Keeps the run's status true: waiting, when there is nothing else to do. Runs until cancelled."""
        if context.run.status is RunStatus.WAITING:
            await context.go_on()
        while True:
            await self._changed.wait()
            await asyncio.sleep(SETTLE_S)
            self._changed.clear()
            is_waiting = not self._working and bool(self._waiting)
            if is_waiting == self._is_shown_waiting:
                continue
            self._is_shown_waiting = is_waiting
            if is_waiting:
                await context.keep_waiting(min(filter(None, self._waiting), default=None))
            else:
                await context.go_on()

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


def worked_s(steps: Iterable[StepRow]) -> float:
    """How long steps were at work before this process, those side by side counted once."""
    times = sorted(
        (
            attempt.started_at,
            attempt.started_at + timedelta(milliseconds=attempt.duration_ms - attempt.waited_ms),
        )
        for step in steps
        if step.summary.type not in RESTING and not step.summary.is_kept
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
