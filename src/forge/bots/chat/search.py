"""Finds messages by their words, in all conversations with a bot."""

import sqlalchemy as sa

from forge.bots.chat.models import SearchHit, Speaker
from forge.bots.tables import chat_messages, chat_sessions
from forge.store.engine import Tx
from forge.store.fulltext import match_messages


async def find_messages(tx: Tx, bot_id: str, words: str, limit: int) -> list[SearchHit]:
    """The best first."""
    matches = await match_messages(tx, bot_id, words, limit)
    found = await tx.execute(
        sa.select(
            chat_messages.c.id,
            chat_messages.c.session_id,
            chat_messages.c.role,
            chat_messages.c.created_at,
            chat_sessions.c.title,
        )
        .join(chat_sessions, chat_sessions.c.id == chat_messages.c.session_id)
        .where(chat_messages.c.id.in_([match.id for match in matches]))
    )
    rows = {row.id: row for row in found}
    return [
        SearchHit(
            session_id=row.session_id,
            session_title=row.title,
            message_id=row.id,
            role=Speaker(row.role),
            excerpt=match.excerpt,
            created_at=row.created_at,
        )
        for match in matches
        if (row := rows.get(match.id))
    ]
