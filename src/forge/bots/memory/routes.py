"""HTTP routes for the memories of a bot."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, status

from forge.bots.management.routes import BotRef
from forge.bots.management.routes import Service as Bots
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
from forge.http.caller import Reader, Writer
from forge.http.envelope import Envelope, reply, reply_page
from forge.http.parameters import CursorParam, Id, Limit

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
    """List memories, newest first."""
    found = await bots.find(caller.account_id, bot)
    return reply_page(await memories.find(found.id, category=category, cursor=cursor, limit=limit))


@router.post("/bots/{bot}/memories", status_code=status.HTTP_201_CREATED)
async def add_memory(
    caller: Writer, bot: BotRef, body: NewMemory, bots: Bots, memories: Service
) -> Envelope[Memory]:
    """Add a fact to the memory of a bot."""
    return reply(await memories.add((await bots.find(caller.account_id, bot)).id, body))


@router.delete("/bots/{bot}/memories")
async def forget_all_memories(
    caller: Writer, bot: BotRef, bots: Bots, memories: Service
) -> Envelope[Forgotten]:
    """Delete all memories of a bot permanently."""
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
    """Find the memories that fit a question, best match first."""
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
    """Delete a memory permanently. It is not sent with later questions."""
    return reply(await memories.forget((await bots.find(caller.account_id, bot)).id, memory_id))


@router.get("/memories/way")
async def get_recall_way(caller: Reader, memories: Service) -> Envelope[RecallWay]:
    """Return how memories are searched on this server."""
    return reply(await memories.recall_way())
