"""Who may still write for a run: only the worker that took it up last, and only while the run goes on.

For runs that keep a journal of their own. What they write is written in the transaction that asked here, so that a
worker that was held for dead changes nothing any more.
"""

import asyncio
from collections.abc import Mapping

import sqlalchemy as sa

from forge.runs.models import ACTIVE
from forge.runs.tables import runs
from forge.store.engine import Tx

# Built once: asked before each step is written down.
_ACTIVE = sa.select(runs.c.id, runs.c.attempt).where(
    runs.c.id.in_(sa.bindparam("ids", expanding=True)), runs.c.status.in_(list(ACTIVE))
)
_PATIENT = _ACTIVE.with_for_update(read=True)
_IMPATIENT = _ACTIVE.with_for_update(read=True, skip_locked=True)


class TakenOver(asyncio.CancelledError):
    """This run is not ours any more: it was cancelled, or another worker has it."""


async def still_owned(tx: Tx, attempts: Mapping[str, int], *, patient: bool) -> set[str]:
    """Of these runs and attempts, those that may write. They stay so until the transaction ends.

    Impatient, runs that somebody else changes at this moment are left out, so that asking for many never waits for
    one that waits for another of them.
    """
    found = await tx.execute(_PATIENT if patient else _IMPATIENT, {"ids": list(attempts)})
    return {row.id for row in found if attempts[row.id] == row.attempt}
