"""Deletes for good what was deleted long enough ago: bots with their folders, versions, conversations and memories."""

import asyncio
import logging
from datetime import datetime

from sqlalchemy.exc import SQLAlchemyError

from forge.bots import store
from forge.bots.folder import Folders
from forge.bots.service import KEPT
from forge.errors import ForgeError
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.store.engine import Store

log = logging.getLogger(__name__)

EVERY_S = 3600.0
BATCH = 100


async def purge_deleted(database: Store, events: EventLog, folders: Folders) -> None:
    """Runs until cancelled."""
    while True:
        try:
            if purged := await sweep(database, events, folders, at=now()):
                log.info("purged %d bots that were deleted %d days ago", purged, KEPT.days)
        except (SQLAlchemyError, OSError, ForgeError):
            log.exception("cannot purge deleted bots; trying again later")
        await asyncio.sleep(EVERY_S)


async def sweep(database: Store, events: EventLog, folders: Folders, *, at: datetime) -> int:
    """The folder first: an interruption leaves a row that the next sweep finds again."""
    limit, purged = at - KEPT, 0
    while True:
        async with database.read() as tx:
            old = await store.deleted_before(tx, limit, BATCH)
        if not old:
            return purged
        for bot_id, slug in old:
            await asyncio.to_thread(_discard, folders, bot_id, slug)
            async with database.begin() as tx:
                sessions = await store.session_ids(tx, bot_id)
                await events.delete(tx, *(f"session:{session_id}" for session_id in sessions))
                await store.purge(tx, bot_id, limit)
        purged += len(old)


def _discard(folders: Folders, bot_id: str, slug: str) -> None:
    """From where a delete that was interrupted has left it, too: a deleted bot keeps its slug, so it is its own."""
    folders.to_trash(slug, bot_id)
    folders.discard(bot_id)
