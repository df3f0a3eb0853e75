"""Append to streams and read them back."""

from collections.abc import Sequence
from datetime import datetime

from forge.events import store
from forge.events.hub import Hub
from forge.events.models import Event, EventData
from forge.kernel.clock import now
from forge.store.engine import Store, Tx
from forge.telemetry import Metrics


class EventLog:
    def __init__(self, database: Store, metrics: Metrics) -> None:
        self._database = database
        self._metrics = metrics
        self.hub = Hub(self._read_batch, self.last_seq)

    async def append(self, tx: Tx, stream: str, *facts: EventData, at: Sequence[datetime] = ()) -> int:
        """Append in the caller's transaction; followers are woken when it commits. Returns the last number.

        `at` says when each of them happened, where that was not just now.
        """
        last = await store.reserve(tx, stream, len(facts))
        first, times = last - len(facts) + 1, at or [now()] * len(facts)
        rows = [
            Event(stream, first + i, times[i], fact.type, fact.model_dump(mode="json"))
            for i, fact in enumerate(facts)
        ]
        await store.insert(tx, rows)
        if not self._database.is_sqlite:
            await store.notify(tx, stream)
        tx.after_commit(lambda: self._announce(stream, facts))
        return last

    async def read(self, tx: Tx, stream: str, *, after: int = 0, limit: int = 1000) -> list[Event]:
        return await store.read(tx, stream, after=after, limit=limit)

    async def last_seq(self, stream: str) -> int:
        async with self._database.read() as tx:
            return await store.last_seq(tx, stream)

    async def delete(self, tx: Tx, *streams: str) -> None:
        await store.delete(tx, streams)

    def _announce(self, stream: str, facts: tuple[EventData, ...]) -> None:
        self.hub.wake(stream)
        for fact in facts:
            self._metrics.event_appended(fact.type)

    async def _read_batch(self, stream: str, after: int, limit: int) -> list[Event]:
        async with self._database.read() as tx:
            return await store.read(tx, stream, after=after, limit=limit)
