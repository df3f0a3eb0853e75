"""SQL queries for bots, including statistics over many bots at once."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from forge.bots.models import Bot, BotFile, BotStatus, MessageStatus
from forge.bots.tables import bot_memories, bot_versions, bots, chat_messages, chat_sessions
from forge.store.database import Tx

_COLUMNS = [bots.c[name] for name in Bot.model_fields]


@dataclass(frozen=True)
class ChatCounts:
    """Counts of the conversations with a bot."""

    sessions: int = 0
    answering: int = 0
    messages: int = 0


@dataclass(frozen=True)
class NewestVersion:
    """The newest version of a file."""

    number: int
    hash: str


async def insert(tx: Tx, bot: Bot, account_id: str) -> bool:
    """Insert a bot; False if the slug is taken. Waits for a concurrent transaction that takes it."""
    values = {**bot.model_dump(mode="python"), "identity": bot.identity.model_dump(mode="json")}
    statement = tx.insert(bots).values(account_id=account_id, **values)
    made = await tx.execute(statement.on_conflict_do_nothing(index_elements=["slug"]).returning(bots.c.id))
    return made.one_or_none() is not None


async def exists(tx: Tx, bot_id: str) -> bool:
    return (await tx.execute(sa.select(bots.c.id).where(bots.c.id == bot_id))).one_or_none() is not None


async def find_taken_slugs(tx: Tx, slugs: Collection[str]) -> set[str]:
    """Return the slugs that are taken, in any account."""
    return set((await tx.execute(sa.select(bots.c.slug).where(bots.c.slug.in_(slugs)))).scalars())


async def find(tx: Tx, account_id: str, ref: str) -> Bot | None:
    """Find a bot by id, else by slug, which may look like an id."""
    query = sa.select(*_COLUMNS).where(
        bots.c.account_id == account_id, (bots.c.id == ref) | (bots.c.slug == ref)
    )
    found = [_bot(row) for row in (await tx.execute(query)).mappings()]
    return min(found, key=lambda bot: bot.id != ref, default=None)


async def lock(tx: Tx, bot_id: str) -> Bot | None:
    """Lock a bot against concurrent deletes, restores and purges."""
    query = sa.select(*_COLUMNS).where(bots.c.id == bot_id).with_for_update()
    row = (await tx.execute(query)).mappings().one_or_none()
    return _bot(row) if row else None


async def list_all(tx: Tx, account_id: str) -> list[Bot]:
    """List the bots of an account, newest first, deleted ones included."""
    query = sa.select(*_COLUMNS).where(bots.c.account_id == account_id)
    found = await tx.execute(query.order_by(bots.c.created_at.desc(), bots.c.id.desc()))
    return [_bot(row) for row in found.mappings()]


async def find_many(tx: Tx, bot_ids: Collection[str]) -> list[Bot]:
    found = await tx.execute(sa.select(*_COLUMNS).where(bots.c.id.in_(bot_ids)))
    return [_bot(row) for row in found.mappings()]


async def list_existing(tx: Tx, slug: str | None = None) -> list[Bot]:
    """List the bots of all accounts that are not deleted, or the one with this slug."""
    query = sa.select(*_COLUMNS).where(bots.c.deleted_at.is_(None)).order_by(bots.c.slug)
    found = await tx.execute(query if slug is None else query.where(bots.c.slug == slug))
    return [_bot(row) for row in found.mappings()]


async def change_status(tx: Tx, bot_id: str, status: BotStatus, at: datetime) -> bool:
    """Change the status; False if it is unchanged or the bot is deleted."""
    is_other = (bots.c.status != status.value) & bots.c.deleted_at.is_(None)
    statement = sa.update(bots).where(bots.c.id == bot_id, is_other)
    return (await tx.execute(statement.values(status=status.value, updated_at=at))).rowcount > 0


async def mark_deleted(tx: Tx, bot_id: str, at: datetime) -> bool:
    """Mark a bot as deleted; False if it already is."""
    statement = sa.update(bots).where(bots.c.id == bot_id, bots.c.deleted_at.is_(None))
    return (await tx.execute(statement.values(deleted_at=at, updated_at=at))).rowcount > 0


async def unmark_deleted(tx: Tx, bot_id: str, at: datetime) -> None:
    await tx.execute(sa.update(bots).where(bots.c.id == bot_id).values(deleted_at=None, updated_at=at))


async def list_deleted_before(tx: Tx, moment: datetime) -> list[str]:
    """List the ids of bots deleted before a moment, oldest first."""
    query = sa.select(bots.c.id).where(bots.c.deleted_at < moment)
    return list((await tx.execute(query.order_by(bots.c.deleted_at))).scalars())


async def purge(tx: Tx, bot_id: str) -> None:
    """Delete a bot with its versions, conversations and memories."""
    await tx.execute(sa.delete(bots).where(bots.c.id == bot_id))


async def session_ids(tx: Tx, bot_id: str) -> list[str]:
    return list(
        (await tx.execute(sa.select(chat_sessions.c.id).where(chat_sessions.c.bot_id == bot_id))).scalars()
    )


async def newest_versions(tx: Tx, bot_ids: Collection[str]) -> dict[tuple[str, BotFile], NewestVersion]:
    """Return the newest version of every file of these bots."""
    columns = (bot_versions.c.bot_id, bot_versions.c.file, bot_versions.c.number, bot_versions.c.hash)
    found = await tx.execute(_newest(bot_ids, *columns))
    return {(row.bot_id, BotFile(row.file)): NewestVersion(row.number, row.hash) for row in found}


async def newest_contents(tx: Tx, bot_id: str) -> dict[BotFile, str]:
    found = await tx.execute(_newest([bot_id], bot_versions.c.file, bot_versions.c.content))
    return {BotFile(row.file): row.content for row in found}


async def count_chats(tx: Tx, bot_ids: Collection[str]) -> dict[str, ChatCounts]:
    """Count the conversations and messages of each bot."""
    is_written = chat_messages.c.status == MessageStatus.WRITING.value
    query = (
        sa.select(
            chat_sessions.c.bot_id,
            sa.func.count(sa.distinct(chat_sessions.c.id)).label("sessions"),
            sa.func.count(chat_messages.c.id).label("messages"),
            sa.func.count(sa.distinct(sa.case((is_written, chat_sessions.c.id)))).label("answering"),
        )
        .select_from(chat_sessions.outerjoin(chat_messages, chat_messages.c.session_id == chat_sessions.c.id))
        .where(chat_sessions.c.bot_id.in_(bot_ids))
        .group_by(chat_sessions.c.bot_id)
    )
    found = await tx.execute(query)
    return {row.bot_id: ChatCounts(row.sessions, row.answering, row.messages) for row in found}


async def count_memories(tx: Tx, bot_ids: Collection[str]) -> int:
    query = sa.select(sa.func.count()).where(bot_memories.c.bot_id.in_(bot_ids))
    return (await tx.execute(query)).scalar_one()


def _newest(bot_ids: Collection[str], *columns: sa.ColumnElement[Any]) -> sa.Select[Any]:
    key = (bot_versions.c.bot_id, bot_versions.c.file)
    newest = (
        sa.select(*key, sa.func.max(bot_versions.c.number).label("number"))
        .where(bot_versions.c.bot_id.in_(bot_ids))
        .group_by(*key)
        .subquery()
    )
    is_newest = sa.and_(*(bot_versions.c[name] == newest.c[name] for name in ("bot_id", "file", "number")))
    return sa.select(*columns).join(newest, is_newest)


def _bot(row: sa.RowMapping) -> Bot:
    return Bot.model_validate(dict(row))
