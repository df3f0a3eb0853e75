"""Live followers of streams, in this process.

Wake-ups carry no events: followers re-read the log. Per stream one pump reads each new event once, whatever the
number of followers, and keeps the latest few in memory. Whispers are never in the log: they go from hand to hand.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager

from sqlalchemy.exc import SQLAlchemyError

from forge.errors import Conflict, NotFound
from forge.events.channel import BATCH, Channel, Cursor
from forge.events.models import Event, Whisper
from forge.kernel.ids import new_id

log = logging.getLogger(__name__)

RECHECK_S = 15.0
"""A lost wake-up delays an event by this much at most."""
RETRY_S = 1.0

Read = Callable[[str, int, int], Awaitable[list[Event]]]
LastSeq = Callable[[str], Awaitable[int]]


class Hub:
    """Hands each stream's events to everyone who follows it. Its `id` tells its own whispers from other processes'."""

    def __init__(self, read: Read, last_seq: LastSeq) -> None:
        self.id = new_id()
        self._read = read
        self._last_seq = last_seq
        self._channels: dict[str, Channel] = {}

    def is_followed(self, stream: str) -> bool:
        return stream in self._channels

    def wake(self, stream: str, seq: int) -> None:
        """The stream has grown to `seq`."""
        if channel := self._channels.get(stream):
            channel.announce(seq)

    def wake_all(self) -> None:
        for channel in self._channels.values():
            channel.dirty.set()

    def whisper(self, whisper: Whisper) -> None:
        """To those who follow its stream now, behind every event that this process was woken for."""
        if channel := self._channels.get(whisper.stream):
            channel.whisper(whisper)

    async def follow(self, stream: str, after: int) -> AsyncGenerator[list[Event | Whisper], None]:
        """Everything past `after`: first what is in the log, then what comes, in order, nothing twice.

        The first item is always a (perhaps empty) list, so that a caller knows that it is connected. Whispers are
        those from now on, as far as the caller keeps up with them.
        """
        async with self._open(stream) as channel:
            if after > channel.tail and after > await self._last_seq(stream):
                raise Conflict(
                    f"The stream {stream} has not come as far as {after}.",
                    hint="Forget what you have of it and follow it from 0.",
                )
            cursor = Cursor(after, heard=channel.whispered)
            yield []
            while True:
                changed = channel.changed
                batch = channel.take(cursor)
                if batch is None:
                    batch = await self._replay(stream, cursor)
                if batch:
                    yield batch
                elif channel.tail <= cursor.seq:
                    await changed.wait()

    async def _replay(self, stream: str, cursor: Cursor) -> list[Event | Whisper]:
        events = await self._read(stream, cursor.seq, BATCH)
        if not events:
            raise NotFound(f"The stream {stream} was deleted.")
        cursor.seq = events[-1].seq
        return [*events]

    @asynccontextmanager
    async def _open(self, stream: str) -> AsyncGenerator[Channel, None]:
        channel = self._channels.get(stream)
        if channel is None:
            tail = await self._last_seq(stream)
            channel = self._channels.setdefault(stream, Channel(stream, tail))
        channel.followers += 1
        is_new = channel.pump is None
        if channel.pump is None:
            channel.pump = asyncio.create_task(self._pump(channel), name=f"events:{stream}")
        try:
            if is_new:  # nobody was woken for what was appended since the tail was read
                channel.announce(await self._last_seq(stream))
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
