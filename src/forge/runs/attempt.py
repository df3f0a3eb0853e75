"""One attempt of one step: told to the log, bounded in time, its end turned into data.

An attempt never raises across the journal: an exception would come back from the journal as another type.
"""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from dbos import DBOS
from sqlalchemy.exc import SQLAlchemyError

from forge.errors import DiskFull, ForgeError
from forge.kernel.clock import now
from forge.runs.journal import Journal, Told
from forge.runs.models import Problem, StepFinished, StepStarted
from forge.runs.store import RunRow
from forge.store.engine import is_disk_full, is_outage
from forge.store.outage import LONGEST_RETRY_S
from forge.telemetry import Tracing, bind

log = logging.getLogger(__name__)

SHORT_S = 0.05
DATABASE_AWAY = "database_away"


@dataclass(frozen=True)
class Retry:
    """How often a step is tried, and how long it pauses in between. Only what may pass by itself is retried."""

    attempts: int = 1
    first_delay_s: float = 1.0
    factor: float = 2.0
    longest_delay_s: float = 60.0

    def delay_after(self, attempt: int, asked_s: float = 0.0) -> float | None:
        """Seconds before the next attempt; None when there is none. Whoever failed may ask for longer, up to a
        limit: an hour asked for by a proxy must not become an hour of silence."""
        if attempt >= self.attempts:
            return None
        usual = self.first_delay_s * self.factor ** (attempt - 1)
        return min(max(usual, asked_s), self.longest_delay_s)


ONCE = Retry()


@dataclass(frozen=True)
class StepInfo:
    """What a step is told about itself. `key` is the same whenever this step is repeated: an idempotency key."""

    run_id: str
    account_id: str
    number: int
    attempt: int

    @property
    def key(self) -> str:
        return f"{self.run_id}:{self.number}"


@dataclass(frozen=True)
class Call:
    """A step to run: `function(step_info, *arguments)` does it and returns JSON, or `Told` with events beside it."""

    name: str
    function: Callable[..., Awaitable[Any]]
    arguments: tuple[Any, ...] = ()
    retry: Retry = ONCE
    timeout_s: float | None = None

    def delay_after(self, attempt: int, outcome: "Outcome") -> float | None:
        error = outcome.error
        if error is None or not error.retryable:
            return None
        if error.code == DATABASE_AWAY:  # that makes a run wait, however often its steps are tried
            return min(float(attempt), LONGEST_RETRY_S)
        return self.retry.delay_after(attempt, error.retry_after_s or 0.0)


@dataclass(frozen=True)
class Outcome:
    """How an attempt ended: a JSON value, or what went wrong."""

    value: Any = None
    error: Problem | None = None
    told: Told | None = None


class Attempts:
    """Runs attempts for one run."""

    def __init__(self, row: RunRow, journal: Journal, tracing: Tracing) -> None:
        self._run_id = row.run.id
        self._account_id = row.account_id
        self._kind = row.run.kind
        self._was_interrupted = row.run.attempt > 1
        self._journal = journal
        self._tracing = tracing

    async def run(self, number: int, call: Call, attempt: int) -> Outcome:
        """Exactly one engine call, so that attempts may run side by side."""

        async def body() -> dict[str, Any]:
            return await self._perform(StepInfo(self._run_id, self._account_id, number, attempt), call)

        recorded = await DBOS.run_step_async({"name": f"{call.name}#{attempt}"}, body)
        error = recorded.get("error")
        return Outcome(recorded.get("ok"), Problem.model_validate(error) if error else None)

    async def _perform(self, step: StepInfo, call: Call) -> dict[str, Any]:
        if self._was_interrupted:
            known = await self._journal.find_outcome(step.run_id, step.number, step.attempt)
            if known:
                return {"ok": known[0]}
        with (
            bind(run_id=step.run_id, step=call.name),
            self._tracing.span(f"step {call.name}", run_id=step.run_id),
        ):
            start = _Start(self._journal, step, call)
            try:
                outcome = await _outcome(step, call)
            finally:
                was_told = await start.was_told()
            finished = StepFinished(
                step=step.number,
                name=call.name,
                attempt=step.attempt,
                outcome="error" if outcome.error else "ok",
                duration_ms=round((time.perf_counter() - start.began) * 1000),
                error=outcome.error,
                retry_in_s=call.delay_after(step.attempt, outcome),
            )
            began = None if was_told else (start.fact, start.at)
            await self._journal.step_finished(
                step.run_id, self._kind, finished, began=began, told=outcome.told
            )
        return {"error": outcome.error.model_dump()} if outcome.error else {"ok": outcome.value}


class _Start:
    """Tells the log that a step has begun: soon, when it takes a while; with its end, when it is over at once.

    Most steps are short, and a transaction costs more than they do.
    """

    def __init__(self, journal: Journal, step: StepInfo, call: Call) -> None:
        self.fact = StepStarted(step=step.number, name=call.name, attempt=step.attempt)
        self.at = now()
        self.began = time.perf_counter()
        self._journal = journal
        self._run_id = step.run_id
        self._telling: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(SHORT_S, self._tell)

    async def was_told(self) -> bool:
        """Whether it is in the log; if not, it will not be told any more."""
        self._timer.cancel()
        if self._telling is None:
            return False
        await self._telling
        return True

    def _tell(self) -> None:
        work = self._journal.step_started(self._run_id, self.fact, self.at)
        self._telling = asyncio.ensure_future(work)


async def _outcome(step: StepInfo, call: Call) -> Outcome:
    """Do it. This is the one place where a step's exceptions end."""
    try:
        async with asyncio.timeout(call.timeout_s):
            returned = await call.function(step, *call.arguments)
        told = returned if isinstance(returned, Told) else None
        value = told.value if told else returned
        json.dumps(value, allow_nan=False)
        return Outcome(value, told=told)
    except ForgeError as error:
        return Outcome(error=Problem.of(error))
    except TimeoutError:
        limit = f"It did not finish within {call.timeout_s:g} s." if call.timeout_s else "It timed out."
        return Outcome(error=Problem(code="timeout", message=limit, retryable=True))
    except Exception as error:
        if is_disk_full(error):
            return Outcome(error=Problem.of(DiskFull()))
        if isinstance(error, SQLAlchemyError) and is_outage(error):
            log.warning("step %s of run %s waits for the database: %s", call.name, step.run_id, error)
            away = Problem(code=DATABASE_AWAY, message="The database was away.", retryable=True)
            return Outcome(error=away)
        log.exception("step %s of run %s failed", call.name, step.run_id)
        return Outcome(error=Problem.defect(error))
