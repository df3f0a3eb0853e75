"""Which run of a workflow a conversation between bots goes back to: for whoever guards against circles."""

import sqlalchemy as sa

from forge.messages.tables import bot_messages
from forge.store.engine import Tx


async def causing_run(tx: Tx, conversation_id: str) -> str | None:
    """The one that spoke last in it; None when none did."""
    table = bot_messages.c
    query = sa.select(table.sender).where(
        table.conversation_id == conversation_id, table.sender_bot_id.is_(None)
    )
    found = await tx.execute(query.order_by(table.created_at.desc(), table.id.desc()))
    return next((sender["run_id"] for (sender,) in found if sender["type"] == "workflow"), None)
