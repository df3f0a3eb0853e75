"""Execute attempts of steps: publish events, enforce the timeout, return errors as data.

An attempt never raises through the journal, which would restore the exception as another type.
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
from forge.runs import store
from forge.runs.journal import Journal, StepResult
from forge.runs.models import Problem, StepFinished, StepStarted
from forge.runs.store import RunRow
from forge.store.database import LONGEST_RETRY_S, Store, is_disk_full, is_outage
from forge.telemetry import Tracing, bind

log = logging.getLogger(__name__)

PUBLISH_START_AFTER_S = 0.05
DATABASE_UNAVAILABLE = "database_away"


@dataclass(frozen=True)
class Retry:
    """Retry policy of a step. Only transient errors are retried."""

    attempts: int = 1
    first_delay_s: float = 1.0
    factor: float = 2.0
    longest_delay_s: float = 60.0

    def delay_after(self, attempt: int, requested_s: float = 0.0) -> float | None:
        """Return the seconds before the next attempt, None if there is none. A longer delay that the failing service
        requests is capped, so that a proxy cannot stall a run for an hour."""
        if attempt >= self.attempts:
            return None
        delay_s = self.first_delay_s * self.factor ** (attempt - 1)
        return min(max(delay_s, requested_s), self.longest_delay_s)


ONCE = Retry()


@dataclass(frozen=True)
class StepInfo:
    """Identity of a step. `key` is the same for every repetition and serves as an idempotency key."""

    run_id: str
    account_id: str
    number: int
    attempt: int

    @property
    def key(self) -> str:
        return f"{self.run_id}:{self.number}"


@dataclass(frozen=True)
class Call:
    """A step to run: `function(step_info, *arguments)` returns JSON, or a `StepResult` with events."""

    name: str
    function: Callable[..., Awaitable[Any]]
    arguments: tuple[Any, ...] = ()
    retry: Retry = ONCE
    timeout_s: float | None = None

    def delay_after(self, attempt: int, outcome: "Outcome") -> float | None:
        error = outcome.error
        if error is None or not error.retryable:
            return None
        if error.code == DATABASE_UNAVAILABLE:  # an outage makes the run wait, regardless of its retries
            return min(float(attempt), LONGEST_RETRY_S)
        return self.retry.delay_after(attempt, error.retry_after_s or 0.0)


@dataclass(frozen=True)
class Outcome:
    """Result of an attempt: a JSON value or an error."""

    value: Any = None
    error: Problem | None = None
    result: StepResult | None = None


class Attempts:
    """Executes the attempts of one run."""

    def __init__(self, row: RunRow, journal: Journal, tracing: Tracing) -> None:
        self._run_id = row.run.id
        self._account_id = row.account_id
        self._kind = row.run.kind
        self._was_interrupted = row.run.attempt > 1
        self._journal = journal
        self._tracing = tracing

    async def run(self, number: int, call: Call, attempt: int) -> Outcome:
        """Run an attempt in exactly one engine call, so that attempts may run in parallel."""

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
            start = _StartEvent(self._journal, step, call)
            try:
                outcome = await _outcome(step, call)
            finally:
                was_told = await start.was_published()
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
                step.run_id, self._kind, finished, began=began, result=outcome.result
            )
        return {"error": outcome.error.model_dump()} if outcome.error else {"ok": outcome.value}


class _StartEvent:
    """Publishes the start of a step after a short delay; a short step publishes it together with its end.

    Most steps are shorter than the transaction for a separate event.
    """

    def __init__(self, journal: Journal, step: StepInfo, call: Call) -> None:
        self.fact = StepStarted(step=step.number, name=call.name, attempt=step.attempt)
        self.at = now()
        self.began = time.perf_counter()
        self._journal = journal
        self._run_id = step.run_id
        self._publishing: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(PUBLISH_START_AFTER_S, self._publish)

    async def was_published(self) -> bool:
        """Return whether the start was published; if not, it will not be."""
        self._timer.cancel()
        if self._publishing is None:
            return False
        await self._publishing
        return True

    def _publish(self) -> None:
        work = self._journal.step_started(self._run_id, self.fact, self.at)
        self._publishing = asyncio.ensure_future(work)


async def _outcome(step: StepInfo, call: Call) -> Outcome:
    """Run the function of a step and convert its exceptions."""
    try:
        async with asyncio.timeout(call.timeout_s):
            returned = await call.function(step, *call.arguments)
        result = returned if isinstance(returned, StepResult) else None
        value = result.value if result else returned
        json.dumps(value, allow_nan=False)
        return Outcome(value, result=result)
    except ForgeError as error:
        return Outcome(error=Problem.of(error))
    except TimeoutError:
        limit = (
            f"The step did not finish within {call.timeout_s:g} s."
            if call.timeout_s
            else "The step timed out."
        )
        return Outcome(error=Problem(code="timeout", message=limit, retryable=True))
    except Exception as error:
        if is_disk_full(error):
            return Outcome(error=Problem.of(DiskFull()))
        if isinstance(error, SQLAlchemyError) and is_outage(error):
            log.warning("step %s of run %s waits for the database: %s", call.name, step.run_id, error)
            problem = Problem(
                code=DATABASE_UNAVAILABLE, message="The database was unavailable.", retryable=True
            )
            return Outcome(error=problem)
        log.exception("step %s of run %s failed", call.name, step.run_id)
        return Outcome(error=Problem.defect(error))


INTENT = 0
"""Attempt number of an intent; attempts are counted from 1."""


class StepIntent:
    """Records what a step is about to change outside the database.

    Such a step runs at least once: its process may die after the change and before it is journaled. With the
    recorded intent a repetition can detect that the change was made.
    """

    def __init__(self, database: Store, step: StepInfo) -> None:
        self._database = database
        self._step = step

    async def recall(self) -> Any | None:
        async with self._database.read() as tx:
            found = await store.find_outcome(tx, self._step.run_id, self._step.number, INTENT)
        return found[0] if found else None

    async def declare(self, intent: Any) -> None:
        async with self._database.begin() as tx:
            await store.forget_outcome(tx, self._step.run_id, self._step.number, INTENT)
            await store.save_outcome(tx, self._step.run_id, self._step.number, INTENT, intent)
