"""Hears what other processes append and whisper: one LISTEN connection per process on PostgreSQL.

SQLite has a single process, whose own commits wake the hub directly; there is nothing to listen to.
"""

import asyncio
import logging

import psycopg

from forge.events.hub import Hub
from forge.events.notices import GREW, WHISPERED, Grown, Notice, read_notice

log = logging.getLogger(__name__)

RECONNECT_S = 1.0


async def listen(url: str, hub: Hub) -> None:
    """Runs until cancelled. After each (re)connection every follower re-reads: nothing missed while away."""
    is_away = False
    while True:
        try:
            async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
                await connection.execute(f"LISTEN {GREW}")
                await connection.execute(f"LISTEN {WHISPERED}")
                hub.wake_all()
                is_away = False
                async for notification in connection.notifies():
                    _hear(hub, Notice(notification.channel, notification.payload))
        except (psycopg.Error, OSError) as error:
            if not is_away:
                is_away = True
                log.warning("lost the event listener, trying until it is back: %s", error)
        await asyncio.sleep(RECONNECT_S)


def _hear(hub: Hub, notice: Notice) -> None:
    try:
        heard = read_notice(notice)
    except ValueError:
        log.warning("another process says on %s what this one does not understand", notice.channel)
        return
    if isinstance(heard, Grown):
        hub.wake(heard.stream, heard.seq)
    elif heard.origin != hub.id:
        hub.whisper(heard.whisper)
