"""SQL for started sign-ins."""

from dataclasses import dataclass, field
from datetime import datetime

import sqlalchemy as sa

from forge.github.tables import oauth_states
from forge.store.database import Tx


@dataclass(frozen=True)
class StateRow:
    hash: str
    browser_hash: str
    verifier_sealed: bytes = field(repr=False)
    account_id: str | None
    invitation_hash: str | None
    created_at: datetime
    expires_at: datetime
    used_at: datetime | None = None


async def insert_state(tx: Tx, row: StateRow) -> None:
    values = {name: getattr(row, name) for name in StateRow.__dataclass_fields__}
    await tx.execute(sa.insert(oauth_states).values(values))


async def find_state(tx: Tx, state_hash: str) -> StateRow | None:
    columns = [oauth_states.c[name] for name in StateRow.__dataclass_fields__]
    row = (await tx.execute(sa.select(*columns).where(oauth_states.c.hash == state_hash))).one_or_none()
    return StateRow(*row) if row else None


async def use_state(tx: Tx, state_hash: str, at: datetime) -> bool:
    """Mark the state as used. Return False when it already was."""
    statement = (
        sa.update(oauth_states)
        .where(oauth_states.c.hash == state_hash, oauth_states.c.used_at.is_(None))
        .values(used_at=at)
    )
    return (await tx.execute(statement)).rowcount == 1


async def delete_states_expired_before(tx: Tx, moment: datetime) -> None:
    await tx.execute(sa.delete(oauth_states).where(oauth_states.c.expires_at < moment))
