"""Which run of a workflow a conversation between bots goes back to: for whoever guards against circles."""

import sqlalchemy as sa

from forge.messages.tables import bot_messages
from forge.store.engine import Tx


async def causing_run(tx: Tx, conversation_id: str) -> str | None:
    """The one that spoke last in it; None when none did."""
    query = sa.select(bot_messages.c.sender).where(bot_messages.c.conversation_id == conversation_id)
    found = await tx.execute(query.order_by(bot_messages.c.created_at.desc(), bot_messages.c.id.desc()))
    return next((sender["run_id"] for (sender,) in found if sender["type"] == "workflow"), None)
