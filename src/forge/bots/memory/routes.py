"""The HTTP of a bot's memory. Translates only."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, status

from forge.bots.memory.models import (
    Forgotten,
    Match,
    Memory,
    MemoryCategory,
    MemoryChange,
    NewMemory,
    RecallWay,
)
from forge.bots.memory.service import Memories
from forge.bots.routes import BotRef
from forge.bots.routes import Service as Bots
from forge.http.caller import Reader, Writer
from forge.http.envelope import Envelope, reply, reply_page
from forge.http.ids import Id
from forge.http.paging import CursorParam, Limit

router = APIRouter(prefix="/api/v1", tags=["bots"])


def _memories(request: Request) -> Memories:
    return request.app.state.memories


Service = Annotated[Memories, Depends(_memories)]


@router.get("/bots/{bot}/memories")
async def list_memories(
    caller: Reader,
    bot: BotRef,
    bots: Bots,
    memories: Service,
    cursor: CursorParam,
    category: Annotated[MemoryCategory | None, Query()] = None,
    limit: Limit = 50,
) -> Envelope[list[Memory]]:
    """Newest first."""
    found = await bots.find(caller.account_id, bot)
    return reply_page(await memories.find(found.id, category=category, cursor=cursor, limit=limit))


@router.post("/bots/{bot}/memories", status_code=status.HTTP_201_CREATED)
async def add_memory(
    caller: Writer, bot: BotRef, body: NewMemory, bots: Bots, memories: Service
) -> Envelope[Memory]:
    """Something the bot should know from now on."""
    return reply(await memories.add((await bots.find(caller.account_id, bot)).id, body))


@router.delete("/bots/{bot}/memories")
async def forget_all_memories(
    caller: Writer, bot: BotRef, bots: Bots, memories: Service
) -> Envelope[Forgotten]:
    """All of them, for good."""
    return reply(await memories.forget_all((await bots.find(caller.account_id, bot)).id))


@router.get("/bots/{bot}/memories/recall")
async def recall_memories(
    caller: Reader,
    bot: BotRef,
    bots: Bots,
    memories: Service,
    q: Annotated[str, Query(min_length=1, max_length=2000)],
    limit: Annotated[int, Query(ge=1, le=50)] = 10,
) -> Envelope[list[Match]]:
    """What would go along with this question, best first."""
    found = await bots.find(caller.account_id, bot)
    return reply(await memories.recall(found.id, q, limit=limit))


@router.patch("/bots/{bot}/memories/{memory_id}")
async def change_memory(
    caller: Writer, bot: BotRef, memory_id: Id, body: MemoryChange, bots: Bots, memories: Service
) -> Envelope[Memory]:
    return reply(await memories.change((await bots.find(caller.account_id, bot)).id, memory_id, body))


@router.delete("/bots/{bot}/memories/{memory_id}")
async def forget_memory(
    caller: Writer, bot: BotRef, memory_id: Id, bots: Bots, memories: Service
) -> Envelope[Memory]:
    """For good; the next question goes without it."""
    return reply(await memories.forget((await bots.find(caller.account_id, bot)).id, memory_id))


@router.get("/memories/way")
async def get_recall_way(caller: Reader, memories: Service) -> Envelope[RecallWay]:
    """How memories are found again on this server."""
    return reply(await memories.way())
