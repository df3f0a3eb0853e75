"""Add, change, delete and search the memories of a bot."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime

from forge.bots.memory import store
from forge.bots.memory.embedder import INSTALL, MiniLm
from forge.bots.memory.extraction import ExtractedFact, PreparedFact, reveals_secret
from forge.bots.memory.fact_merger import FactMerger
from forge.bots.memory.models import (
    MAX_MEMORIES,
    Forgotten,
    FoundBy,
    Match,
    Memory,
    MemoryCategory,
    MemoryChange,
    NewMemory,
    RecallWay,
)
from forge.bots.memory.similarity import Wording, pack, says_the_same, similarities, word_stems
from forge.bots.memory.store import Embedding, KnownFact, RankedMemory
from forge.bots.notifications import notify_changed
from forge.bots.store import exists
from forge.errors import Conflict, NotFound, Unavailable
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.store.database import Store, Tx
from forge.store.fulltext import match_memories
from forge.store.pagination import Cursor, Page, make_page

log = logging.getLogger(__name__)

MIN_SIMILARITY = 0.2
"""Measured with `make bench ARGS=recall`: matches below this are hardly ever relevant."""
MIN_RELATIVE_RANK = 0.25
"""Search by words: minimum rank of a match relative to the best one."""
MAX_HITS = 200
MAX_EMBEDDED_PER_RECALL = 200
"""Memories stored without an embedder get their vectors in batches of this size, one per search."""
HALF_LIFE_DAYS = 30
MIN_RECENCY = 0.7
"""Minimum weight of an old memory: an allergy does not expire."""


class Recall:
    def __init__(self, database: Store, embedder: MiniLm | None) -> None:
        self._database = database
        self._embedder = embedder
        self._problem: Unavailable | None = None

    def way(self) -> RecallWay:
        if self._embedder is not None:
            return RecallWay(by="meaning", model=self._embedder.name)
        hint = f"{self._problem.message} {self._problem.hint}" if self._problem else INSTALL
        return RecallWay(by="words", hint=hint)

    async def embeddings(self, texts: Sequence[str]) -> list[Embedding | None]:
        vectors = await self.vectors(texts)
        if vectors is None:
            return [None] * len(texts)
        name, found = vectors
        return [Embedding(name, pack(vector)) for vector in found]

    async def vectors(self, texts: Sequence[str]) -> tuple[str, list[list[float]]] | None:
        """Return the embedder's name and the vectors; None without a working embedder."""
        embedder = self._embedder
        if embedder is None:
            return None
        try:
            return embedder.name, await asyncio.to_thread(embedder.embed, texts)
        except Unavailable as problem:
            log.warning("the embedder failed; searching memories by words from now on: %s", problem.message)
            self._embedder, self._problem = None, problem
            return None

    async def find(self, bot_id: str, text: str, limit: int) -> list[Match]:
        """Find memories, best match first."""
        vectors = await self.vectors([text])
        if vectors is None:
            return await self._by_words(bot_id, text, limit)
        name, [vector] = vectors
        await self._embed_missing(bot_id, name)
        return await self._by_meaning(bot_id, name, vector, limit)

    async def _by_meaning(self, bot_id: str, name: str, vector: list[float], limit: int) -> list[Match]:
        async with self._database.read() as tx:
            rows = await store.list_embedded(tx, bot_id, name)
            close = similarities(vector, [row.embedding or b"" for row in rows])
            at = now()
            scores = {
                row.id: similarity * recall_weight(row, at)
                for row, similarity in zip(rows, close, strict=True)
                if similarity >= MIN_SIMILARITY
            }
            return await _best(tx, bot_id, scores, limit, by="meaning")

    async def _by_words(self, bot_id: str, text: str, limit: int) -> list[Match]:
        async with self._database.read() as tx:
            hits = await match_memories(tx, bot_id, word_stems(text), MAX_HITS)
            least = MIN_RELATIVE_RANK * hits[0].rank if hits else 0.0
            ranks = {hit.id: hit.rank for hit in hits if hit.rank >= least}
            at = now()
            rows = await store.list_for_ranking(tx, list(ranks))
            scores = {row.id: ranks[row.id] * recall_weight(row, at) for row in rows}
            return await _best(tx, bot_id, scores, limit, by="words")

    async def _embed_missing(self, bot_id: str, name: str) -> None:
        async with self._database.read() as tx:
            missing = await store.list_unembedded(tx, bot_id, name, MAX_EMBEDDED_PER_RECALL)
        if not missing:
            return
        made = await self.embeddings([fact for _, fact in missing])
        async with self._database.begin() as tx:
            for (memory_id, fact), embedding in zip(missing, made, strict=True):
                if embedding is not None:
                    await store.embed(tx, memory_id, fact, embedding)


def recall_weight(row: RankedMemory, at: datetime) -> float:
    """Weight a match: newer, more important and more often used memories rank higher."""
    age_days = max(0.0, (at - row.updated_at).total_seconds() / 86_400)
    recency = MIN_RECENCY + (1 - MIN_RECENCY) * 0.5 ** (age_days / HALF_LIFE_DAYS)
    use = 1 + 0.02 * min(row.recalled, 10)
    return recency * use * (0.8 + 0.05 * (row.importance - 1))


async def _best(tx: Tx, bot_id: str, scores: dict[str, float], limit: int, *, by: FoundBy) -> list[Match]:
    if not scores:
        return []
    best = sorted(scores, key=lambda one: (-scores[one], one))[:limit]
    found = await store.list_by_ids(tx, bot_id, best)
    return [Match(memory=memory, score=scores[memory.id], by=by) for memory in found]


MAX_ALWAYS_SENT = 20
"""Number of memories sent with every question of a conversation."""


class Memories:
    def __init__(self, database: Store, events: EventLog, embedder: MiniLm | None) -> None:
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
        return make_page(found, limit, lambda memory: Cursor(memory.created_at, memory.id))

    async def add(self, bot_id: str, new: NewMemory) -> Memory:
        """Add a memory of a person. It is stored or rejected, never dropped silently."""
        at = now()
        memory = Memory(id=new_id(), author="person", created_at=at, updated_at=at, **new.model_dump())
        [embedding] = await self._recall.embeddings([new.fact])
        async with self._database.begin() as tx:
            await self._check_new(tx, bot_id, new.fact)
            await store.insert(tx, bot_id, memory, embedding)
            await notify_changed(tx, self._events, bot_id, "memory")
        return memory

    async def change(self, bot_id: str, memory_id: str, change: MemoryChange) -> Memory:
        """Change a memory. Changing the fact makes the person its author."""
        values = change.model_dump(exclude_none=True)
        if change.fact is not None:
            [embedding] = await self._recall.embeddings([change.fact])
            values |= {"author": "person", **store.columns_of(embedding)}
        async with self._database.begin() as tx:
            changed = await store.change(tx, bot_id, memory_id, updated_at=now(), **values)
            if changed is None:
                raise _missing(memory_id)
            await notify_changed(tx, self._events, bot_id, "memory")
        return changed

    async def forget(self, bot_id: str, memory_id: str) -> Memory:
        async with self._database.begin() as tx:
            forgotten = await store.delete(tx, bot_id, memory_id)
            if forgotten is None:
                raise _missing(memory_id)
            await notify_changed(tx, self._events, bot_id, "memory")
        return forgotten

    async def forget_all(self, bot_id: str) -> Forgotten:
        async with self._database.begin() as tx:
            count = await store.delete_all(tx, bot_id)
            await notify_changed(tx, self._events, bot_id, "memory")
        return Forgotten(memories=count)

    async def recall(self, bot_id: str, text: str, *, limit: int = 10) -> list[Match]:
        """Find memories that fit a text, best match first."""
        return await self._recall.find(bot_id, text, limit)

    async def recall_way(self) -> RecallWay:
        return self._recall.way()

    async def always_sent(self, bot_id: str) -> list[Memory]:
        """Return the memories sent with every question: pinned ones, then the most important, newest first."""
        async with self._database.read() as tx:
            return await store.list_always_sent(tx, bot_id, MAX_ALWAYS_SENT)

    async def by_ids(self, bot_id: str, ids: Sequence[str]) -> list[Memory]:
        """Return memories in the order of the ids, without deleted ones."""
        if not ids:
            return []
        async with self._database.read() as tx:
            return await store.list_by_ids(tx, bot_id, ids)

    async def count_recalled(self, tx: Tx, ids: Sequence[str]) -> None:
        if ids:
            await store.note_recalled(tx, ids, now())

    async def prepare(self, facts: Sequence[ExtractedFact]) -> list[PreparedFact]:
        """Add embeddings to facts. They are slow to compute, so this happens outside of transactions."""
        safe = [fact for fact in facts if not reveals_secret(fact.fact)]
        made = await self._recall.vectors([fact.fact for fact in safe]) if safe else None
        if made is None:
            return [PreparedFact(**fact.model_dump()) for fact in safe]
        name, vectors = made
        return [
            PreparedFact(**fact.model_dump(), embedder=name, embedding=vector)
            for fact, vector in zip(safe, vectors, strict=True)
        ]

    async def add_extracted(
        self, tx: Tx, bot_id: str, session_id: str | None, facts: Sequence[PreparedFact]
    ) -> list[Memory]:
        """Add the new facts of a conversation in the caller's transaction, and return them."""
        if not await exists(tx, bot_id):
            return []
        merger = FactMerger(tx, bot_id, session_id, self._recall.way().model)
        added = await merger.merge(facts)
        if added:
            await notify_changed(tx, self._events, bot_id, "memory")
        return added

    async def _check_new(self, tx: Tx, bot_id: str, fact: str) -> None:
        if await store.count(tx, bot_id) >= MAX_MEMORIES:
            raise Conflict(
                f"This bot already has {MAX_MEMORIES:,} memories, which is the maximum.",
                hint="Delete some memories first.",
            )
        found = await asyncio.to_thread(_find_same, Wording(fact), await store.list_known(tx, bot_id))
        if found is not None:
            raise Conflict(
                "The bot already remembers this.", hint=f"Change the existing memory instead: {found.id}"
            )


def _find_same(wording: Wording, known: Sequence[KnownFact]) -> KnownFact | None:
    """Find a fact with the same content. Slow with thousands of facts: call it in a thread."""
    return next((one for one in known if says_the_same(wording, one.wording, None)), None)


def _missing(memory_id: str) -> NotFound:
    return NotFound(f"There is no memory {memory_id!r}.", hint="It may have been deleted.")
