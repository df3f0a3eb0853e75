"""Append durable events to streams and read them; publish ephemeral events to current followers."""

import asyncio
import itertools
import logging
import time
from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import datetime
from functools import partial
from weakref import WeakKeyDictionary

from sqlalchemy.exc import SQLAlchemyError

from forge.events import store
from forge.events.hub import Hub
from forge.events.models import EphemeralEvent, Event, EventData
from forge.events.notifications import ephemeral_notification, stream_grown
from forge.kernel.clock import now
from forge.store.database import Store, Tx
from forge.telemetry import Metrics

log = logging.getLogger(__name__)

MAX_EPHEMERAL_BYTES = 7800
"""Maximum size of a serialized event, because a PostgreSQL notification has less than 8,000 bytes."""
NOTIFY_TIMEOUT_S = 1.0
NOTIFY_PAUSE_S = 5.0
"""Pause after a failed notification, so that publishers do not wait for each one."""


class EventLog:
    def __init__(self, database: Store, metrics: Metrics) -> None:
        self._database = database
        self._metrics = metrics
        self._paused_until = 0.0
        self._last = WeakKeyDictionary[Tx, dict[str, list[EventData]]]()
        self.hub = Hub(self._read_batch, self.last_seq)

    async def append(self, tx: Tx, stream: str, *facts: EventData, at: Sequence[datetime] = ()) -> int:
        """Append in the caller's transaction; followers are woken when it commits. Return the last sequence number.

        `at` gives the time of each event. Default: now.
        """
        last = await self._append(tx, {stream: facts}, at)
        return last[stream]

    def append_last(self, tx: Tx, stream: str, *facts: EventData) -> None:
        """Append just before the transaction commits, for streams shared by many transactions: their lock is held briefly,
        and no other lock is waited for while it is held."""
        if tx not in self._last:
            self._last[tx] = {}
            tx.before_commit(lambda: self.append_each(tx, self._last.pop(tx)))
        self._last[tx].setdefault(stream, []).extend(facts)

    async def append_each(self, tx: Tx, facts: Mapping[str, Sequence[EventData]]) -> None:
        """Append to several streams. They are locked in the order of their names, against deadlocks."""
        if facts:
            await self._append(tx, {stream: facts[stream] for stream in sorted(facts)}, ())

    async def _append(
        self, tx: Tx, facts: Mapping[str, Sequence[EventData]], at: Sequence[datetime]
    ) -> dict[str, int]:
        if not all(fact.is_durable for some in facts.values() for fact in some):
            raise TypeError("ephemeral events cannot be appended: use publish_ephemeral")
        for fact in itertools.chain.from_iterable(facts.values()):
            _check_text(fact)
        last = await store.reserve(tx, {stream: len(some) for stream, some in facts.items()})
        moment = now()
        rows = [
            Event(
                stream,
                last[stream] - len(some) + 1 + i,
                at[i] if at else moment,
                fact.type,
                fact.model_dump(mode="json"),
            )
            for stream, some in facts.items()
            for i, fact in enumerate(some)
        ]
        await store.insert(tx, rows, [stream_grown(stream, seq) for stream, seq in last.items()])
        for stream, some in facts.items():
            tx.after_commit(partial(self._announce, stream, last[stream], some))
        return last

    async def publish_ephemeral(self, stream: str, fact: EventData) -> None:
        """Send an event to the stream's current followers without storing it.

        It follows everything this process committed to the stream. Best effort: slow, disconnected and replaying followers
        miss it, and all do if it is too large for a notification. Never fails and never waits for long. A durable event must
        carry the same information in the end.
        """
        if fact.is_durable:
            raise TypeError(f"{fact.type} is durable: use append")
        if self._database.is_sqlite and not self.hub.is_followed(stream):
            return
        event = EphemeralEvent(stream, None, now(), fact.type, fact.model_dump(mode="json"))
        if _fits_notification(event):
            self.hub.publish_ephemeral(event)
            await self._notify_processes(event)

    async def read(
        self, tx: Tx, stream: str, *, after: int = 0, limit: int = 1000, types: Collection[str] = ()
    ) -> list[Event]:
        return await store.read(tx, stream, after=after, limit=limit, types=types)

    async def last_seq(self, stream: str, within: Tx | None = None) -> int:
        if within is not None:
            return await store.last_seq(within, stream)
        async with self._database.read() as tx:
            return await store.last_seq(tx, stream)

    @asynccontextmanager
    async def follow_new(
        self, stream: str
    ) -> AsyncGenerator[AsyncGenerator[list[Event | EphemeralEvent], None]]:
        """Follow new events. After the first batch, which is empty, no event is missed."""
        async with aclosing(self.hub.follow(stream, await self.last_seq(stream))) as following:
            yield following

    async def delete(self, tx: Tx, *streams: str) -> None:
        await store.delete(tx, streams)

    async def delete_events(self, tx: Tx, stream: str) -> None:
        """Delete the stream's events. Its sequence numbers continue, so followers receive what comes next."""
        await store.delete_events(tx, stream)

    async def delete_events_before(self, tx: Tx, prefix: str, moment: datetime) -> None:
        """Delete older events of all streams with this prefix, except the last event of each."""
        await store.delete_events_before(tx, prefix, moment)

    async def _notify_processes(self, event: EphemeralEvent) -> None:
        """Notify the other processes before this one appends anything else."""
        if self._database.is_sqlite or time.monotonic() < self._paused_until:
            return
        try:
            async with asyncio.timeout(NOTIFY_TIMEOUT_S), self._database.begin() as tx:
                await store.notify(tx, ephemeral_notification(self.hub.id, event))
        except (SQLAlchemyError, OSError) as error:
            self._paused_until = time.monotonic() + NOTIFY_PAUSE_S
            log.warning(
                "ephemeral events do not reach other processes for %d s: %s",
                NOTIFY_PAUSE_S,
                str(error) or "no answer",
            )

    def _announce(self, stream: str, last: int, facts: Sequence[EventData]) -> None:
        self.hub.wake(stream, last)
        for fact in facts:
            self._metrics.event_appended(fact.type)

    async def _read_batch(self, stream: str, after: int, limit: int) -> list[Event]:
        async with self._database.read() as tx:
            return await store.read(tx, stream, after=after, limit=limit)


def _check_text(fact: EventData) -> None:
    """Reject unpaired surrogates: they cannot be encoded, so the stream could never be read past the event."""
    try:
        fact.model_dump_json()
    except ValueError as error:
        raise ValueError(f"an event of type {fact.type} contains invalid text") from error


def _fits_notification(event: EphemeralEvent) -> bool:
    try:
        size = len(event.json.encode())
    except ValueError:  # an unpaired surrogate, where a text was cut
        log.warning("dropped an ephemeral event of type %s that contains invalid text", event.type)
        return False
    if size > MAX_EPHEMERAL_BYTES:
        log.warning("dropped an ephemeral event of type %s with %d bytes", event.type, size)
    return size <= MAX_EPHEMERAL_BYTES
