"""Finds the memories that fit a text: by meaning where an embedder is installed, else by words."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import datetime

from forge.bots.memory import store
from forge.bots.memory.embedder import INSTALL, Embedder
from forge.bots.memory.models import FoundBy, Match, RecallWay
from forge.bots.memory.significance import beginnings
from forge.bots.memory.store import Embedding, Weighed
from forge.bots.memory.vectors import pack, similarities
from forge.errors import Unavailable
from forge.kernel.clock import now
from forge.store.engine import Store, Tx
from forge.store.fulltext import match_memories

log = logging.getLogger(__name__)

LEAST_SIMILARITY = 0.2
"""Measured (`make bench ARGS=recall`): below this, what is found is hardly ever what was meant."""
FAINT = 0.25
"""By words: a hit this much fainter than the best is left out."""
MAX_HITS = 200
MAX_CAUGHT_UP = 200
"""Memories from before the embedder was there get their vectors in passing, so many with each question."""
HALF_LIFE_DAYS = 30
OLDEST = 0.7
"""What age leaves of a memory's weight: an allergy does not pass."""


class Recall:
    def __init__(self, database: Store, embedder: Embedder | None) -> None:
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
        """With the name of their embedder; None when there is none that works."""
        embedder = self._embedder
        if embedder is None:
            return None
        try:
            return embedder.name, await asyncio.to_thread(embedder.embed, texts)
        except Unavailable as problem:
            log.warning("memories are found by words from now on: %s", problem.message)
            self._embedder, self._problem = None, problem
            return None

    async def find(self, bot_id: str, text: str, limit: int) -> list[Match]:
        """Best first."""
        vectors = await self.vectors([text])
        if vectors is None:
            return await self._by_words(bot_id, text, limit)
        name, [vector] = vectors
        await self._catch_up(bot_id, name)
        return await self._by_meaning(bot_id, name, vector, limit)

    async def _by_meaning(self, bot_id: str, name: str, vector: list[float], limit: int) -> list[Match]:
        async with self._database.read() as tx:
            rows = await store.list_embedded(tx, bot_id, name)
            close = similarities(vector, [row.embedding or b"" for row in rows])
            at = now()
            scores = {
                row.id: similarity * weight(row, at)
                for row, similarity in zip(rows, close, strict=True)
                if similarity >= LEAST_SIMILARITY
            }
            return await _best(tx, bot_id, scores, limit, by="meaning")

    async def _by_words(self, bot_id: str, text: str, limit: int) -> list[Match]:
        async with self._database.read() as tx:
            hits = await match_memories(tx, bot_id, beginnings(text), MAX_HITS)
            least = FAINT * hits[0].rank if hits else 0.0
            ranks = {hit.id: hit.rank for hit in hits if hit.rank >= least}
            at = now()
            rows = await store.list_weighed(tx, list(ranks))
            scores = {row.id: ranks[row.id] * weight(row, at) for row in rows}
            return await _best(tx, bot_id, scores, limit, by="words")

    async def _catch_up(self, bot_id: str, name: str) -> None:
        async with self._database.read() as tx:
            missing = await store.list_unembedded(tx, bot_id, name, MAX_CAUGHT_UP)
        if not missing:
            return
        made = await self.embeddings([fact for _, fact in missing])
        async with self._database.begin() as tx:
            for (memory_id, fact), embedding in zip(missing, made, strict=True):
                if embedding is not None:
                    await store.embed(tx, memory_id, fact, embedding)


def weight(row: Weighed, at: datetime) -> float:
    """Newer, more important and more often used ones come first among those that fit about as well."""
    age_days = max(0.0, (at - row.updated_at).total_seconds() / 86_400)
    recency = OLDEST + (1 - OLDEST) * 0.5 ** (age_days / HALF_LIFE_DAYS)
    use = 1 + 0.02 * min(row.recalled, 10)
    return recency * use * (0.8 + 0.05 * (row.importance - 1))


async def _best(tx: Tx, bot_id: str, scores: dict[str, float], limit: int, *, by: FoundBy) -> list[Match]:
    if not scores:
        return []
    best = sorted(scores, key=lambda one: (-scores[one], one))[:limit]
    found = await store.list_by_ids(tx, bot_id, best)
    return [Match(memory=memory, score=scores[memory.id], by=by) for memory in found]
