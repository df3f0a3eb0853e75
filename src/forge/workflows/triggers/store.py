"""SQL queries for triggers and event cursors."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from forge.store.database import Tx
from forge.workflows.models import TriggerType
from forge.workflows.tables import workflow_cursors, workflow_runs, workflow_triggers, workflows


@dataclass(frozen=True)
class TriggerRow:
    workflow_id: str
    position: int
    account_id: str
    type: TriggerType
    config: dict[str, Any]
    next_at: datetime | None
    last_fired_at: datetime | None
    error: str | None
    workflow_name: str


@dataclass(frozen=True)
class CausingRun:
    workflow_id: str
    workflow_name: str
    depth: int


_ROW = (
    workflow_triggers.c.workflow_id,
    workflow_triggers.c.position,
    workflow_triggers.c.account_id,
    workflow_triggers.c.type,
    workflow_triggers.c.config,
    workflow_triggers.c.next_at,
    workflow_triggers.c.last_fired_at,
    workflow_triggers.c.error,
    workflows.c.name.label("workflow_name"),
)
_ROWS = sa.select(*_ROW).join(workflows, workflows.c.id == workflow_triggers.c.workflow_id)
_IS_LIVE = workflows.c.is_enabled & workflows.c.deleted_at.is_(None)


async def _read(tx: Tx, query: sa.Executable) -> list[TriggerRow]:
    found = await tx.execute(query)
    return [_row(dict(row)) for row in found.mappings()]


def _row(values: dict[str, Any]) -> TriggerRow:
    values["type"] = TriggerType(values["type"])
    return TriggerRow(**values)


async def list_of(tx: Tx, workflow_ids: Collection[str]) -> list[TriggerRow]:
    query = _ROWS.where(workflow_triggers.c.workflow_id.in_(workflow_ids))
    return await _read(tx, query.order_by(workflow_triggers.c.workflow_id, workflow_triggers.c.position))


async def list_live(tx: Tx, kind: TriggerType, account_id: str | None = None) -> list[TriggerRow]:
    """List the triggers of one type of enabled workflows, of one account or of all."""
    query = _ROWS.where(_IS_LIVE, workflow_triggers.c.type == kind)
    if account_id is not None:
        query = query.where(workflow_triggers.c.account_id == account_id)
    return await _read(tx, query.order_by(workflow_triggers.c.workflow_id, workflow_triggers.c.position))


async def list_due(tx: Tx, at: datetime, limit: int) -> list[TriggerRow]:
    query = _ROWS.where(_IS_LIVE, workflow_triggers.c.next_at <= at)
    return await _read(tx, query.order_by(workflow_triggers.c.next_at).limit(limit))


async def next_due(tx: Tx) -> datetime | None:
    return (await tx.execute(sa.select(sa.func.min(workflow_triggers.c.next_at)))).scalar_one()


async def find_webhook(tx: Tx, path: str) -> TriggerRow | None:
    found = await _read(tx, _ROWS.where(_IS_LIVE, workflow_triggers.c.path == path))
    return found[0] if found else None


async def name_at(tx: Tx, path: str) -> str | None:
    """Return the name of the workflow with this webhook path, enabled or not."""
    found = await _read(tx, _ROWS.where(workflow_triggers.c.path == path))
    return found[0].workflow_name if found else None


async def delete(tx: Tx, workflow_id: str) -> None:
    await tx.execute(sa.delete(workflow_triggers).where(workflow_triggers.c.workflow_id == workflow_id))


async def insert(tx: Tx, values: dict[str, Any]) -> bool:
    """Return False if the webhook path is taken."""
    statement = tx.insert(workflow_triggers).values(**values).on_conflict_do_nothing(index_elements=["path"])
    return (await tx.execute(statement.returning(workflow_triggers.c.position))).one_or_none() is not None


async def lock_workflow(tx: Tx, workflow_id: str) -> bool:
    """Lock an enabled workflow; return False if it is disabled or deleted.

    Taken before any other lock: saving a workflow locks it too before it replaces the triggers.
    """
    query = sa.select(workflows.c.id).where(workflows.c.id == workflow_id, _IS_LIVE).with_for_update()
    return (await tx.execute(query)).one_or_none() is not None


async def find(tx: Tx, row: TriggerRow) -> TriggerRow | None:
    """Return the current row; None if the trigger was removed or replaced by another one."""
    found = await _read(tx, _ROWS.where(*_is(row)))
    return found[0] if found and (found[0].type, found[0].config) == (row.type, row.config) else None


async def change(tx: Tx, row: TriggerRow, **values: Any) -> None:
    await tx.execute(sa.update(workflow_triggers).where(*_is(row)).values(**values))


def _is(row: TriggerRow) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        workflow_triggers.c.workflow_id == row.workflow_id,
        workflow_triggers.c.position == row.position,
    )


async def causing_runs(tx: Tx, run_ids: Collection[str]) -> dict[str, CausingRun]:
    """Return those of the runs that are workflow runs, by id."""
    columns = (
        workflow_runs.c.run_id,
        workflow_runs.c.workflow_id,
        workflow_runs.c.workflow_name,
        workflow_runs.c.depth,
    )
    found = await tx.execute(sa.select(*columns).where(workflow_runs.c.run_id.in_(run_ids)))
    return {row.run_id: CausingRun(row.workflow_id, row.workflow_name, row.depth) for row in found}


async def cursors(tx: Tx) -> dict[str, int]:
    found = await tx.execute(sa.select(workflow_cursors.c.account_id, workflow_cursors.c.seq))
    return {row.account_id: row.seq for row in found}


async def lock_cursor(tx: Tx, account_id: str) -> int | None:
    query = sa.select(workflow_cursors.c.seq).where(workflow_cursors.c.account_id == account_id)
    return (await tx.execute(query.with_for_update())).scalar_one_or_none()


async def begin_cursor(tx: Tx, account_id: str, seq: int) -> None:
    """Insert a cursor unless there is one."""
    await tx.execute(
        tx.insert(workflow_cursors).values(account_id=account_id, seq=seq).on_conflict_do_nothing()
    )


async def move_cursor(tx: Tx, account_id: str, seq: int, *, back: bool = False) -> None:
    """Move a cursor, forward only unless `back` is set because the stream was recreated."""
    statement = sa.update(workflow_cursors).where(workflow_cursors.c.account_id == account_id)
    if not back:
        statement = statement.where(workflow_cursors.c.seq < seq)
    await tx.execute(statement.values(seq=seq))


async def end_cursor(tx: Tx, account_id: str) -> None:
    await tx.execute(sa.delete(workflow_cursors).where(workflow_cursors.c.account_id == account_id))


async def has_live_events(tx: Tx, account_id: str, *, except_id: str) -> bool:
    rows: Sequence[TriggerRow] = await list_live(tx, TriggerType.EVENT, account_id)
    return any(row.workflow_id != except_id for row in rows)


async def count_by_events(tx: Tx, workflow_id: str, since: datetime, until: datetime) -> int:
    """Count the runs started by events. `until` excludes runs from before the clock was set back."""
    query = sa.select(sa.func.count()).where(
        workflow_runs.c.workflow_id == workflow_id,
        workflow_runs.c.created_at > since,
        workflow_runs.c.created_at <= until,
        workflow_runs.c.trigger == TriggerType.EVENT.value,
    )
    return (await tx.execute(query)).scalar_one()
