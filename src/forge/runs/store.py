"""SQL queries of runs, gates and workers."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from forge.kernel.clock import now
from forge.runs.models import FINAL, Gate, GateStatus, Run, RunStatus, Worker
from forge.runs.tables import effects, gates, outcomes, runs, workers
from forge.store.database import Tx
from forge.store.pagination import Cursor, newest_first

SIGNED_OFF = datetime(2000, 1, 1, tzinfo=UTC)


# Built once: building these statements takes longer than executing them. Other parameters are changed columns.
_FIND_RUN = sa.select(runs).where(runs.c.id == sa.bindparam("run_id"))
_LOCK_RUN = _FIND_RUN.with_for_update()
_CHANGE_RUN = (
    sa.update(runs)
    .where(runs.c.id == sa.bindparam("run_id"), runs.c.status.in_(sa.bindparam("allowed", expanding=True)))
    .returning(*runs.c)
)
_CHANGE_OWN_RUN = _CHANGE_RUN.where(runs.c.attempt == sa.bindparam("in_attempt"))


@dataclass(frozen=True)
class RunRow:
    """A run with its account and input."""

    run: Run
    account_id: str
    input: dict[str, Any]


async def insert_run(tx: Tx, run: Run, *, account_id: str, inputs: dict[str, Any]) -> bool:
    """Insert a run; returns False if its id exists (a repeated start of the same child)."""
    values = run.model_dump(mode="python", exclude={"progress", "error"})
    return await _insert_once(tx, runs, {**values, "account_id": account_id, "input": inputs})


async def find_run(tx: Tx, run_id: str, *, lock: bool = False) -> RunRow | None:
    found = await tx.execute(_LOCK_RUN if lock else _FIND_RUN, {"run_id": run_id})
    row = found.mappings().one_or_none()
    return _run_row(row) if row else None


async def find_runs(tx: Tx, run_ids: Collection[str]) -> list[Run]:
    found = await tx.execute(sa.select(runs).where(runs.c.id.in_(list(run_ids))))
    return [_run_row(row).run for row in found.mappings()]


async def list_runs(
    tx: Tx,
    account_id: str,
    *,
    statuses: Collection[RunStatus],
    kind: str | None,
    cursor: Cursor | None,
    limit: int,
) -> list[Run]:
    statement = sa.select(runs).where(runs.c.account_id == account_id)
    if statuses:
        statement = statement.where(runs.c.status.in_(list(statuses)))
    if kind is not None:
        statement = statement.where(runs.c.kind == kind)
    found = await tx.execute(newest_first(statement, runs.c.created_at, runs.c.id, cursor, limit))
    return [_run_row(row).run for row in found.mappings()]


async def list_children(tx: Tx, run_id: str) -> list[Run]:
    found = await tx.execute(sa.select(runs).where(runs.c.parent_id == run_id).order_by(runs.c.id))
    return [_run_row(row).run for row in found.mappings()]


async def count_runs(tx: Tx) -> dict[str, int]:
    found = await tx.execute(sa.select(runs.c.status, sa.func.count().label("total")).group_by(runs.c.status))
    return {row.status: row.total for row in found}


async def change_run(
    tx: Tx, run_id: str, allowed: Collection[RunStatus], *, in_attempt: int | None = None, **values: Any
) -> RunRow | None:
    """Change a run that is in one of the `allowed` states; otherwise return None.

    With `in_attempt`, only the worker that started the run last may change it, not one that was considered dead.
    """
    parameters: dict[str, Any] = {"run_id": run_id, "allowed": list(allowed), **values}
    if in_attempt is None:
        found = await tx.execute(_CHANGE_RUN, parameters)
    else:
        found = await tx.execute(_CHANGE_OWN_RUN, parameters | {"in_attempt": in_attempt})
    row = found.mappings().one_or_none()
    return _run_row(row) if row else None


async def cancelled_among(tx: Tx, run_ids: Collection[str]) -> list[str]:
    statement = sa.select(runs.c.id).where(runs.c.id.in_(list(run_ids)), runs.c.status == RunStatus.CANCELLED)
    return list((await tx.execute(statement)).scalars())


async def finished_before(tx: Tx, moment: datetime, limit: int) -> list[str]:
    """List old finished runs, except those whose parent is active and may not have read their result."""
    parent = runs.alias("parent")
    is_awaited = sa.exists().where(parent.c.id == runs.c.parent_id, parent.c.status.not_in(list(FINAL)))
    statement = (
        sa.select(runs.c.id)
        .where(runs.c.status.in_(list(FINAL)), runs.c.finished_at < moment, ~is_awaited)
        .order_by(runs.c.finished_at)
        .limit(limit)
    )
    return list((await tx.execute(statement)).scalars())


async def delete_runs(tx: Tx, run_ids: Sequence[str]) -> None:
    await tx.execute(sa.delete(runs).where(runs.c.id.in_(run_ids)))


async def insert_gate(tx: Tx, gate: Gate, *, account_id: str) -> bool:
    """Insert a gate; returns False if it exists (its step is repeated after a crash)."""
    values = gate.model_dump(mode="python", exclude={"answer"})
    return await _insert_once(tx, gates, {**values, "account_id": account_id})


async def find_gate(tx: Tx, gate_id: str) -> tuple[Gate, str] | None:
    """Return a gate and its account."""
    row = (await tx.execute(sa.select(gates).where(gates.c.id == gate_id))).mappings().one_or_none()
    return (Gate.model_validate(dict(row)), row["account_id"]) if row else None


async def list_gates(
    tx: Tx,
    *,
    account_id: str | None = None,
    run_id: str | None = None,
    status: GateStatus | None = None,
    cursor: Cursor | None = None,
    limit: int = 200,
) -> list[Gate]:
    statement = sa.select(gates)
    if account_id is not None:
        statement = statement.where(gates.c.account_id == account_id)
    if run_id is not None:
        statement = statement.where(gates.c.run_id == run_id)
    if status is not None:
        statement = statement.where(gates.c.status == status)
    found = await tx.execute(newest_first(statement, gates.c.opened_at, gates.c.id, cursor, limit))
    return [Gate.model_validate(dict(row)) for row in found.mappings()]


async def count_gates(tx: Tx, status: GateStatus) -> int:
    return (await tx.execute(sa.select(sa.func.count()).where(gates.c.status == status))).scalar_one()


async def settle_gate(
    tx: Tx, gate_id: str, status: GateStatus, answer: dict[str, Any] | None = None
) -> Gate | None:
    """Settle an open gate; returns None if it is settled already."""
    statement = (
        sa.update(gates)
        .where(gates.c.id == gate_id, gates.c.status == GateStatus.OPEN)
        .values(status=status, answer=answer)
        .returning(*gates.c)
    )
    row = (await tx.execute(statement)).mappings().one_or_none()
    return Gate.model_validate(dict(row)) if row else None


async def claim_effect(tx: Tx, run_id: str, step: int) -> bool:
    """Claim an effect; returns False if it was applied. Waits for a concurrent transaction that claims it."""
    statement = tx.insert(effects).values(run_id=run_id, step=step).on_conflict_do_nothing()
    return (await tx.execute(statement.returning(effects.c.step))).one_or_none() is not None


async def find_effect(tx: Tx, run_id: str, step: int) -> Any:
    statement = sa.select(effects.c.result).where(effects.c.run_id == run_id, effects.c.step == step)
    return (await tx.execute(statement)).scalar_one()


async def record_effect(tx: Tx, run_id: str, step: int, result: Any) -> None:
    statement = sa.update(effects).where(effects.c.run_id == run_id, effects.c.step == step)
    await tx.execute(statement.values(result=result))


async def save_outcome(tx: Tx, run_id: str, step: int, attempt: int, value: Any) -> bool:
    """Save an outcome; returns False if there is one already, which is kept."""
    statement = tx.insert(outcomes).values(run_id=run_id, step=step, attempt=attempt, value=value)
    saved = await tx.execute(statement.on_conflict_do_nothing().returning(outcomes.c.step))
    return saved.one_or_none() is not None


async def forget_outcome(tx: Tx, run_id: str, step: int, attempt: int) -> None:
    key = (outcomes.c.run_id == run_id) & (outcomes.c.step == step) & (outcomes.c.attempt == attempt)
    await tx.execute(sa.delete(outcomes).where(key))


async def find_outcome(tx: Tx, run_id: str, step: int, attempt: int) -> tuple[Any] | None:
    """Return the outcome in a tuple, because its value may be None."""
    statement = sa.select(outcomes.c.value).where(
        outcomes.c.run_id == run_id, outcomes.c.step == step, outcomes.c.attempt == attempt
    )
    row = (await tx.execute(statement)).one_or_none()
    return None if row is None else (row.value,)


async def insert_worker(tx: Tx, worker_id: str, host: str, pid: int) -> None:
    await tx.execute(sa.delete(workers).where(workers.c.id == worker_id))
    moment = _database_time(tx)
    await tx.execute(
        sa.insert(workers).values(id=worker_id, host=host, pid=pid, started_at=moment, seen_at=moment)
    )


async def touch_worker(tx: Tx, worker_id: str) -> tuple[datetime, datetime] | None:
    """Renew the lease. Return the previous and the current time by the clock of the database, or None if the
    lease was removed because other workers considered this one dead."""
    own = workers.c.id == worker_id
    before = (
        await tx.execute(sa.select(workers.c.seen_at).where(own).with_for_update())
    ).scalar_one_or_none()
    if before is None:
        return None
    touched = sa.update(workers).where(own).values(seen_at=_database_time(tx)).returning(workers.c.seen_at)
    return before, (await tx.execute(touched)).scalar_one()


async def expire_worker(tx: Tx, worker_id: str) -> None:
    await tx.execute(sa.update(workers).where(workers.c.id == worker_id).values(seen_at=SIGNED_OFF))


async def list_workers(tx: Tx) -> list[Worker]:
    """List workers that have not signed off."""
    statement = sa.select(workers).where(workers.c.seen_at > SIGNED_OFF).order_by(workers.c.started_at)
    found = await tx.execute(statement)
    return [Worker.model_validate(dict(row)) for row in found.mappings()]


async def silent_workers(tx: Tx, at: datetime | None, lease: timedelta) -> list[str]:
    """List workers that signed off and, if `at` (the time of the database) is passed, those with an
    expired lease. A time in the future means that the clock was set back after their last renewal."""
    is_gone = workers.c.seen_at <= SIGNED_OFF
    if at is not None:
        is_gone |= sa.not_(workers.c.seen_at.between(at - lease, at + lease))
    return list((await tx.execute(sa.select(workers.c.id).where(is_gone))).scalars())


async def remove_worker(tx: Tx, worker_id: str) -> None:
    await tx.execute(sa.delete(workers).where(workers.c.id == worker_id))


def _database_time(tx: Tx) -> Any:
    return sa.func.clock_timestamp() if tx.is_postgresql else now()


def _run_row(row: sa.RowMapping) -> RunRow:
    values = dict(row)
    account_id, inputs = values.pop("account_id"), values.pop("input")
    return RunRow(Run.model_validate(values), account_id, inputs)


async def _insert_once(tx: Tx, table: sa.Table, values: dict[str, Any]) -> bool:
    statement = tx.insert(table).values(**values).on_conflict_do_nothing(index_elements=["id"])
    return (await tx.execute(statement.returning(table.c.id))).one_or_none() is not None
