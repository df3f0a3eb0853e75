"""Operations on runs and gates. Each is one transaction that includes its events."""

from collections.abc import Collection
from typing import Any

from forge.errors import Conflict, Gone, Invalid, NotFound
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.runs import store
from forge.runs.engine import Engine
from forge.runs.executor import Executor
from forge.runs.journal import Journal, run_stream
from forge.runs.kinds import RunKinds
from forge.runs.models import Gate, GateAnswer, GateStatus, NewAnswer, Run, RunDetail, RunStatus, Worker
from forge.runs.step_history import FOLDED, fold_steps
from forge.store.database import Store, Tx
from forge.store.pagination import Cursor, Page, make_page


class Runs:
    def __init__(
        self,
        database: Store,
        events: EventLog,
        kinds: RunKinds,
        journal: Journal,
        engine: Engine,
        executor: Executor,
    ) -> None:
        self._database = database
        self._events = events
        self._kinds = kinds
        self._journal = journal
        self._engine = engine
        self._executor = executor

    async def start(
        self,
        tx: Tx,
        account_id: str,
        kind: str,
        inputs: dict[str, Any],
        *,
        run_id: str | None = None,
        parent_id: str | None = None,
    ) -> Run:
        """Create a run in the transaction of the caller; a worker starts it after the commit.

        A run with a parent ends when the parent ends. If the id exists, no second run is created.
        """
        run = self._kinds.new_run(kind, inputs, run_id=run_id or new_id(), parent_id=parent_id)
        await self._journal.created(tx, run, account_id=account_id, inputs=inputs)
        return run

    async def start_public(self, account_id: str, kind: str, inputs: dict[str, Any]) -> Run:
        self._kinds.public(kind)
        async with self._database.begin() as tx:
            return await self.start(tx, account_id, kind, inputs)

    async def get(self, account_id: str, run_id: str) -> RunDetail:
        async with self._database.read() as tx:
            row = await self._own(tx, account_id, run_id)
            events = await self._events.read(tx, run_stream(run_id), limit=100_000, types=FOLDED)
            return RunDetail(
                run=row.run,
                input=row.input,
                steps=fold_steps(events),
                gates=await store.list_gates(tx, run_id=run_id),
                children=await store.list_children(tx, run_id),
            )

    async def read(self, tx: Tx, run_ids: Collection[str]) -> dict[str, Run]:
        """Return the existing runs among `run_ids`."""
        return {run.id: run for run in await store.find_runs(tx, run_ids)}

    async def find_one(self, account_id: str, run_id: str) -> Run:
        """Return a run without its steps."""
        async with self._database.read() as tx:
            return (await self._own(tx, account_id, run_id)).run

    async def find(
        self,
        account_id: str,
        *,
        statuses: Collection[RunStatus] = (),
        kind: str | None = None,
        cursor: Cursor | None = None,
        limit: int = 50,
    ) -> Page[Run]:
        async with self._database.read() as tx:
            found = await store.list_runs(
                tx, account_id, statuses=statuses, kind=kind, cursor=cursor, limit=limit + 1
            )
        return make_page(found, limit, lambda run: Cursor(run.created_at, run.id))

    async def cancel(self, account_id: str, run_id: str, *, by: str) -> Run:
        """Cancel a run and its descendants; raises Conflict if it has already ended."""
        async with self._database.begin() as tx:
            row = await self._own(tx, account_id, run_id)
            ended = await self._journal.cancelled(tx, run_id, by=by)
            if not ended:
                raise Conflict(f"This run is already {row.run.status.value}.")
        self._executor.stop(ended)
        await self._engine.cancel(ended)
        async with self._database.read() as tx:
            return (await self._own(tx, account_id, run_id)).run

    async def send(self, tx: Tx, run_id: str, topic: str, message: Any) -> None:
        """Send a message to a run, received in order by `RunContext.receive`."""
        row = await store.find_run(tx, run_id)
        if row is None or row.run.status.is_final:
            raise Conflict(f"This run is {row.run.status.value}." if row else "Run not found.")
        await self._engine.send(tx, run_id, topic, message, key=new_id())

    async def list_gates(
        self, account_id: str, *, status: GateStatus | None, cursor: Cursor | None = None, limit: int = 50
    ) -> Page[Gate]:
        async with self._database.read() as tx:
            found = await store.list_gates(
                tx, account_id=account_id, status=status, cursor=cursor, limit=limit + 1
            )
        return make_page(found, limit, lambda gate: Cursor(gate.opened_at, gate.id))

    async def open_gates(self, tx: Tx, account_id: str) -> list[Gate]:
        """List open gates, newest first."""
        return await store.list_gates(tx, account_id=account_id, status=GateStatus.OPEN)

    async def get_gate(self, account_id: str, gate_id: str) -> Gate:
        async with self._database.read() as tx:
            return (await self._own_gate(tx, account_id, gate_id))[0]

    async def answer(self, account_id: str, gate_id: str, new: NewAnswer, *, by: str) -> Gate:
        """Answer a gate. The first answer wins; it must match the hash of the displayed question."""
        async with self._database.begin() as tx:
            gate, owner = await self._own_gate(tx, account_id, gate_id)
            _check_answer(gate, new)
            answer = GateAnswer(option=new.option, comment=new.comment, answered_by=by, answered_at=now())
            settled = await self._journal.gate_answered(tx, gate, owner, answer)
        if settled is None:
            raise Conflict("This question has just been answered by someone else.")
        return settled

    async def may_watch(self, account_id: str, run_id: str) -> bool:
        async with self._database.read() as tx:
            row = await store.find_run(tx, run_id)
        return row is not None and row.account_id == account_id

    @property
    def executing(self) -> int:
        """Number of runs that this process is executing."""
        return len(self._executor.active)

    async def workers(self) -> list[Worker]:
        async with self._database.read() as tx:
            found = await store.list_workers(tx)
        if not self._database.is_sqlite:
            return found
        return [
            worker.model_copy(update={"seen_at": now()}) for worker in found
        ]  # the only worker is this process

    async def count_gates(self, status: GateStatus) -> int:
        async with self._database.read() as tx:
            return await store.count_gates(tx, status)

    async def counts(self) -> dict[str, int]:
        async with self._database.read() as tx:
            return await store.count_runs(tx)

    async def _own(self, tx: Tx, account_id: str, run_id: str) -> store.RunRow:
        row = await store.find_run(tx, run_id)
        if row is None or row.account_id != account_id:
            raise NotFound(f"There is no run {run_id}.")
        return row

    async def _own_gate(self, tx: Tx, account_id: str, gate_id: str) -> tuple[Gate, str]:
        found = await store.find_gate(tx, gate_id)
        if found is None or found[1] != account_id:
            raise NotFound(f"There is no gate {gate_id}.")
        return found


def _check_answer(gate: Gate, new: NewAnswer) -> None:
    if gate.status is GateStatus.ANSWERED:
        raise Conflict("This question has already been answered.")
    if gate.status is not GateStatus.OPEN or (gate.expires_at and gate.expires_at <= now()):
        raise Gone("This question is no longer open.")
    if new.shown_hash != gate.shown_hash:
        raise Conflict("The question changed since you loaded it.", hint="Reload the gate and review it.")
    if new.option not in {option.id for option in gate.options}:
        choices = ", ".join(option.id for option in gate.options)
        raise Invalid(
            f"{new.option!r} is not one of the options.", hint=f"Choose one of: {choices}.", field="option"
        )
