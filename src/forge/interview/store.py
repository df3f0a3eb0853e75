"""Queries for interviews and for what is remembered of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from forge.interview.models import MemoryEntry
from forge.interview.tables import builder_drafts, builder_memory
from forge.store.database import Tx

MAX_DRAFTS = 200


@dataclass(frozen=True)
class DraftRow:
    session_id: str
    account_id: str
    state_json: str
    schema_version: int
    revision: int
    run_id: str | None
    created_at: datetime
    updated_at: datetime
    finished_at: datetime | None


async def insert(tx: Tx, row: DraftRow) -> bool:
    """Return False when the id is taken."""
    statement = tx.insert(builder_drafts).values(**vars(row)).on_conflict_do_nothing()
    made = await tx.execute(statement.returning(builder_drafts.c.session_id))
    return made.one_or_none() is not None


async def find(tx: Tx, session_id: str, *, lock: bool = False) -> DraftRow | None:
    """Find a draft; `lock` holds its row until the transaction ends."""
    query = sa.select(builder_drafts).where(builder_drafts.c.session_id == session_id)
    query = query.with_for_update() if lock else query
    row = (await tx.execute(query)).mappings().one_or_none()
    return _draft(row) if row is not None else None


async def change(tx: Tx, session_id: str, **values: Any) -> None:
    """Update a draft. The caller holds its lock."""
    table = builder_drafts
    await tx.execute(sa.update(table).where(table.c.session_id == session_id).values(**values))


async def list_drafts(tx: Tx, account_id: str) -> list[DraftRow]:
    """List unfinished interviews, the most recent first."""
    table = builder_drafts
    query = (
        sa.select(table)
        .where(table.c.account_id == account_id, table.c.finished_at.is_(None))
        .order_by(table.c.updated_at.desc(), table.c.session_id.desc())
        .limit(MAX_DRAFTS)
    )
    return [_draft(row) for row in (await tx.execute(query)).mappings()]


async def delete(tx: Tx, session_id: str) -> None:
    await tx.execute(sa.delete(builder_drafts).where(builder_drafts.c.session_id == session_id))


async def record(tx: Tx, account_id: str, entry: MemoryEntry) -> None:
    await tx.execute(sa.insert(builder_memory).values(account_id=account_id, **entry.model_dump()))


async def recall_by_category(tx: Tx, account_id: str, category: str, limit: int) -> list[MemoryEntry]:
    """List remembered bots of a category, the latest first. Skills are left out: they have no tone to
    reuse."""
    table = builder_memory
    is_one = (
        table.c.account_id == account_id,
        table.c.purpose_category == category,
        table.c.bot_slug.is_not(None),
    )
    return await _recall(tx, is_one, limit)


async def recall_recent(tx: Tx, account_id: str, limit: int) -> list[MemoryEntry]:
    return await _recall(tx, [builder_memory.c.account_id == account_id], limit)


async def forget(tx: Tx, account_id: str, entry_id: str | None) -> int:
    """Delete one entry, or all with None; return how many were deleted."""
    table = builder_memory
    query = sa.delete(table).where(table.c.account_id == account_id)
    result = await tx.execute(query if entry_id is None else query.where(table.c.id == entry_id))
    return result.rowcount


async def _recall(tx: Tx, where: Sequence[sa.ColumnElement[bool]], limit: int) -> list[MemoryEntry]:
    columns = [column for column in builder_memory.c if column.name != "account_id"]
    query = (
        sa.select(*columns)
        .where(*where)
        .order_by(builder_memory.c.created_at.desc(), builder_memory.c.id.desc())
        .limit(limit)
    )
    return [MemoryEntry.model_validate(dict(row)) for row in (await tx.execute(query)).mappings()]


def _draft(row: sa.RowMapping) -> DraftRow:
    values: dict[str, Any] = dict(row)
    return DraftRow(**values)
