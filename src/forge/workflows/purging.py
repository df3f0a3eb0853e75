"""Deletes for good the workflows that were deleted and whose last run is gone."""

import asyncio
import logging

from sqlalchemy.exc import SQLAlchemyError

from forge.store.engine import Store
from forge.workflows import store

log = logging.getLogger(__name__)

EVERY_S = 3600.0


async def purge_deleted(database: Store) -> None:
    """Runs until cancelled."""
    while True:
        try:
            async with database.begin() as tx:
                await store.purge(tx)
        except SQLAlchemyError:
            log.exception("cannot purge deleted workflows; trying again later")
        await asyncio.sleep(EVERY_S)
