"""What other features' SQL may ask about runs."""

import sqlalchemy as sa

from forge.runs.journal import ACTIVE
from forge.runs.tables import runs


def active_ids() -> sa.Select[tuple[str]]:
    """The ids of runs that have not ended."""
    return sa.select(runs.c.id).where(runs.c.status.in_(list(ACTIVE)))
