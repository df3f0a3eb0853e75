"""Queries on runs that other features execute in their own transactions: ownership, active runs, ancestors.

Runs with a journal of their own check in each writing transaction that this worker still owns them, so that a
worker that was considered dead changes nothing.
"""

import asyncio
from collections.abc import Mapping

import sqlalchemy as sa

from forge.runs.models import ACTIVE
from forge.runs.tables import runs
from forge.store.database import Tx

# Built once: executed before each step is recorded.
_ACTIVE = sa.select(runs.c.id, runs.c.attempt).where(
    runs.c.id.in_(sa.bindparam("ids", expanding=True)), runs.c.status.in_(list(ACTIVE))
)
_WAIT_FOR_LOCKS = _ACTIVE.with_for_update(read=True)
_SKIP_LOCKED = _ACTIVE.with_for_update(read=True, skip_locked=True)


class TakenOver(asyncio.CancelledError):
    """The run was cancelled or taken over by another worker."""


async def still_owned(tx: Tx, attempts: Mapping[str, int], *, patient: bool) -> set[str]:
    """Return the runs that their attempts still own, locked until the transaction ends.

    `patient=False` skips runs that are locked by others, so that a query for many runs cannot deadlock.
    """
    found = await tx.execute(_WAIT_FOR_LOCKS if patient else _SKIP_LOCKED, {"ids": list(attempts)})
    return {row.id for row in found if attempts[row.id] == row.attempt}


def active_ids() -> sa.Select[tuple[str]]:
    """Select the ids of active runs."""
    return sa.select(runs.c.id).where(runs.c.status.in_(list(ACTIVE)))


async def ancestors(tx: Tx, run_id: str) -> set[str]:
    """Return the ids of all ancestors of a run."""
    found: set[str] = set()
    current: str | None = run_id
    while current is not None:
        current = (
            await tx.execute(sa.select(runs.c.parent_id).where(runs.c.id == current))
        ).scalar_one_or_none()
        if current is not None:
            found.add(current)
    return found
