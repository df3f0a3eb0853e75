"""Live followers of streams, in this process.

Wake-ups carry no data: followers re-read the log. Per stream one pump reads each new event once, whatever the
number of followers, and keeps the latest few in memory. A follower only has a cursor, so a slow one costs
nothing: when the memory no longer reaches back to its cursor, it is served from the database instead.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from sqlalchemy.exc import SQLAlchemyError

from forge.errors import Conflict, NotFound
from forge.events.models import Event

log = logging.getLogger(__name__)

BATCH = 500
KEPT = 1000
RECHECK_S = 15.0
"""A lost wake-up delays an event by this much at most."""
RETRY_S = 1.0

Read = Callable[[str, int, int], Awaitable[list[Event]]]
LastSeq = Callable[[str], Awaitable[int]]


class Channel:
    """One followed stream: its newest events and who waits for more."""

    def __init__(self, stream: str, tail: int) -> None:
        self.stream = stream
        self.tail = tail
        self.followers = 0
        self.pump: asyncio.Task[None] | None = None
        self.dirty = asyncio.Event()
        self.changed = asyncio.Event()
        self._recent: deque[Event] = deque(maxlen=KEPT)

    def extend(self, events: list[Event]) -> None:
        self._recent.extend(events)
        self.tail = events[-1].seq
        self.changed.set()
        self.changed = asyncio.Event()

    def since(self, cursor: int) -> list[Event] | None:
        """What is in memory after `cursor`, or None when memory does not reach back so far."""
        if cursor >= self.tail:
            return []
        first = self._recent[0].seq if self._recent else self.tail + 1
        if cursor + 1 < first:
            return None
        start = cursor + 1 - first
        return [self._recent[i] for i in range(start, min(start + BATCH, len(self._recent)))]


class Hub:
    """Hands each stream's events to everyone who follows it."""

    def __init__(self, read: Read, last_seq: LastSeq) -> None:
        self._read = read
        self._last_seq = last_seq
        self._channels: dict[str, Channel] = {}

    def wake(self, stream: str) -> None:
        if channel := self._channels.get(stream):
            channel.dirty.set()

    def wake_all(self) -> None:
        for channel in self._channels.values():
            channel.dirty.set()

    async def follow(self, stream: str, after: int) -> AsyncGenerator[list[Event], None]:
        """Everything past `after`: first what is in the log, then what comes, in order, nothing twice.

        The first item is always a (perhaps empty) list, so that a caller knows that it is connected.
        """
        async with self._open(stream) as channel:
            if after > channel.tail and after > await self._last_seq(stream):
                raise Conflict(
                    f"The stream {stream} has not come as far as {after}.",
                    hint="Forget what you have of it and follow it from 0.",
                )
            yield []
            while True:
                changed = channel.changed
                batch = channel.since(after)
                if batch is None:
                    batch = await self._read(stream, after, BATCH)
                    if not batch:
                        raise NotFound(f"The stream {stream} was deleted.")
                if batch:
                    after = batch[-1].seq
                    yield batch
                elif channel.tail <= after:
                    await changed.wait()

    @asynccontextmanager
    async def _open(self, stream: str) -> AsyncGenerator[Channel, None]:
        channel = self._channels.get(stream)
        if channel is None:
            tail = await self._last_seq(stream)
            channel = self._channels.setdefault(stream, Channel(stream, tail))
        channel.followers += 1
        if channel.pump is None:
            channel.pump = asyncio.create_task(self._pump(channel), name=f"events:{stream}")
        try:
            yield channel
        finally:
            channel.followers -= 1
            if channel.followers == 0:
                self._channels.pop(stream, None)
                channel.pump.cancel()

    async def _pump(self, channel: Channel) -> None:
        while channel.followers:
            await self._catch_up(channel)
            try:
                async with asyncio.timeout(RECHECK_S):
                    await channel.dirty.wait()
            except TimeoutError:
                pass
            channel.dirty.clear()

    async def _catch_up(self, channel: Channel) -> None:
        try:
            while events := await self._read(channel.stream, channel.tail, BATCH):
                channel.extend(events)
        except (SQLAlchemyError, OSError):
            log.exception("cannot read stream %s; trying again", channel.stream)
            await asyncio.sleep(RETRY_S)
            channel.dirty.set()
