"""SQL queries for memories."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

import sqlalchemy as sa

from forge.bots.memory.models import Memory, MemoryCategory
from forge.bots.memory.similarity import Wording
from forge.bots.tables import bot_memories, chat_sessions
from forge.store.database import Tx
from forge.store.pagination import Cursor

_SHOWN = [bot_memories.c[name] for name in Memory.model_fields]


@dataclass(frozen=True)
class Embedding:
    """A stored vector and the embedder that made it."""

    embedder: str
    vector: bytes


def columns_of(embedding: Embedding | None) -> dict[str, str | bytes | None]:
    if embedding is None:
        return {"embedder": None, "embedding": None}
    return {"embedder": embedding.embedder, "embedding": embedding.vector}


@dataclass(frozen=True)
class KnownFact:
    """The columns needed to recognize a known fact."""

    id: str
    fact: str
    author: str
    is_pinned: bool
    embedder: str | None
    embedding: bytes | None

    @cached_property
    def wording(self) -> Wording:
        return Wording(self.fact)


@dataclass(frozen=True)
class RankedMemory:
    """The columns needed to rank a memory."""

    id: str
    importance: int
    recalled: int
    updated_at: datetime
    embedding: bytes | None


async def insert(tx: Tx, bot_id: str, memory: Memory, embedding: Embedding | None) -> None:
    values = {**memory.model_dump(), "bot_id": bot_id, **columns_of(embedding)}
    await tx.execute(sa.insert(bot_memories).values(**values))


async def change(tx: Tx, bot_id: str, memory_id: str, **values: Any) -> Memory | None:
    statement = sa.update(bot_memories).where(*_is(bot_id, memory_id)).values(**values).returning(*_SHOWN)
    return _memory(await tx.execute(statement))


async def embed(tx: Tx, memory_id: str, fact: str, embedding: Embedding) -> None:
    """Store an embedding, unless the fact changed."""
    is_it = (bot_memories.c.id == memory_id, bot_memories.c.fact == fact)
    await tx.execute(sa.update(bot_memories).where(*is_it).values(**columns_of(embedding)))


async def delete(tx: Tx, bot_id: str, memory_id: str) -> Memory | None:
    statement = sa.delete(bot_memories).where(*_is(bot_id, memory_id)).returning(*_SHOWN)
    return _memory(await tx.execute(statement))


async def delete_all(tx: Tx, bot_id: str) -> int:
    return (await tx.execute(sa.delete(bot_memories).where(bot_memories.c.bot_id == bot_id))).rowcount


async def delete_weakest(tx: Tx, bot_id: str, count: int) -> set[str]:
    """Delete the oldest of the least important memories and return their ids. Memories a person wrote or pinned are kept."""
    weakest = (
        sa.select(bot_memories.c.id)
        .where(bot_memories.c.bot_id == bot_id, bot_memories.c.author == "chat", ~bot_memories.c.is_pinned)
        .order_by(bot_memories.c.importance, bot_memories.c.created_at, bot_memories.c.id)
        .limit(count)
    )
    ids = set((await tx.execute(weakest)).scalars())
    await tx.execute(sa.delete(bot_memories).where(bot_memories.c.id.in_(ids)))
    return ids


async def count(tx: Tx, bot_id: str) -> int:
    query = sa.select(sa.func.count()).select_from(bot_memories).where(bot_memories.c.bot_id == bot_id)
    return (await tx.execute(query)).scalar_one()


async def list_page(
    tx: Tx, bot_id: str, *, category: MemoryCategory | None, cursor: Cursor | None, limit: int
) -> list[Memory]:
    """List memories, newest first."""
    query = sa.select(*_SHOWN).where(bot_memories.c.bot_id == bot_id)
    place = sa.tuple_(bot_memories.c.created_at, bot_memories.c.id)
    if category is not None:
        query = query.where(bot_memories.c.category == category)
    if cursor is not None:
        query = query.where(
            place < sa.tuple_(sa.literal(cursor.at, bot_memories.c.created_at.type), cursor.id)
        )
    query = query.order_by(bot_memories.c.created_at.desc(), bot_memories.c.id.desc()).limit(limit)
    return _memories(await tx.execute(query))


async def list_always_sent(tx: Tx, bot_id: str, limit: int) -> list[Memory]:
    order = (
        bot_memories.c.is_pinned.desc(),
        bot_memories.c.importance.desc(),
        bot_memories.c.created_at.desc(),
        bot_memories.c.id.desc(),
    )
    query = sa.select(*_SHOWN).where(bot_memories.c.bot_id == bot_id).order_by(*order).limit(limit)
    return _memories(await tx.execute(query))


async def list_by_ids(tx: Tx, bot_id: str, ids: Sequence[str]) -> list[Memory]:
    """Return memories in the order of the ids."""
    query = sa.select(*_SHOWN).where(bot_memories.c.bot_id == bot_id, bot_memories.c.id.in_(ids))
    found = {memory.id: memory for memory in _memories(await tx.execute(query))}
    return [found[one] for one in ids if one in found]


async def list_known(tx: Tx, bot_id: str) -> list[KnownFact]:
    columns = [bot_memories.c[name] for name in KnownFact.__dataclass_fields__]
    found = await tx.execute(sa.select(*columns).where(bot_memories.c.bot_id == bot_id))
    return [KnownFact(*row) for row in found]


async def list_embedded(tx: Tx, bot_id: str, embedder: str) -> list[RankedMemory]:
    is_its = (bot_memories.c.bot_id == bot_id, bot_memories.c.embedder == embedder)
    return await _weighed(tx, *is_its)


async def list_for_ranking(tx: Tx, ids: Sequence[str]) -> list[RankedMemory]:
    return await _weighed(tx, bot_memories.c.id.in_(ids))


async def list_unembedded(tx: Tx, bot_id: str, embedder: str, limit: int) -> list[tuple[str, str]]:
    """Return id and fact of memories without a vector of this embedder, newest first."""
    other = sa.or_(bot_memories.c.embedder.is_(None), bot_memories.c.embedder != embedder)
    query = sa.select(bot_memories.c.id, bot_memories.c.fact).where(bot_memories.c.bot_id == bot_id, other)
    found = await tx.execute(query.order_by(bot_memories.c.created_at.desc()).limit(limit))
    return [(row.id, row.fact) for row in found]


async def note_recalled(tx: Tx, ids: Sequence[str], at: datetime) -> None:
    """Count a recall. The rows are locked in a fixed order, because conversations may recall the same memories."""
    are_these = bot_memories.c.id.in_(ids)
    await tx.execute(
        sa.select(bot_memories.c.id).where(are_these).order_by(bot_memories.c.id).with_for_update()
    )
    values = {"recalled": bot_memories.c.recalled + 1, "last_recalled_at": at}
    await tx.execute(sa.update(bot_memories).where(are_these).values(**values))


async def session_exists(tx: Tx, session_id: str) -> bool:
    query = sa.select(chat_sessions.c.id).where(chat_sessions.c.id == session_id)
    return (await tx.execute(query)).one_or_none() is not None


async def _weighed(tx: Tx, *conditions: sa.ColumnElement[bool]) -> list[RankedMemory]:
    columns = [bot_memories.c[name] for name in RankedMemory.__dataclass_fields__]
    return [RankedMemory(*row) for row in await tx.execute(sa.select(*columns).where(*conditions))]


def _is(bot_id: str, memory_id: str) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
    return bot_memories.c.bot_id == bot_id, bot_memories.c.id == memory_id


def _memories(found: sa.CursorResult[Any]) -> list[Memory]:
    return [Memory.model_validate(dict(row)) for row in found.mappings()]


def _memory(found: sa.CursorResult[Any]) -> Memory | None:
    row = found.mappings().one_or_none()
    return None if row is None else Memory.model_validate(dict(row))
