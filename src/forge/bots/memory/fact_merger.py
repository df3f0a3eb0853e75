"""Merge extracted facts into the memory of a bot: skip known facts, replace corrected ones."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from forge.bots.memory import store
from forge.bots.memory.extraction import PreparedFact
from forge.bots.memory.models import MAX_MEMORIES, Memory, MemoryCategory
from forge.bots.memory.similarity import Wording, is_about, pack, says_the_same, similarities
from forge.bots.memory.store import Embedding, KnownFact
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.store.database import Tx


class FactMerger:
    """Merge facts for one bot in one transaction."""

    def __init__(self, tx: Tx, bot_id: str, session_id: str | None, embedder: str | None) -> None:
        self._tx = tx
        self._bot_id = bot_id
        self._session_id = session_id
        self._embedder = embedder
        """The embedder whose vectors can be compared; None without an embedder."""
        self._known: list[KnownFact] = []

    async def merge(self, facts: Sequence[PreparedFact]) -> list[Memory]:
        self._known = await store.list_known(self._tx, self._bot_id)
        if self._session_id is not None and not await store.session_exists(self._tx, self._session_id):
            self._session_id = None
        added = [await self._merge(fact, now()) for fact in facts]
        return [memory for memory in added if memory is not None]

    async def _merge(self, fact: PreparedFact, at: datetime) -> Memory | None:
        is_known, old = await asyncio.to_thread(self._compare, fact)
        if is_known:
            return None
        if old is not None:
            return await self._replace(old, fact, at)
        return await self._insert(fact, at) if await self._make_room() else None

    def _compare(self, fact: PreparedFact) -> tuple[bool, KnownFact | None]:
        """Return whether a fact is known, and the fact it corrects. Slow with thousands of facts: call it in a thread."""
        close = self._similarities(fact)
        is_correction = fact.category is MemoryCategory.CORRECTION
        wording = Wording(fact.fact)
        for known, similarity in zip(self._known, close, strict=True):
            if says_the_same(wording, known.wording, None if is_correction else similarity):
                return True, None
        return False, self._corrected(wording, close) if is_correction else None

    def _similarities(self, fact: PreparedFact) -> list[float | None]:
        """Return the similarity to every known fact; None if they cannot be compared."""
        if fact.embedding is None or fact.embedder != self._embedder:
            return [None] * len(self._known)
        comparable = {
            known.id: known.embedding
            for known in self._known
            if known.embedder == fact.embedder and known.embedding is not None
        }
        found = dict(zip(comparable, similarities(fact.embedding, list(comparable.values())), strict=True))
        return [found.get(known.id) for known in self._known]

    def _corrected(self, wording: Wording, close: Sequence[float | None]) -> KnownFact | None:
        """Return the closest fact on the same subject, except facts that a person wrote or pinned."""
        about = [
            (similarity or 0.0, known)
            for known, similarity in zip(self._known, close, strict=True)
            if known.author == "chat" and not known.is_pinned and is_about(wording, known.wording, similarity)
        ]
        return max(about, key=lambda one: one[0])[1] if about else None

    async def _replace(self, old: KnownFact, fact: PreparedFact, at: datetime) -> Memory | None:
        embedding = _embedding(fact)
        changed = await store.change(
            self._tx,
            self._bot_id,
            old.id,
            **fact.model_dump(include={"fact", "category", "importance"}),
            **store.columns_of(embedding),
            session_id=self._session_id,
            updated_at=at,
        )
        self._known = [known for known in self._known if known.id != old.id]
        if changed is not None:
            self._add_known(changed, embedding)
        return changed

    async def _insert(self, fact: PreparedFact, at: datetime) -> Memory:
        memory = Memory(
            id=new_id(),
            is_pinned=False,
            author="chat",
            session_id=self._session_id,
            created_at=at,
            updated_at=at,
            **fact.model_dump(include={"fact", "category", "importance"}),
        )
        embedding = _embedding(fact)
        await store.insert(self._tx, self._bot_id, memory, embedding)
        self._add_known(memory, embedding)
        return memory

    async def _make_room(self) -> bool:
        """Make room for a new fact and return whether there is any. Only facts from conversations are deleted."""
        if await store.count(self._tx, self._bot_id) < MAX_MEMORIES:
            return True
        gone = await store.delete_weakest(self._tx, self._bot_id, 1)
        self._known = [known for known in self._known if known.id not in gone]
        return bool(gone)

    def _add_known(self, memory: Memory, embedding: Embedding | None) -> None:
        embedder, vector = (embedding.embedder, embedding.vector) if embedding else (None, None)
        self._known.append(KnownFact(memory.id, memory.fact, "chat", memory.is_pinned, embedder, vector))


def _embedding(fact: PreparedFact) -> Embedding | None:
    if fact.embedder is None or fact.embedding is None:
        return None
    return Embedding(fact.embedder, pack(fact.embedding))
