"""Live followers of streams in this process.

Wake-ups carry no events: the hub reads them from the log. Per stream one task reads each new event once, for any number
of followers, and keeps the latest in memory. A follower is only a cursor, so a slow one costs nothing: if memory no
longer reaches back to its cursor, it reads from the database and misses ephemeral events, which are never stored.
"""

import asyncio
import logging
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from forge.errors import Conflict, NotFound
from forge.events.models import EphemeralEvent, Event
from forge.kernel.ids import new_id

BATCH_SIZE = 500
MAX_RECENT = 1000
MAX_EPHEMERAL = 256


@dataclass
class Cursor:
    """The position of a follower: its last sequence number and its last ephemeral event."""

    seq: int
    ephemeral_number: int


@dataclass(frozen=True)
class PositionedEvent:
    """An ephemeral event with its position: directly behind the durable event with sequence number `after`."""

    number: int
    after: int
    event: EphemeralEvent


class Channel:
    def __init__(self, stream: str, tail: int) -> None:
        self.stream = stream
        self.tail = tail
        self.followers = 0
        self.ephemeral_count = 0
        self.pump: asyncio.Task[None] | None = None
        self.dirty = asyncio.Event()
        self.changed = asyncio.Event()
        self._announced = tail
        self._recent: deque[Event] = deque(maxlen=MAX_RECENT)
        self._ephemeral: deque[PositionedEvent] = deque(maxlen=MAX_EPHEMERAL)

    def announce(self, seq: int) -> None:
        """Note that the log reaches `seq`; wake the reader if that was not read yet."""
        if seq > self.tail:
            self._announced = max(self._announced, seq)
            self.dirty.set()

    def extend(self, events: list[Event]) -> None:
        self._recent.extend(events)
        self.tail = events[-1].seq
        self._wake_followers()

    def add_ephemeral(self, event: EphemeralEvent) -> None:
        """Queue an ephemeral event behind all events announced so far, whether they were read or not."""
        self.ephemeral_count += 1
        self._ephemeral.append(PositionedEvent(self.ephemeral_count, max(self.tail, self._announced), event))
        self._wake_followers()

    def take(self, cursor: Cursor) -> list[Event | EphemeralEvent] | None:
        """Return what follows `cursor` and advance it; None when memory does not reach back that far."""
        events = self._since(cursor.seq)
        if events is None:
            return None
        last = events[-1].seq if events else cursor.seq
        ephemeral = (
            [] if cursor.ephemeral_number == self.ephemeral_count else self._ephemeral_between(cursor, last)
        )
        cursor.seq = last
        if not ephemeral:
            return [*events]
        cursor.ephemeral_number = ephemeral[-1].number
        return _merged(events, ephemeral)

    def _since(self, cursor: int) -> list[Event] | None:
        if cursor >= self.tail:
            return []
        first = self._recent[0].seq if self._recent else self.tail + 1
        if cursor + 1 < first:
            return None
        start = cursor + 1 - first
        return [self._recent[i] for i in range(start, min(start + BATCH_SIZE, len(self._recent)))]

    def _ephemeral_between(self, cursor: Cursor, last: int) -> list[PositionedEvent]:
        """Select ephemeral events; those whose position the follower has passed are outdated."""
        return [
            item
            for item in self._ephemeral
            if item.number > cursor.ephemeral_number and cursor.seq <= item.after <= last
        ]

    def _wake_followers(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


def _merged(events: Sequence[Event], ephemeral: Sequence[PositionedEvent]) -> list[Event | EphemeralEvent]:
    """Merge in order. Sorting is stable, so an event stays before the ephemeral events positioned behind it."""
    both = sorted([*events, *ephemeral], key=lambda one: one.seq if isinstance(one, Event) else one.after)
    return [one if isinstance(one, Event) else one.event for one in both]


log = logging.getLogger(__name__)

RECHECK_S = 15.0
"""Maximum delay of an event whose wake-up was lost."""
RETRY_S = 1.0


class Hub:
    """Distributes the events of streams to their followers. `id` identifies the ephemeral events of this process."""

    def __init__(
        self,
        read: Callable[[str, int, int], Awaitable[list[Event]]],
        last_seq: Callable[[str], Awaitable[int]],
    ) -> None:
        self.id = new_id()
        self._read = read
        self._last_seq = last_seq
        self._channels: dict[str, Channel] = {}

    def is_followed(self, stream: str) -> bool:
        return stream in self._channels

    def wake(self, stream: str, seq: int) -> None:
        """Note that the stream has grown to `seq`."""
        if channel := self._channels.get(stream):
            channel.announce(seq)

    def wake_all(self) -> None:
        for channel in self._channels.values():
            channel.dirty.set()

    def publish_ephemeral(self, event: EphemeralEvent) -> None:
        """Send an ephemeral event to the stream's current followers, behind all events this process was woken for."""
        if channel := self._channels.get(event.stream):
            channel.add_ephemeral(event)

    async def follow(self, stream: str, after: int) -> AsyncGenerator[list[Event | EphemeralEvent], None]:
        """Yield all events after `after`: first those in the log, then new ones, in order and without duplicates.

        The first batch is always empty and signals that the follower is connected. Ephemeral events are included from then on,
        as far as the caller keeps up with them.
        """
        async with self._open(stream) as channel:
            if after > channel.tail and after > await self._last_seq(stream):
                raise Conflict(
                    f"The stream {stream} has no event {after} yet.",
                    hint="Discard your copy of the stream and follow it from 0.",
                )
            cursor = Cursor(after, ephemeral_number=channel.ephemeral_count)
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

    async def _replay(self, stream: str, cursor: Cursor) -> list[Event | EphemeralEvent]:
        events = await self._read(stream, cursor.seq, BATCH_SIZE)
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
            if is_new:  # events appended since the tail was read have woken no channel
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
            while events := await self._read(channel.stream, channel.tail, BATCH_SIZE):
                channel.extend(events)
        except (SQLAlchemyError, OSError):
            log.exception("cannot read stream %s; retrying", channel.stream)
            await asyncio.sleep(RETRY_S)
            channel.dirty.set()
