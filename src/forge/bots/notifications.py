"""Publish changes of bots on the account's stream."""

import sqlalchemy as sa

from forge.bots.models import BotChanged, BotPart
from forge.bots.tables import bots
from forge.events.log import EventLog
from forge.runs.journal import account_stream
from forge.store.database import Tx


async def notify_changed(tx: Tx, events: EventLog, bot_id: str, part: BotPart) -> None:
    query = sa.select(bots.c.account_id, bots.c.slug).where(bots.c.id == bot_id)
    found = (await tx.execute(query)).one_or_none()
    if found is not None:
        fact = BotChanged(bot_id=bot_id, slug=found.slug, part=part)
        events.append_last(tx, account_stream(found.account_id), fact)
