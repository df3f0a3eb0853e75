"""Receive the events of other processes: one LISTEN connection per process on PostgreSQL.

SQLite has a single process, whose commits wake the hub directly.
"""

import asyncio
import logging

import psycopg

from forge.events.hub import Hub
from forge.events.notifications import (
    EPHEMERAL_CHANNEL,
    STREAM_GROWN_CHANNEL,
    Notification,
    StreamGrown,
    parse_notification,
)

log = logging.getLogger(__name__)

RECONNECT_S = 1.0


async def listen(url: str, hub: Hub) -> None:
    """Listen until cancelled. After each (re)connection all streams are read again, so that no event is missed."""
    is_disconnected = False
    while True:
        try:
            async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
                await connection.execute(f"LISTEN {STREAM_GROWN_CHANNEL}")
                await connection.execute(f"LISTEN {EPHEMERAL_CHANNEL}")
                hub.wake_all()
                is_disconnected = False
                async for notification in connection.notifies():
                    _dispatch(hub, Notification(notification.channel, notification.payload))
        except (psycopg.Error, OSError) as error:
            if not is_disconnected:
                is_disconnected = True
                log.warning("lost the event listener's connection, reconnecting: %s", error)
        await asyncio.sleep(RECONNECT_S)


def _dispatch(hub: Hub, notification: Notification) -> None:
    try:
        message = parse_notification(notification)
    except ValueError:
        log.warning(
            "cannot parse a notification on %s, possibly from another version of Forge", notification.channel
        )
        return
    if isinstance(message, StreamGrown):
        hub.wake(message.stream, message.seq)
    elif message.origin != hub.id:
        hub.publish_ephemeral(message.event)
