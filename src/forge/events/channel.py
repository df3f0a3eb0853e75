"""One followed stream in this process: its newest events, the whispers among them, and who waits for more.

A follower only has a cursor, so a slow one costs nothing: when the memory no longer reaches back to its cursor, it is
served from the database instead, and what was whispered meanwhile it misses.
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from forge.events.models import Event, Whisper

BATCH = 500
KEPT = 1000
WHISPERS = 256


@dataclass
class Cursor:
    """How far a follower has come: the last number it has, and the last whisper it heard."""

    seq: int
    heard: int


@dataclass(frozen=True)
class Placed:
    """A whisper and its place: right behind the event with the number `after`, never before it."""

    number: int
    after: int
    whisper: Whisper


class Channel:
    def __init__(self, stream: str, tail: int) -> None:
        self.stream = stream
        self.tail = tail
        self.followers = 0
        self.whispered = 0
        self.pump: asyncio.Task[None] | None = None
        self.dirty = asyncio.Event()
        self.changed = asyncio.Event()
        self._announced = tail
        self._recent: deque[Event] = deque(maxlen=KEPT)
        self._whispers: deque[Placed] = deque(maxlen=WHISPERS)

    def announce(self, seq: int) -> None:
        """The log reaches as far as `seq` now; whether it was read so far already is seen here."""
        if seq > self.tail:
            self._announced = max(self._announced, seq)
            self.dirty.set()

    def extend(self, events: list[Event]) -> None:
        self._recent.extend(events)
        self.tail = events[-1].seq
        self._wake_followers()

    def whisper(self, whisper: Whisper) -> None:
        """Its place is behind everything that was announced before it, read or not."""
        self.whispered += 1
        self._whispers.append(Placed(self.whispered, max(self.tail, self._announced), whisper))
        self._wake_followers()

    def take(self, cursor: Cursor) -> list[Event | Whisper] | None:
        """What comes next after `cursor`, which moves on; None when memory does not reach back so far."""
        events = self._since(cursor.seq)
        if events is None:
            return None
        last = events[-1].seq if events else cursor.seq
        whispers = [] if cursor.heard == self.whispered else self._among(cursor, last)
        cursor.seq = last
        if not whispers:
            return [*events]
        cursor.heard = whispers[-1].number
        return _merged(events, whispers)

    def _since(self, cursor: int) -> list[Event] | None:
        if cursor >= self.tail:
            return []
        first = self._recent[0].seq if self._recent else self.tail + 1
        if cursor + 1 < first:
            return None
        start = cursor + 1 - first
        return [self._recent[i] for i in range(start, min(start + BATCH, len(self._recent)))]

    def _among(self, cursor: Cursor, last: int) -> list[Placed]:
        """Not those whose place the follower has passed already: what they announced has happened."""
        return [
            placed
            for placed in self._whispers
            if placed.number > cursor.heard and cursor.seq <= placed.after <= last
        ]

    def _wake_followers(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()


def _merged(events: Sequence[Event], whispers: Sequence[Placed]) -> list[Event | Whisper]:
    """In order; sorting is stable, so an event stays before the whispers whose place is behind it."""
    both = sorted([*events, *whispers], key=lambda one: one.seq if isinstance(one, Event) else one.after)
    return [one if isinstance(one, Event) else one.whisper for one in both]
