"""SQL queries for versions, and for what a new version changes in the row of its bot."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from forge.bots.models import BotFile, Identity
from forge.bots.tables import bot_versions, bots
from forge.bots.versions.models import FileVersion, FileVersionDetail
from forge.errors import NotFound
from forge.store.database import Tx


@dataclass(frozen=True)
class Head:
    """The newest version of a file."""

    number: int
    hash: str
    is_written: bool
    """False until the file is known to have this content."""
    before: str | None
    """Hash of the previous version: the content of the file if the newest was not written."""


@dataclass(frozen=True)
class NewVersion:
    content: str
    hash: str
    author: str
    message: str
    is_written: bool


async def heads(tx: Tx, bot_id: str, files: Collection[BotFile]) -> dict[BotFile, Head]:
    """Return the newest version of each file that has one."""
    columns = bot_versions.c
    numbered = (
        sa.select(
            columns.file,
            columns.number,
            columns.hash,
            columns.is_written,
            sa.func.row_number()
            .over(partition_by=columns.file, order_by=columns.number.desc())
            .label("rank"),
        )
        .where(columns.bot_id == bot_id, columns.file.in_([file.value for file in files]))
        .subquery()
    )
    query = sa.select(numbered).where(numbered.c.rank <= 2).order_by(numbered.c.file, numbered.c.rank.desc())
    found: dict[BotFile, Head] = {}
    for row in await tx.execute(query):
        before = found.get(BotFile(row.file))
        found[BotFile(row.file)] = Head(row.number, row.hash, row.is_written, before.hash if before else None)
    return found


async def insert(tx: Tx, bot_id: str, file: BotFile, number: int, version: NewVersion, at: datetime) -> bool:
    """Insert a version; False if the number is taken by a concurrent save."""
    values = {name: getattr(version, name) for name in NewVersion.__dataclass_fields__}
    statement = tx.insert(bot_versions).values(
        bot_id=bot_id, file=file.value, number=number, created_at=at, **values
    )
    made = await tx.execute(statement.on_conflict_do_nothing().returning(bot_versions.c.number))
    return made.one_or_none() is not None


async def mark_written(tx: Tx, bot_id: str, file: BotFile, number: int) -> None:
    await tx.execute(sa.update(bot_versions).where(*_is(bot_id, file, number)).values(is_written=True))


async def find(tx: Tx, bot_id: str, file: BotFile, number: int) -> FileVersionDetail | None:
    query = sa.select(*_columns(tx), bot_versions.c.content).where(*_is(bot_id, file, number))
    row = (await tx.execute(query)).mappings().one_or_none()
    return FileVersionDetail.model_validate(dict(row)) if row else None


async def find_by_hash(tx: Tx, bot_id: str, file: BotFile, content_hash: str) -> FileVersionDetail | None:
    """Return the newest version with this hash."""
    query = (
        sa.select(*_columns(tx), bot_versions.c.content)
        .where(*_of(bot_id, file), bot_versions.c.hash == content_hash)
        .order_by(bot_versions.c.number.desc())
        .limit(1)
    )
    row = (await tx.execute(query)).mappings().one_or_none()
    return FileVersionDetail.model_validate(dict(row)) if row else None


async def list_versions(
    tx: Tx, bot_id: str, file: BotFile, *, before: int | None, limit: int
) -> list[FileVersion]:
    """List versions, newest first."""
    query = sa.select(*_columns(tx)).where(*_of(bot_id, file))
    if before is not None:
        query = query.where(bot_versions.c.number < before)
    found = await tx.execute(query.order_by(bot_versions.c.number.desc()).limit(limit))
    return [FileVersion.model_validate(dict(row)) for row in found.mappings()]


async def touch_bot(tx: Tx, bot_id: str, at: datetime, identity: Identity | None) -> None:
    """Record a change of the bot and its new identity, if given. Raises NotFound if the bot was deleted: its folder is in
    the trash and must not be recreated."""
    values: dict[str, Any] = {"updated_at": at}
    if identity is not None:
        values["identity"] = identity.model_dump(mode="json")
    is_present = bots.c.id == bot_id, bots.c.deleted_at.is_(None)
    if (await tx.execute(sa.update(bots).where(*is_present).values(**values))).rowcount == 0:
        raise NotFound("This bot was just deleted.", hint="List them: forge bots list --deleted")


def _of(bot_id: str, file: BotFile) -> tuple[sa.ColumnElement[bool], ...]:
    return bot_versions.c.bot_id == bot_id, bot_versions.c.file == file.value


def _is(bot_id: str, file: BotFile, number: int) -> tuple[sa.ColumnElement[bool], ...]:
    return (*_of(bot_id, file), bot_versions.c.number == number)


def _columns(tx: Tx) -> list[sa.ColumnElement[Any]]:
    """Return all columns but the content, which can be large, plus its size in bytes."""
    content = bot_versions.c.content
    if tx.is_postgresql:
        size = sa.func.octet_length(content)
    else:
        size = sa.func.length(sa.cast(content, sa.LargeBinary))
    names = ("number", "hash", "author", "message", "created_at")
    return [*(bot_versions.c[name] for name in names), size.label("bytes")]
