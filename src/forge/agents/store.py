"""SQL queries of messages to running agents."""

from datetime import datetime

import sqlalchemy as sa

from forge.agents.models import Interjection
from forge.agents.tables import agent_messages
from forge.store.database import Tx


async def insert_message(tx: Tx, run_id: str, message: Interjection, sent_at: datetime) -> None:
    await tx.execute(sa.insert(agent_messages).values(**message.model_dump(), run_id=run_id, sent_at=sent_at))


async def take_messages(tx: Tx, run_id: str, turn: int) -> list[Interjection]:
    """Return undelivered messages in order and mark them as delivered before this turn."""
    unheard = (agent_messages.c.run_id == run_id) & agent_messages.c.heard_turn.is_(None)
    found = await tx.execute(sa.select(agent_messages).where(unheard).order_by(agent_messages.c.id))
    messages = [Interjection(id=row.id, text=row.text, sent_by=row.sent_by) for row in found]
    if messages:
        taken = agent_messages.c.id.in_([message.id for message in messages])
        await tx.execute(sa.update(agent_messages).where(taken).values(heard_turn=turn))
    return messages
