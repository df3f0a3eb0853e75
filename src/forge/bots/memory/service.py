"""What people can do with a bot's memory, and what a conversation takes from it."""

from forge.bots.memory.models import (
    Forgotten,
    Match,
    Memory,
    MemoryCategory,
    MemoryChange,
    NewMemory,
    RecallWay,
)
from forge.store.paging import Cursor, Page


class Memories:
    async def find(
        self,
        bot_id: str,
        *,
        category: MemoryCategory | None = None,
        cursor: Cursor | None = None,
        limit: int = 50,
    ) -> Page[Memory]:
        raise NotImplementedError

    async def add(self, bot_id: str, new: NewMemory) -> Memory:
        raise NotImplementedError

    async def change(self, bot_id: str, memory_id: str, change: MemoryChange) -> Memory:
        raise NotImplementedError

    async def forget(self, bot_id: str, memory_id: str) -> Memory:
        raise NotImplementedError

    async def forget_all(self, bot_id: str) -> Forgotten:
        raise NotImplementedError

    async def recall(self, bot_id: str, text: str, *, limit: int = 10) -> list[Match]:
        """What fits a text, best first."""
        raise NotImplementedError

    async def way(self) -> RecallWay:
        raise NotImplementedError
