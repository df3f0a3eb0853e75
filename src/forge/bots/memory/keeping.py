"""Takes facts of a conversation into a bot's memory: what it knows is dropped, what was corrected is replaced."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from forge.bots.chat.store import find_session
from forge.bots.memory import store
from forge.bots.memory.extraction import PreparedFact
from forge.bots.memory.models import MAX_MEMORIES, Memory, MemoryCategory
from forge.bots.memory.sameness import Wording, is_about, says_the_same
from forge.bots.memory.store import Embedding, Known
from forge.bots.memory.vectors import pack, similarities
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.store.engine import Tx


class Keeping:
    """One transaction's worth of facts for one bot."""

    def __init__(self, tx: Tx, bot_id: str, session_id: str | None, embedder: str | None) -> None:
        self._tx = tx
        self._bot_id = bot_id
        self._session_id = session_id
        self._embedder = embedder
        """Whose vectors can be compared now; None when there are none."""
        self._known: list[Known] = []

    async def keep(self, facts: Sequence[PreparedFact]) -> list[Memory]:
        self._known = await store.list_known(self._tx, self._bot_id)
        if self._session_id is not None and await find_session(self._tx, self._session_id) is None:
            self._session_id = None
        kept = [await self._keep(fact, now()) for fact in facts]
        return [memory for memory in kept if memory is not None]

    async def _keep(self, fact: PreparedFact, at: datetime) -> Memory | None:
        is_known, old = await asyncio.to_thread(self._compare, fact)
        if is_known:
            return None
        if old is not None:
            return await self._replace(old, fact, at)
        return await self._insert(fact, at) if await self._make_room() else None

    def _compare(self, fact: PreparedFact) -> tuple[bool, Known | None]:
        """Whether it is known, and what it corrects. Takes a while where there are thousands: call it in a thread."""
        close = self._similarities(fact)
        is_correction = fact.category is MemoryCategory.CORRECTION
        wording = Wording(fact.fact)
        for known, similarity in zip(self._known, close, strict=True):
            if says_the_same(wording, known.wording, None if is_correction else similarity):
                return True, None
        return False, self._corrected(wording, close) if is_correction else None

    def _similarities(self, fact: PreparedFact) -> list[float | None]:
        """To every known fact; None where they cannot be compared."""
        if fact.embedding is None or fact.embedder != self._embedder:
            return [None] * len(self._known)
        comparable = {
            known.id: known.embedding
            for known in self._known
            if known.embedder == fact.embedder and known.embedding is not None
        }
        found = dict(zip(comparable, similarities(fact.embedding, list(comparable.values())), strict=True))
        return [found.get(known.id) for known in self._known]

    def _corrected(self, wording: Wording, close: Sequence[float | None]) -> Known | None:
        """The closest fact it is clearly about; never one that a person wrote or pinned."""
        about = [
            (similarity or 0.0, known)
            for known, similarity in zip(self._known, close, strict=True)
            if known.author == "chat" and not known.is_pinned and is_about(wording, known.wording, similarity)
        ]
        return max(about, key=lambda one: one[0])[1] if about else None

    async def _replace(self, old: Known, fact: PreparedFact, at: datetime) -> Memory | None:
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
            self._learn(changed, embedding)
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
        self._learn(memory, embedding)
        return memory

    async def _make_room(self) -> bool:
        """Whether there is any: only what came from conversations goes for something new."""
        if await store.count(self._tx, self._bot_id) < MAX_MEMORIES:
            return True
        gone = await store.delete_weakest(self._tx, self._bot_id, 1)
        self._known = [known for known in self._known if known.id not in gone]
        return bool(gone)

    def _learn(self, memory: Memory, embedding: Embedding | None) -> None:
        embedder, vector = (embedding.embedder, embedding.vector) if embedding else (None, None)
        self._known.append(Known(memory.id, memory.fact, "chat", memory.is_pinned, embedder, vector))


def _embedding(fact: PreparedFact) -> Embedding | None:
    if fact.embedder is None or fact.embedding is None:
        return None
    return Embedding(fact.embedder, pack(fact.embedding))
