"""Hears what other processes appended: one LISTEN connection per process on PostgreSQL.

SQLite has a single process, whose own commits wake the hub directly; there is nothing to listen to.
"""

import asyncio
import logging

import psycopg

from forge.events.hub import Hub
from forge.events.store import CHANNEL

log = logging.getLogger(__name__)

RECONNECT_S = 1.0


async def listen(url: str, hub: Hub) -> None:
    """Runs until cancelled. After each (re)connection every follower re-reads: nothing missed while away."""
    while True:
        try:
            async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
                await connection.execute(f"LISTEN {CHANNEL}")
                hub.wake_all()
                async for notification in connection.notifies():
                    hub.wake(notification.payload)
        except (psycopg.Error, OSError) as error:
            log.warning("lost the event listener, reconnecting: %s", error)
        await asyncio.sleep(RECONNECT_S)
