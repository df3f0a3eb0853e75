"""What the code of a run may do: steps, parallel steps, and waits.

The engine finds a finished step again by its number, and numbers are handed out in the order of calls. So the
order of calls must never depend on timing: `asyncio.gather` or `create_task` in run code would swap results after
a crash, with status success. `RunContext.parallel` is the only concurrency: it starts its calls in the order
given and lets the engine record which of them were done first.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from dbos import DBOS
from pydantic import BaseModel

from forge.errors import ForgeError
from forge.kernel.background import end
from forge.kernel.clock import now
from forge.kernel.ids import derived_id
from forge.runs import store
from forge.runs.attempt import ONCE, Attempts, Call, Outcome, Retry, StepInfo
from forge.runs.journal import Journal, child_topic, gate_topic
from forge.runs.models import Gate, GateStatus, Problem, Progress, Question, Run, WaitReason
from forge.runs.store import RunRow
from forge.store.engine import Tx
from forge.store.outage import survives_outage

FOREVER_S = 365 * 86400.0
TRANSACTION_S = 4.0
TRANSACTION_ATTEMPTS = 3
__all__ = ["Call", "Outcome", "Retry", "RunContext", "StepFailed", "StepInfo"]

StartChild = Callable[[RunRow, str, dict[str, Any], str], Awaitable[None]]


class StepFailed(ForgeError):
    """A step gave up; `problem` is what its last attempt met."""

    code = "step_failed"

    def __init__(self, name: str, problem: Problem) -> None:
        super().__init__(f"{name}: {problem.message}", hint=problem.hint)
        self.problem = problem


class RunContext:
    def __init__(self, row: RunRow, journal: Journal, attempts: Attempts, start_child: StartChild) -> None:
        self.run_id = row.run.id
        self.account_id = row.account_id
        self.run = row.run
        """As it was when it was taken up."""
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
        """Do one thing that has an effect. Its JSON result is journaled: once finished, it never runs again."""
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
        """Run all of them at once, each with its own retries; the outcomes come in the order of the calls."""
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
                    if outcome is None:  # the pause before another attempt is over
                        attempts[i] += 1
                        tasks[i] = asyncio.ensure_future(
                            self._attempts.run(numbers[i], calls[i], attempts[i])
                        )
                    elif (delay := calls[i].delay_after(attempts[i], outcome)) is not None:
                        tasks[i] = asyncio.ensure_future(_pause(delay))
                    else:
                        outcomes[i] = outcome
        finally:
            # What is left must not outlive its run: it would write on after it.
            await end(tasks.values())
        return [outcomes[i] for i in range(len(calls))]

    async def transact(self, name: str, function: Callable[[Tx], Awaitable[Any]]) -> Any:
        """Change the database exactly once, however often this step is interrupted.

        `function` only talks to the database, and briefly: a transaction that stands still is ended.
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
                    continue  # rolled back; a busy machine may be quicker the next time
            message = f"The transaction took longer than {TRANSACTION_S:g} s, {TRANSACTION_ATTEMPTS} times."
            return {"error": Problem(code="timeout", message=message).model_dump()}

        once = self._once(bounded)
        recorded = await self._record(name, outcome)
        if error := recorded.get("error"):
            raise StepFailed(name, Problem.model_validate(error))
        return recorded["ok"]

    async def progress(self, done: int, total: int, note: str = "") -> None:
        progress = Progress(done=done, total=total, note=note)
        await self._note("progress", lambda tx: self._journal.progressed(tx, self.run_id, progress))

    async def ask(self, question: Question, *, timeout: timedelta | None = None) -> Gate:
        """Open a gate and wait for a person. Returns it answered or expired: a timeout is not a refusal."""
        gate_id = self._next_wait_id("gate")

        async def open_gate() -> Gate:
            return await self._journal.gate_opened(self._gate(gate_id, question, timeout))

        opened = Gate.model_validate(await self._record("gate.open", open_gate))
        await DBOS.recv_async(gate_topic(opened.id), timeout_seconds=_seconds_until(opened.expires_at))
        settled = await self._record("gate.settle", lambda: self._journal.gate_settled(opened.id))
        return Gate.model_validate(settled)

    async def sleep(self, duration: timedelta) -> None:
        """Pause for this long, counted from now, whatever restarts happen meanwhile."""
        await self._wait("sleep", now() + duration)
        await DBOS.sleep_async(duration.total_seconds())
        await self._resume()

    async def receive(self, topic: str, *, timeout: timedelta | None = None) -> Any | None:
        """The next message on `topic`, in the order they were sent; None when the time is over."""
        await self._wait("message", now() + timeout if timeout else None)
        message = await DBOS.recv_async(
            topic, timeout_seconds=timeout.total_seconds() if timeout else FOREVER_S
        )
        await self._resume()
        return message

    async def child(self, kind: str, given: dict[str, Any]) -> Run:
        """Start another run below this one and wait until it ended, well or badly."""
        child_id = self._next_wait_id("child")
        await self._record("child.start", lambda: self._start_child(self._row, kind, given, child_id))
        await self._wait("child", None)
        await DBOS.recv_async(child_topic(child_id), timeout_seconds=FOREVER_S)
        await self._resume()
        return Run.model_validate(await self._record("child.read", lambda: self._read_run(child_id)))

    async def keep_waiting(self, until: datetime | None = None) -> None:
        """For runs with a journal of their own: count as waiting until `go_on`."""
        await self._now(lambda tx: self._journal.waiting(tx, self.run_id, "step", until))

    async def go_on(self) -> None:
        await self._now(lambda tx: self._journal.resumed(tx, self.run_id))

    async def open_gate(self, key: str, question: Question, *, timeout: timedelta | None = None) -> Gate:
        """For runs with a journal of their own: the gate of this key, opened now or found as it was left."""
        gate = self._gate(derived_id(self.run_id, "gate", key), question, timeout)
        return await self._journal.gate_opened(gate, pauses=False)

    async def until_settled(self, gate: Gate) -> Gate:
        """Answered or expired, or closed with the run."""
        return await self._journal.until_settled(gate)

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
        await self._note("wait", lambda tx: self._journal.waiting(tx, self.run_id, reason, until))

    async def _resume(self) -> None:
        await self._note("resume", lambda tx: self._journal.resumed(tx, self.run_id))

    async def _note(self, name: str, function: Callable[[Tx], Awaitable[None]]) -> None:
        """Bookkeeping of our own: exactly once, and as patient as it takes."""
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
        """Journaled like a step, but not shown as one."""

        async def body() -> Any:
            result = await function()
            return result.model_dump(mode="json") if isinstance(result, BaseModel) else result

        return await DBOS.run_step_async({"name": f"forge.{name}"}, body)

    def _next_wait_id(self, kind: str) -> str:
        """The same on every replay, so that a gate or a child is made once."""
        self._last_wait += 1
        return derived_id(self.run_id, kind, str(self._last_wait))

    def _next_number(self) -> int:
        self._last_number += 1
        return self._last_number


async def _pause(delay_s: float) -> None:
    await DBOS.sleep_async(delay_s)


def _seconds_until(moment: datetime | None) -> float:
    """The engine keeps the first answer, so a restart does not start the time again."""
    return max(0.0, (moment - now()).total_seconds()) if moment else FOREVER_S
