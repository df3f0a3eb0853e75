"""Deletes for good what was deleted long enough ago: bots with their folders, versions, conversations and memories, and
with the models and secrets that were theirs."""

import asyncio
import logging
from datetime import datetime

from sqlalchemy.exc import SQLAlchemyError

from forge.accounts.vault import forget_secrets
from forge.bots import store
from forge.bots.chat.branches import session_stream
from forge.bots.folder import Folders
from forge.bots.models import Bot
from forge.bots.readiness import bot_scope
from forge.bots.service import KEPT
from forge.errors import ForgeError
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.llm.catalog import forget_choices
from forge.store.engine import Store

log = logging.getLogger(__name__)

EVERY_S = 3600.0


async def purge_deleted(database: Store, events: EventLog, folders: Folders) -> None:
    """Runs until cancelled."""
    while True:
        try:
            if purged := await sweep(database, events, folders, at=now()):
                log.info("purged %d bots that were deleted %d days ago", purged, KEPT.days)
        except SQLAlchemyError:
            log.exception("cannot purge deleted bots; trying again later")
        await asyncio.sleep(EVERY_S)


async def sweep(database: Store, events: EventLog, folders: Folders, *, at: datetime) -> int:
    """How many there were. One that cannot be purged does not keep the others."""
    purged = 0
    async with database.read() as tx:
        old = await store.deleted_before(tx, at - KEPT)
    for bot_id in old:
        try:
            purged += await _purge(database, events, folders, bot_id)
        except (OSError, ForgeError):
            log.exception("cannot remove the folder of the bot %s; trying again later", bot_id)
    return purged


async def _purge(database: Store, events: EventLog, folders: Folders, bot_id: str) -> bool:
    """The folder first: an interruption leaves a row that the next sweep finds again."""
    async with database.begin() as tx:
        bot = await store.lock(tx, bot_id)
        if bot is None or bot.deleted_at is None:
            return False
        await asyncio.to_thread(_discard, folders, bot)
        sessions = await store.session_ids(tx, bot_id)
        await events.delete(tx, *map(session_stream, sessions))
        await forget_choices(tx, bot_scope(bot_id))
        await forget_secrets(tx, bot_scope(bot_id))
        await store.purge(tx, bot_id)
    return True


def _discard(folders: Folders, bot: Bot) -> None:
    """From where a delete that was interrupted has left it, too: a deleted bot keeps its slug, so it is its own."""
    folders.to_trash(bot.slug, bot.id)
    folders.discard(bot.id)
