"""Deletes invocations that are old enough: as long as finished runs are kept, so is the log of skills."""

import asyncio
import logging
from datetime import timedelta

from sqlalchemy.exc import SQLAlchemyError

from forge.kernel.clock import now
from forge.skills import store
from forge.store.engine import Store

log = logging.getLogger(__name__)

EVERY_S = 3600.0


async def keep_tidy(database: Store, keep_days: int) -> None:
    """Runs until cancelled. 0 days keeps everything."""
    while keep_days:
        try:
            async with database.begin() as tx:
                await store.delete_runs_before(tx, now() - timedelta(days=keep_days))
        except (SQLAlchemyError, OSError):
            log.exception("cannot delete old invocations of skills; trying again later")
        await asyncio.sleep(EVERY_S)
