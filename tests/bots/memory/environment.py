"""The memory of a bot on a real database."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from forge.bots.memory.embedder import MiniLm
from forge.bots.memory.extraction import ExtractedFact
from forge.bots.memory.models import Memory, MemoryCategory
from forge.bots.memory.service import Memories
from forge.bots.tables import bot_memories, bots, chat_sessions
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.store.database import Store
from forge.telemetry import Metrics

BOT, OTHER_BOT, ME, SESSION = "bot-1", "bot-2", "me", "session-1"


@dataclass
class MemoryEnvironment:
    store: Store
    memories: Memories
    events: EventLog

    async def learn(self, *facts: str, category: str = "fact", importance: int = 3) -> list[str]:
        """Store facts of a conversation and return those that were added."""
        given = [
            ExtractedFact(fact=fact, category=MemoryCategory(category), importance=importance)
            for fact in facts
        ]
        prepared = await self.memories.prepare(given)
        async with self.store.begin() as tx:
            return [memory.fact for memory in await self.memories.add_extracted(tx, BOT, SESSION, prepared)]

    async def all(self) -> list[Memory]:
        return list((await self.memories.find(BOT, limit=100)).items)

    async def facts(self) -> set[str]:
        return {memory.fact for memory in await self.all()}

    async def recall(self, text: str, limit: int = 10) -> list[str]:
        return [match.memory.fact for match in await self.memories.recall(BOT, text, limit=limit)]

    async def set(self, fact: str, **values: Any) -> None:
        statement = sa.update(bot_memories).where(bot_memories.c.fact == fact).values(**values)
        async with self.store.begin() as tx:
            assert (await tx.execute(statement)).rowcount == 1

    async def age(self, fact: str, days: float) -> None:
        at = now() - timedelta(days=days)
        await self.set(fact, created_at=at, updated_at=at)

    async def embedders(self) -> list[str | None]:
        async with self.store.read() as tx:
            return list((await tx.execute(sa.select(bot_memories.c.embedder))).scalars())

    async def count_notifications(self) -> int:
        """Return the number of `bot.changed` events, all for the memory."""
        async with self.store.read() as tx:
            events = await self.events.read(tx, f"account:{ME}")
        assert {event.data["part"] for event in events} <= {"memory"}
        return len(events)


async def open_memory_env(store: Store, embedder: MiniLm | None) -> MemoryEnvironment:
    at = now()
    common: dict[str, Any] = {"account_id": ME, "created_at": at, "updated_at": at}
    session = {"id": SESSION, "bot_id": BOT, "title": "", "is_titled": False, "standing": []}
    async with store.begin() as tx:
        for bot_id in (BOT, OTHER_BOT):
            row = {"id": bot_id, "slug": bot_id, "status": "active", "identity": {}}
            await tx.execute(sa.insert(bots).values(**row, **common))
        await tx.execute(sa.insert(chat_sessions).values(**session, **common))
    events = EventLog(store, Metrics(version="test"))
    return MemoryEnvironment(store, Memories(store, events, embedder), events)
