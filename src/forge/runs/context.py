"""Context of run code: steps, parallel steps and waits.

The engine identifies finished steps by their number, which is assigned in the order of calls. This order must
never depend on timing: `asyncio.gather` or `create_task` in run code would silently swap results after a crash.
`RunContext.parallel` is the only concurrency: it starts its calls in order and the engine records the order
in which they finish.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from dbos import DBOS
from pydantic import BaseModel

from forge.errors import ForgeError
from forge.kernel.background import cancel_and_wait
from forge.kernel.clock import now
from forge.kernel.ids import derived_id
from forge.runs import store
from forge.runs.attempt import ONCE, Attempts, Call, Outcome, Retry
from forge.runs.journal import Journal, child_topic, gate_topic
from forge.runs.models import Gate, GateStatus, Problem, Progress, Question, Run, WaitReason
from forge.runs.store import RunRow
from forge.store.database import Tx, survives_outage

FOREVER_S = 365 * 86400.0
TRANSACTION_S = 4.0
TRANSACTION_ATTEMPTS = 3


class StepFailed(ForgeError):
    """All attempts of a step failed; `problem` is the error of the last one."""

    code = "step_failed"

    def __init__(self, name: str, problem: Problem) -> None:
        super().__init__(f"{name}: {problem.message}", hint=problem.hint)
        self.problem = problem


class RunContext:
    def __init__(
        self,
        row: RunRow,
        journal: Journal,
        attempts: Attempts,
        start_child: Callable[[RunRow, str, dict[str, Any], str], Awaitable[None]],
    ) -> None:
        self.run_id = row.run.id
        self.account_id = row.account_id
        self.run = row.run
        """State of the run when this worker started it."""
        self._row = row
        self._journal = journal
        self._attempts = attempts
        self._start_child = start_child
        self._last_number = 0
        self._last_effect = 0
        self._last_wait = 0

    async def step(
        self,
        name: str,
        function: Callable[..., Awaitable[Any]],
        *arguments: Any,
        retry: Retry = ONCE,
        timeout_s: float | None = None,
    ) -> Any:
        """Run a side effect. Its JSON result is journaled: once finished, it never runs again."""
        call = Call(name, function, arguments, retry=retry, timeout_s=timeout_s)
        number = self._next_number()
        attempt = 1
        while True:
            outcome = await self._attempts.run(number, call, attempt)
            if (delay := call.delay_after(attempt, outcome)) is not None:
                await DBOS.sleep_async(delay)
                attempt += 1
            elif outcome.error is not None:
                raise StepFailed(name, outcome.error)
            else:
                return outcome.value

    async def parallel(self, calls: Sequence[Call]) -> list[Outcome]:
        """Run calls in parallel, each with its own retries; outcomes are in the order of the calls."""
        numbers = [self._next_number() for _ in calls]
        attempts = [1] * len(calls)
        outcomes: dict[int, Outcome] = {}
        tasks: dict[int, asyncio.Task[Outcome | None]] = {}
        try:
            for i, call in enumerate(calls):
                tasks[i] = asyncio.ensure_future(self._attempts.run(numbers[i], call, 1))
            while tasks:
                waiting = list(tasks)
                done, _ = await DBOS.asyncio_wait(
                    [tasks[i] for i in waiting], return_when=asyncio.FIRST_COMPLETED
                )
                for i in (i for i in waiting if tasks[i] in done):
                    outcome = tasks.pop(i).result()
                    if outcome is None:  # the pause before the next attempt is over
                        attempts[i] += 1
                        tasks[i] = asyncio.ensure_future(
                            self._attempts.run(numbers[i], calls[i], attempts[i])
                        )
                    elif (delay := calls[i].delay_after(attempts[i], outcome)) is not None:
                        tasks[i] = asyncio.ensure_future(_pause(delay))
                    else:
                        outcomes[i] = outcome
        finally:
            # Remaining tasks must not outlive the run and keep writing for it.
            await cancel_and_wait(tasks.values())
        return [outcomes[i] for i in range(len(calls))]

    async def transact(self, name: str, function: Callable[[Tx], Awaitable[Any]]) -> Any:
        """Change the database exactly once, even if the step is interrupted.

        `function` may only access the database, and briefly: idle transactions are terminated.
        """

        async def bounded(tx: Tx) -> Any:
            async with asyncio.timeout(TRANSACTION_S):
                return await function(tx)

        async def outcome() -> dict[str, Any]:
            for _ in range(TRANSACTION_ATTEMPTS):
                try:
                    return {"ok": await once()}
                except ForgeError as error:
                    return {"error": Problem.of(error).model_dump()}
                except TimeoutError:
                    continue  # rolled back; the next attempt may be faster
            message = f"The transaction took longer than {TRANSACTION_S:g} s, {TRANSACTION_ATTEMPTS} times."
            return {"error": Problem(code="timeout", message=message).model_dump()}

        once = self._once(bounded)
        recorded = await self._record(name, outcome)
        if error := recorded.get("error"):
            raise StepFailed(name, Problem.model_validate(error))
        return recorded["ok"]

    async def progress(self, done: int, total: int, note: str = "") -> None:
        progress = Progress(done=done, total=total, note=note)
        await self._record_once("progress", lambda tx: self._journal.progressed(tx, self.run_id, progress))

    async def ask(self, question: Question, *, timeout: timedelta | None = None) -> Gate:
        """Open a gate and wait until it is answered or expires. A timeout is not a refusal."""
        gate_id = self._next_wait_id("gate")

        async def open_gate() -> Gate:
            return await self._journal.gate_opened(self._gate(gate_id, question, timeout))

        opened = Gate.model_validate(await self._record("gate.open", open_gate))
        await DBOS.recv_async(gate_topic(opened.id), timeout_seconds=_seconds_until(opened.expires_at))
        settled = await self._record("gate.settle", lambda: self._journal.gate_settled(opened.id))
        return Gate.model_validate(settled)

    async def sleep(self, duration: timedelta) -> None:
        """Pause for a duration that restarts do not extend."""
        await self._wait("sleep", now() + duration)
        await DBOS.sleep_async(duration.total_seconds())
        await self._resume()

    async def receive(self, topic: str, *, timeout: timedelta | None = None) -> Any | None:
        """Return the next message on `topic` in sending order, None after the timeout."""
        await self._wait("message", now() + timeout if timeout else None)
        message = await DBOS.recv_async(
            topic, timeout_seconds=timeout.total_seconds() if timeout else FOREVER_S
        )
        await self._resume()
        return message

    async def child(self, kind: str, inputs: dict[str, Any]) -> Run:
        """Start a child run and wait until it has ended, successfully or not."""
        child_id = self._next_wait_id("child")
        await self._record("child.start", lambda: self._start_child(self._row, kind, inputs, child_id))
        await self._wait("child", None)
        await DBOS.recv_async(child_topic(child_id), timeout_seconds=FOREVER_S)
        await self._resume()
        return Run.model_validate(await self._record("child.read", lambda: self._read_run(child_id)))

    async def mark_waiting(self, until: datetime | None = None) -> None:
        """Mark the run as waiting until `mark_running`. For runs with a journal of their own."""
        await self._now(lambda tx: self._journal.waiting(tx, self.run_id, "step", until))

    async def mark_running(self) -> None:
        await self._now(lambda tx: self._journal.resumed(tx, self.run_id))

    async def open_gate(self, key: str, question: Question, *, timeout: timedelta | None = None) -> Gate:
        """Open the gate with this key, or return it if it exists. For runs with a journal of their own."""
        gate = self._gate(derived_id(self.run_id, "gate", key), question, timeout)
        return await self._journal.gate_opened(gate, pauses=False)

    async def wait_until_settled(self, gate: Gate) -> Gate:
        """Wait until the gate is answered, expired or closed with its run."""
        return await self._journal.wait_until_settled(gate)

    @survives_outage
    async def _now(self, function: Callable[[Tx], Awaitable[None]]) -> None:
        async with self._journal.database.begin() as tx:
            await function(tx)

    def _gate(self, gate_id: str, question: Question, timeout: timedelta | None) -> Gate:
        opened_at = now()
        return Gate(
            **question.model_dump(),
            id=gate_id,
            run_id=self.run_id,
            shown_hash=question.hash(),
            status=GateStatus.OPEN,
            answer=None,
            opened_at=opened_at,
            expires_at=opened_at + timeout if timeout else None,
        )

    @survives_outage
    async def _read_run(self, run_id: str) -> Run:
        async with self._journal.database.read() as tx:
            row = await store.find_run(tx, run_id)
        if row is None or not row.run.status.is_final:
            raise RuntimeError(f"child {run_id} reported its end but is {row and row.run.status}")
        return row.run

    async def _wait(self, reason: WaitReason, until: datetime | None) -> None:
        await self._record_once("wait", lambda tx: self._journal.waiting(tx, self.run_id, reason, until))

    async def _resume(self) -> None:
        await self._record_once("resume", lambda tx: self._journal.resumed(tx, self.run_id))

    async def _record_once(self, name: str, function: Callable[[Tx], Awaitable[None]]) -> None:
        """Record bookkeeping exactly once, waiting for outages to end."""
        await self._record(name, self._once(function))

    def _once(self, function: Callable[[Tx], Awaitable[Any]]) -> Callable[[], Awaitable[Any]]:
        self._last_effect += 1
        number = self._last_effect

        @survives_outage
        async def once() -> Any:
            async with self._journal.database.begin() as tx:
                if not await store.claim_effect(tx, self.run_id, number):
                    return await store.find_effect(tx, self.run_id, number)
                result = await function(tx)
                await store.record_effect(tx, self.run_id, number, result)
                return result

        return once

    async def _record(self, name: str, function: Callable[[], Awaitable[Any]]) -> Any:
        """Journal a call like a step, without showing it as one."""

        async def body() -> Any:
            result = await function()
            return result.model_dump(mode="json") if isinstance(result, BaseModel) else result

        return await DBOS.run_step_async({"name": f"forge.{name}"}, body)

    def _next_wait_id(self, kind: str) -> str:
        """Return an id that is the same on every replay, so that a gate or child is created once."""
        self._last_wait += 1
        return derived_id(self.run_id, kind, str(self._last_wait))

    def _next_number(self) -> int:
        self._last_number += 1
        return self._last_number


async def _pause(delay_s: float) -> None:
    await DBOS.sleep_async(delay_s)


def _seconds_until(moment: datetime | None) -> float:
    """Return the remaining time. The engine journals the first value, so a restart does not extend it."""
    return max(0.0, (moment - now()).total_seconds()) if moment else FOREVER_S
