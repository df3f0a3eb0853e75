"""Append to streams and read them back; or whisper to those who follow one now."""

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
from forge.events.models import Event, EventData, Whisper
from forge.events.notices import grew, whispered
from forge.kernel.clock import now
from forge.store.engine import Store, Tx
from forge.telemetry import Metrics

log = logging.getLogger(__name__)

MAX_WHISPER_BYTES = 7800
"""Of the wire form: a notification of PostgreSQL holds less than 8,000."""
PASSING_ON_S = 1.0
QUIET_S = 5.0
"""After a whisper could not be passed on, none is tried for so long: whoever whispers should not wait for each."""


class EventLog:
    def __init__(self, database: Store, metrics: Metrics) -> None:
        self._database = database
        self._metrics = metrics
        self._quiet_until = 0.0
        self._last = WeakKeyDictionary[Tx, dict[str, list[EventData]]]()
        self.hub = Hub(self._read_batch, self.last_seq)

    async def append(self, tx: Tx, stream: str, *facts: EventData, at: Sequence[datetime] = ()) -> int:
        """Append in the caller's transaction; followers are woken when it commits. Returns the last number.

        `at` says when each of them happened, where that was not just now.
        """
        last = await self._append(tx, {stream: facts}, at)
        return last[stream]

    def append_last(self, tx: Tx, stream: str, *facts: EventData) -> None:
        """Behind all else of the transaction, just before it commits, and in one go: many share such a stream, and whoever
        has its lock should have it shortly, and wait for no other."""
        if tx not in self._last:
            self._last[tx] = {}
            tx.before_commit(lambda: self.append_each(tx, self._last.pop(tx)))
        self._last[tx].setdefault(stream, []).extend(facts)

    async def append_each(self, tx: Tx, facts: Mapping[str, Sequence[EventData]]) -> None:
        """To several streams at once. They are locked in the order of their names."""
        if facts:
            await self._append(tx, {stream: facts[stream] for stream in sorted(facts)}, ())

    async def _append(
        self, tx: Tx, facts: Mapping[str, Sequence[EventData]], at: Sequence[datetime]
    ) -> dict[str, int]:
        if not all(fact.is_durable for some in facts.values() for fact in some):
            raise TypeError("ephemeral events are whispered, not appended")
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
        await store.insert(tx, rows, [grew(stream, seq) for stream, seq in last.items()])
        for stream, some in facts.items():
            tx.after_commit(partial(self._announce, stream, last[stream], some))
        return last

    async def whisper(self, stream: str, fact: EventData) -> None:
        """Tell those who follow the stream now, behind everything this process committed to it; store nothing.

        Best effort: who is slow, away or replaying misses it, and so do all if it is too large to be passed on. It
        never fails and never waits for long. A durable event has to say the same in the end.
        """
        if fact.is_durable:
            raise TypeError(f"{fact.type} is durable: append it")
        if self._database.is_sqlite and not self.hub.is_followed(stream):
            return
        whisper = Whisper(stream, None, now(), fact.type, fact.model_dump(mode="json"))
        if _can_be_told(whisper):
            self.hub.whisper(whisper)
            await self._pass_on(whisper)

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
    async def news(self, stream: str) -> AsyncGenerator[AsyncGenerator[list[Event | Whisper], None]]:
        """What is told from now on. The first batch is empty: whatever is looked at after it, nothing is missed."""
        async with aclosing(self.hub.follow(stream, await self.last_seq(stream))) as following:
            yield following

    async def delete(self, tx: Tx, *streams: str) -> None:
        await store.delete(tx, streams)

    async def forget(self, tx: Tx, stream: str) -> None:
        """All that was told in it so far. Its numbers go on, so whoever follows it hears what comes next."""
        await store.forget(tx, stream)

    async def forget_before(self, tx: Tx, prefix: str, moment: datetime) -> None:
        """What streams with this beginning of a name were told before then; but not the last of it."""
        await store.forget_before(tx, prefix, moment)

    async def _pass_on(self, whisper: Whisper) -> None:
        """To the other processes, before whatever this one appends next."""
        if self._database.is_sqlite or time.monotonic() < self._quiet_until:
            return
        try:
            async with asyncio.timeout(PASSING_ON_S), self._database.begin() as tx:
                await store.notify_lightly(tx, whispered(self.hub.id, whisper))
        except (SQLAlchemyError, OSError) as error:
            self._quiet_until = time.monotonic() + QUIET_S
            log.warning(
                "whispers do not reach other processes for %d s: %s", QUIET_S, str(error) or "no answer"
            )

    def _announce(self, stream: str, last: int, facts: Sequence[EventData]) -> None:
        self.hub.wake(stream, last)
        for fact in facts:
            self._metrics.event_appended(fact.type)

    async def _read_batch(self, stream: str, after: int, limit: int) -> list[Event]:
        async with self._database.read() as tx:
            return await store.read(tx, stream, after=after, limit=limit)


def _check_text(fact: EventData) -> None:
    """A stream with half a character in it could be read by nobody, from there on and for good."""
    try:
        fact.model_dump_json()
    except ValueError as error:
        raise ValueError(f"an event of type {fact.type} is not text") from error


def _can_be_told(whisper: Whisper) -> bool:
    try:
        size = len(whisper.json.encode())
    except ValueError:  # half a character, as a text that was cut anywhere can end with
        log.warning("dropped a whisper of type %s that is not text", whisper.type)
        return False
    if size > MAX_WHISPER_BYTES:
        log.warning("dropped a whisper of type %s with %d bytes", whisper.type, size)
    return size <= MAX_WHISPER_BYTES
