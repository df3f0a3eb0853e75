"""What people can do with a bot's memory, and what a conversation takes from it."""

import asyncio
from collections.abc import Sequence

from forge.bots.memory import store
from forge.bots.memory.credentials import gives_away
from forge.bots.memory.embedder import Embedder
from forge.bots.memory.extraction import ExtractedFact, PreparedFact
from forge.bots.memory.keeping import Keeping
from forge.bots.memory.models import (
    MAX_MEMORIES,
    Forgotten,
    Match,
    Memory,
    MemoryCategory,
    MemoryChange,
    NewMemory,
    RecallWay,
)
from forge.bots.memory.recall import Recall
from forge.bots.memory.sameness import Wording, says_the_same
from forge.bots.memory.store import Known
from forge.bots.store import exists
from forge.bots.telling import tell_changed
from forge.errors import Conflict, NotFound
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.store.engine import Store, Tx
from forge.store.paging import Cursor, Page, page_of

MAX_STANDING = 20
"""Memories that go along with every question of a conversation."""


class Memories:
    def __init__(self, database: Store, events: EventLog, embedder: Embedder | None) -> None:
        self._database = database
        self._events = events
        self._recall = Recall(database, embedder)

    async def find(
        self,
        bot_id: str,
        *,
        category: MemoryCategory | None = None,
        cursor: Cursor | None = None,
        limit: int = 50,
    ) -> Page[Memory]:
        async with self._database.read() as tx:
            found = await store.list_page(tx, bot_id, category=category, cursor=cursor, limit=limit + 1)
        return page_of(found, limit, lambda memory: Cursor(memory.created_at, memory.id))

    async def add(self, bot_id: str, new: NewMemory) -> Memory:
        """What a person says is kept or refused, never dropped and never pushed out."""
        at = now()
        memory = Memory(id=new_id(), author="person", created_at=at, updated_at=at, **new.model_dump())
        [embedding] = await self._recall.embeddings([new.fact])
        async with self._database.begin() as tx:
            await self._check_new(tx, bot_id, new.fact)
            await store.insert(tx, bot_id, memory, embedding)
            await tell_changed(tx, self._events, bot_id, "memory")
        return memory

    async def change(self, bot_id: str, memory_id: str, change: MemoryChange) -> Memory:
        """A fact that a person wrote anew is theirs from then on."""
        values = change.model_dump(exclude_none=True)
        if change.fact is not None:
            [embedding] = await self._recall.embeddings([change.fact])
            values |= {"author": "person", **store.columns_of(embedding)}
        async with self._database.begin() as tx:
            changed = await store.change(tx, bot_id, memory_id, updated_at=now(), **values)
            if changed is None:
                raise _missing(memory_id)
            await tell_changed(tx, self._events, bot_id, "memory")
        return changed

    async def forget(self, bot_id: str, memory_id: str) -> Memory:
        async with self._database.begin() as tx:
            forgotten = await store.delete(tx, bot_id, memory_id)
            if forgotten is None:
                raise _missing(memory_id)
            await tell_changed(tx, self._events, bot_id, "memory")
        return forgotten

    async def forget_all(self, bot_id: str) -> Forgotten:
        async with self._database.begin() as tx:
            count = await store.delete_all(tx, bot_id)
            await tell_changed(tx, self._events, bot_id, "memory")
        return Forgotten(memories=count)

    async def recall(self, bot_id: str, text: str, *, limit: int = 10) -> list[Match]:
        """What fits a text, best first."""
        return await self._recall.find(bot_id, text, limit)

    async def way(self) -> RecallWay:
        return self._recall.way()

    async def standing(self, bot_id: str) -> list[Memory]:
        """What goes along with every question: the pinned ones, then the most important, newest first."""
        async with self._database.read() as tx:
            return await store.list_standing(tx, bot_id, MAX_STANDING)

    async def by_ids(self, bot_id: str, ids: Sequence[str]) -> list[Memory]:
        """In the order of the ids; what was forgotten meanwhile is missing."""
        if not ids:
            return []
        async with self._database.read() as tx:
            return await store.list_by_ids(tx, bot_id, ids)

    async def note_recalled(self, tx: Tx, ids: Sequence[str]) -> None:
        if ids:
            await store.note_recalled(tx, ids, now())

    async def prepare(self, facts: Sequence[ExtractedFact]) -> list[PreparedFact]:
        """With their vectors, which take a while and so are made outside of transactions."""
        safe = [fact for fact in facts if not gives_away(fact.fact)]
        made = await self._recall.vectors([fact.fact for fact in safe]) if safe else None
        if made is None:
            return [PreparedFact(**fact.model_dump()) for fact in safe]
        name, vectors = made
        return [
            PreparedFact(**fact.model_dump(), embedder=name, embedding=vector)
            for fact, vector in zip(safe, vectors, strict=True)
        ]

    async def keep(
        self, tx: Tx, bot_id: str, session_id: str | None, facts: Sequence[PreparedFact]
    ) -> list[Memory]:
        """What is new of facts from a conversation, in the caller's transaction."""
        if not await exists(tx, bot_id):
            return []
        keeping = Keeping(tx, bot_id, session_id, self._recall.way().model)
        kept = await keeping.keep(facts)
        if kept:
            await tell_changed(tx, self._events, bot_id, "memory")
        return kept

    async def _check_new(self, tx: Tx, bot_id: str, fact: str) -> None:
        if await store.count(tx, bot_id) >= MAX_MEMORIES:
            raise Conflict(
                f"This bot remembers {MAX_MEMORIES:,} things, and that is the most it can.",
                hint="Let it forget some first.",
            )
        found = await asyncio.to_thread(_find_same, Wording(fact), await store.list_known(tx, bot_id))
        if found is not None:
            raise Conflict("It remembers that already.", hint=f"Change it instead: {found.id}")


def _find_same(wording: Wording, known: Sequence[Known]) -> Known | None:
    """Takes a while where there are thousands: call it in a thread."""
    return next((one for one in known if says_the_same(wording, one.wording, None)), None)


def _missing(memory_id: str) -> NotFound:
    return NotFound(f"There is no memory {memory_id!r}.", hint="It may have been forgotten meanwhile.")
