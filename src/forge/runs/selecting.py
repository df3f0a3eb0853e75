"""What other features' SQL may ask about runs."""

import sqlalchemy as sa

from forge.runs.models import ACTIVE
from forge.runs.tables import runs
from forge.store.engine import Tx


def active_ids() -> sa.Select[tuple[str]]:
    """The ids of runs that have not ended."""
    return sa.select(runs.c.id).where(runs.c.status.in_(list(ACTIVE)))


async def ancestors(tx: Tx, run_id: str) -> set[str]:
    """The runs this one is below."""
    found: set[str] = set()
    current: str | None = run_id
    while current is not None:
        current = (
            await tx.execute(sa.select(runs.c.parent_id).where(runs.c.id == current))
        ).scalar_one_or_none()
        if current is not None:
            found.add(current)
    return found
