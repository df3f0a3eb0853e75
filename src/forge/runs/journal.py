"""Journal of runs: each change of a run updates its row and appends its events in one transaction.

Locks are taken in a fixed order (runs from parent to child, gates, run streams, and the account's stream last,
just before the commit), so that two writers never wait for each other.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from forge.events.log import EventLog
from forge.events.models import EventData
from forge.kernel.clock import deadline, now
from forge.runs import store
from forge.runs.engine import Engine
from forge.runs.models import (
    ACTIVE,
    Gate,
    GateAnswer,
    GateAnswered,
    GateChanged,
    GateClosed,
    GateExpired,
    GateOpened,
    GateStatus,
    Problem,
    Progress,
    Run,
    RunCancelled,
    RunChanged,
    RunCompleted,
    RunCreated,
    RunFailed,
    RunProgressed,
    RunResumed,
    RunStarted,
    RunStatus,
    RunWaiting,
    StepFinished,
    StepStarted,
    WaitReason,
)
from forge.runs.store import RunRow
from forge.store.database import Store, Tx, survives_outage
from forge.telemetry import Metrics

_GATE_ENDS = frozenset({GateAnswered.type, GateExpired.type, GateClosed.type})


def run_stream(run_id: str) -> str:
    return f"run:{run_id}"


def account_stream(account_id: str) -> str:
    return f"account:{account_id}"


def child_topic(run_id: str) -> str:
    return f"child:{run_id}"


def gate_topic(gate_id: str) -> str:
    return f"gate:{gate_id}"


@dataclass(frozen=True)
class StepResult:
    """Result of a step together with its events.

    Both are stored in one transaction: once the events are in the log, the step never runs again, even if its
    process dies before the engine has written its journal.
    """

    value: Any
    facts: tuple[EventData, ...] = ()


class Journal:
    def __init__(self, database: Store, events: EventLog, engine: Engine, metrics: Metrics) -> None:
        self.database = database
        self._events = events
        self._engine = engine
        self._metrics = metrics

    async def created(self, tx: Tx, run: Run, *, account_id: str, inputs: dict[str, Any]) -> None:
        """Insert a run and enqueue it, unless it exists."""
        if not await store.insert_run(tx, run, account_id=account_id, inputs=inputs):
            return
        await self._engine.enqueue(tx, run.id)
        fact = RunCreated(kind=run.kind, title=run.title, parent_id=run.parent_id)
        await self._publish(tx, RunRow(run, account_id, inputs), fact)
        tx.after_commit(lambda: self._metrics.run_started(run.kind))

    @survives_outage
    async def started(self, run_id: str, worker: str) -> RunRow | None:
        """Record that a worker started the run; None if the run has ended, such as by cancellation."""
        async with self.database.begin() as tx:
            row = await store.find_run(tx, run_id, lock=True)
            if row is None or row.run.status.is_final:
                return None
            status = RunStatus.RUNNING if row.run.status is RunStatus.PENDING else row.run.status
            row = await store.change_run(
                tx,
                run_id,
                ACTIVE,
                status=status,
                attempt=row.run.attempt + 1,
                started_at=row.run.started_at or now(),
            )
            if row:
                await self._publish(tx, row, RunStarted(worker=worker, attempt=row.run.attempt))
            return row

    async def progressed(self, tx: Tx, run_id: str, progress: Progress) -> None:
        row = await store.change_run(tx, run_id, ACTIVE, progress=progress.model_dump())
        if row:
            await self._publish(tx, row, RunProgressed(**progress.model_dump()))

    async def waiting(self, tx: Tx, run_id: str, reason: WaitReason, until: datetime | None) -> None:
        row = await store.change_run(tx, run_id, ACTIVE, status=RunStatus.WAITING)
        if row:
            await self._publish(tx, row, RunWaiting(reason=reason, until=until))

    async def resumed(self, tx: Tx, run_id: str) -> None:
        row = await store.change_run(tx, run_id, {RunStatus.WAITING}, status=RunStatus.RUNNING)
        if row:
            await self._publish(tx, row, RunResumed())

    @survives_outage
    async def step_started(self, run_id: str, fact: StepStarted, at: datetime) -> None:
        async with self.database.begin() as tx:
            await self._events.append(tx, run_stream(run_id), fact, at=(at,))

    @survives_outage
    async def step_finished(
        self,
        run_id: str,
        kind: str,
        fact: StepFinished,
        *,
        began: tuple[StepStarted, datetime] | None,
        result: StepResult | None = None,
    ) -> None:
        """Record the end of an attempt. `began` is published with it if the step was too short to be
        announced."""
        also = result.facts if result else ()
        async with self.database.begin() as tx:
            if result and not await store.save_outcome(tx, run_id, fact.step, fact.attempt, result.value):
                also = ()  # already published by the worker that took this run over
            facts = (began[0], *also, fact) if began else (*also, fact)
            times = (began[1], *[now()] * (len(facts) - 1)) if began else ()
            await self._events.append(tx, run_stream(run_id), *facts, at=times)
        self._metrics.step_finished(kind, fact.outcome, fact.duration_ms / 1000)

    @survives_outage
    async def find_outcome(self, run_id: str, step: int, attempt: int) -> tuple[Any] | None:
        """Return the published result of an attempt whose process died, if any."""
        async with self.database.read() as tx:
            return await store.find_outcome(tx, run_id, step, attempt)

    @survives_outage
    async def gate_opened(self, gate: Gate, *, pauses: bool = True) -> Gate:
        """Open the gate, or return it if the step is repeated after an interruption.

        `pauses=False` does not mark the run as waiting.
        """
        async with self.database.begin() as tx:
            row = await store.find_run(tx, gate.run_id, lock=True)
            if row is None or row.run.status.is_final:
                return gate.model_copy(update={"status": GateStatus.CLOSED})
            if not await store.insert_gate(tx, gate, account_id=row.account_id):
                found = await store.find_gate(tx, gate.id)
                return found[0] if found else gate
            await self._events.append(tx, run_stream(gate.run_id), GateOpened(gate=gate))
            self._publish_to_account(tx, row.account_id, GateChanged(gate=gate))
            if pauses:
                await self.waiting(tx, gate.run_id, "gate", gate.expires_at)
            return gate

    async def gate_answered(self, tx: Tx, gate: Gate, account_id: str, answer: GateAnswer) -> Gate | None:
        """Settle an open gate with an answer and wake its run; None if it is settled already."""
        await store.find_run(tx, gate.run_id, lock=True)
        settled = await store.settle_gate(tx, gate.id, GateStatus.ANSWERED, answer.model_dump(mode="json"))
        if settled is None:
            return None
        fact = GateAnswered(
            gate_id=gate.id, option=answer.option, comment=answer.comment, answered_by=answer.answered_by
        )
        await self._engine.send(tx, gate.run_id, gate_topic(gate.id), "settled", key=gate.id)
        await self._settled(tx, settled, account_id, fact)
        return settled

    @survives_outage
    async def gate_settled(self, gate_id: str) -> Gate:
        """Return the settled gate; an unanswered one expires now."""
        async with self.database.begin() as tx:
            found = await store.find_gate(tx, gate_id)
            if found is None:
                raise RuntimeError(f"gate {gate_id} was never opened")
            gate, account_id = found
            await store.find_run(tx, gate.run_id, lock=True)
            expired = await store.settle_gate(tx, gate_id, GateStatus.EXPIRED)
            if expired is None:
                settled = await store.find_gate(tx, gate_id)
                return settled[0] if settled else gate
            await self._settled(tx, expired, account_id, GateExpired(gate_id=gate_id))
            return expired

    async def wait_until_settled(self, gate: Gate) -> Gate:
        """Wait until the gate is answered or expires."""
        try:
            async with deadline(gate.expires_at):
                await self._until_answered(gate)
        except TimeoutError:
            pass  # the database decides whether it is settled
        return await self.gate_settled(gate.id)

    async def _until_answered(self, gate: Gate) -> None:
        async with self._events.follow_new(run_stream(gate.run_id)) as batches:
            async for batch in batches:
                may_be_over = not batch or any(event.type in _GATE_ENDS for event in batch)
                if may_be_over and not await self._is_open(gate.id):
                    return

    @survives_outage
    async def _is_open(self, gate_id: str) -> bool:
        async with self.database.read() as tx:
            found = await store.find_gate(tx, gate_id)
        return found is not None and found[0].status is GateStatus.OPEN

    @survives_outage
    async def completed(self, run: Run, output: Any, outcome: str | None = None) -> None:
        fact, status = RunCompleted(output=output, outcome=outcome), RunStatus.COMPLETED
        values = {"in_attempt": run.attempt, "status": status, "output": output, "outcome": outcome}
        async with self.database.begin() as tx:
            row = await self._finish(tx, run.id, fact, **values)
            if row:
                await self._close_gates(tx, row)

    @survives_outage
    async def failed(self, run: Run, problem: Problem) -> list[str]:
        """Fail a run and cancel its children, whose ids are returned."""
        fact, error = RunFailed(error=problem), problem.model_dump()
        async with self.database.begin() as tx:
            row = await self._finish(
                tx, run.id, fact, in_attempt=run.attempt, status=RunStatus.FAILED, error=error
            )
            if row is None:
                return []
            await self._close_gates(tx, row)
            return await self._cancel_children(tx, run.id, by=run.id)

    async def cancelled(self, tx: Tx, run_id: str, *, by: str) -> list[str]:
        """Cancel a run and its descendants; returns the ids of those that were active."""
        row = await self._finish(tx, run_id, RunCancelled(by=by), status=RunStatus.CANCELLED)
        if row is None:
            return []
        await self._close_gates(tx, row)
        return [run_id, *await self._cancel_children(tx, run_id, by=by)]

    async def _close_gates(self, tx: Tx, row: RunRow) -> None:
        """Close the open gates of a run that ended."""
        run_id = row.run.id
        for gate in await store.list_gates(tx, run_id=run_id, status=GateStatus.OPEN):
            closed = await store.settle_gate(tx, gate.id, GateStatus.CLOSED)
            if closed:
                await self._events.append(tx, run_stream(run_id), GateClosed(gate_id=gate.id))
                self._publish_to_account(tx, row.account_id, GateChanged(gate=closed))

    async def _cancel_children(self, tx: Tx, run_id: str, *, by: str) -> list[str]:
        ended: list[str] = []
        for child in await store.list_children(tx, run_id):
            if not child.status.is_final:
                ended += await self.cancelled(tx, child.id, by=by)
        return ended

    async def _finish(self, tx: Tx, run_id: str, fact: EventData, **values: Any) -> RunRow | None:
        row = await store.change_run(tx, run_id, ACTIVE, finished_at=now(), **values)
        if row is None:
            return None
        await self._publish(tx, row, fact)
        if row.run.parent_id:
            await self._engine.send(tx, row.run.parent_id, child_topic(run_id), "finished", key=run_id)
        tx.after_commit(lambda: self._metrics.run_finished(row.run.kind, row.run.status))
        return row

    async def _settled(self, tx: Tx, gate: Gate, account_id: str, fact: EventData) -> None:
        await self._events.append(tx, run_stream(gate.run_id), fact)
        still_open = await store.list_gates(tx, run_id=gate.run_id, status=GateStatus.OPEN, limit=1)
        if not still_open:
            await self.resumed(tx, gate.run_id)
        self._publish_to_account(tx, account_id, GateChanged(gate=gate))

    async def _publish(self, tx: Tx, row: RunRow, *facts: EventData) -> None:
        await self._events.append(tx, run_stream(row.run.id), *facts)
        self._publish_to_account(tx, row.account_id, RunChanged(run=row.run))

    def _publish_to_account(self, tx: Tx, account_id: str, *facts: EventData) -> None:
        self._events.append_last(tx, account_stream(account_id), *facts)


_ENDS = frozenset({RunCompleted.type, RunFailed.type, RunCancelled.type})


@survives_outage
async def wait_for_end(database: Store, events: EventLog, run_id: str) -> Run:
    """Wait until a run has ended and return it. May be interrupted and repeated without missing the end."""
    async with events.follow_new(run_stream(run_id)) as batches:
        async for batch in batches:
            if not batch or any(event.type in _ENDS for event in batch):
                run = await _read(database, run_id)
                if run.status.is_final:
                    return run
    raise RuntimeError(f"the stream of run {run_id} ended before the run")


async def _read(database: Store, run_id: str) -> Run:
    async with database.read() as tx:
        row = await store.find_run(tx, run_id)
    if row is None:
        raise RuntimeError(f"there is no run {run_id} to wait for")
    return row.run
