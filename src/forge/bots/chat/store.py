"""SQL queries for conversations."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter

from forge.bots.chat.models import AnswerFacts, Origin, SearchHit, Speaker, Summary
from forge.bots.models import MessageStatus
from forge.bots.tables import bots, chat_messages, chat_sessions, chat_summaries
from forge.runs.models import Problem
from forge.store.database import Tx
from forge.store.fulltext import match_messages
from forge.store.pagination import Cursor, newest_first


@dataclass(frozen=True)
class SessionRow:
    id: str
    account_id: str
    bot_id: str
    title: str
    is_titled: bool
    head_id: str | None
    standing: list[str]
    remembered_id: str | None
    created_at: datetime
    updated_at: datetime
    origin: Origin | None = None


@dataclass(frozen=True)
class MessageRow:
    id: str
    session_id: str
    parent_id: str | None
    role: Speaker
    text: str
    status: MessageStatus
    error: Problem | None
    answer: AnswerFacts | None
    run_id: str | None
    tries: int
    cost_micros: int
    created_at: datetime
    finished_at: datetime | None


@dataclass(frozen=True)
class TreeNode:
    """The position of a message in its tree."""

    id: str
    parent_id: str | None
    role: Speaker
    status: MessageStatus
    cost_micros: int


@dataclass(frozen=True)
class SessionTotals:
    """Totals of one conversation."""

    messages: int = 0
    cost_micros: int = 0
    answering: int = 0


# Made once: a question is asked with all of them, and making a statement takes longer than executing it.
_OF_SESSION = chat_messages.c.session_id == sa.bindparam("of_session")
_PLACES = (
    sa.select(
        chat_messages.c.id,
        chat_messages.c.parent_id,
        chat_messages.c.role,
        chat_messages.c.status,
        chat_messages.c.cost_micros,
    )
    .where(_OF_SESSION)
    .order_by(chat_messages.c.id)
)
_SESSION = sa.select(chat_sessions).where(chat_sessions.c.id == sa.bindparam("session_id"))
_SESSION_LOCKED = _SESSION.with_for_update()
_MESSAGE = sa.select(chat_messages).where(chat_messages.c.id == sa.bindparam("message_id"))


def _branch() -> sa.Select[Any]:
    table, above = chat_messages, chat_messages.alias("above")
    branch = (
        sa.select(table.c.id, table.c.parent_id, sa.literal(0).label("depth"))
        .where(table.c.id == sa.bindparam("head"), _OF_SESSION)
        .cte("branch", recursive=True)
    )
    branch = branch.union_all(
        sa.select(above.c.id, above.c.parent_id, branch.c.depth + 1).where(above.c.id == branch.c.parent_id)
    )
    return sa.select(table).join(branch, branch.c.id == table.c.id).order_by(branch.c.depth.desc())


_BRANCH = _branch()


async def insert_session(tx: Tx, row: SessionRow) -> bool:
    """Insert a session; False if its id exists. Waits for a concurrent transaction that inserts it."""
    origin = row.origin and row.origin.model_dump(mode="json")
    statement = tx.insert(chat_sessions).values(**row.__dict__ | {"origin": origin})
    made = await tx.execute(statement.on_conflict_do_nothing().returning(chat_sessions.c.id))
    return made.one_or_none() is not None


async def find_session(tx: Tx, session_id: str, *, lock: bool = False) -> SessionRow | None:
    query = _SESSION_LOCKED if lock else _SESSION
    found = (await tx.execute(query, {"session_id": session_id})).mappings().one_or_none()
    return _session(found) if found else None


async def list_sessions(tx: Tx, bot_id: str, *, cursor: Cursor | None, limit: int) -> list[SessionRow]:
    """List the sessions of a bot, latest first."""
    query = sa.select(chat_sessions).where(chat_sessions.c.bot_id == bot_id)
    found = await tx.execute(
        newest_first(query, chat_sessions.c.updated_at, chat_sessions.c.id, cursor, limit)
    )
    return [_session(row) for row in found.mappings()]


async def change_session(tx: Tx, session_id: str, **values: Any) -> SessionRow | None:
    changed = await tx.execute(
        sa.update(chat_sessions)
        .where(chat_sessions.c.id == session_id)
        .values(**values)
        .returning(*chat_sessions.c)
    )
    found = changed.mappings().one_or_none()
    return _session(found) if found else None


async def delete_session(tx: Tx, session_id: str) -> None:
    await tx.execute(sa.delete(chat_sessions).where(chat_sessions.c.id == session_id))


async def count_sessions(tx: Tx, session_ids: Sequence[str]) -> dict[str, SessionTotals]:
    is_writing = chat_messages.c.status == MessageStatus.WRITING.value
    found = await tx.execute(
        sa.select(
            chat_messages.c.session_id,
            sa.func.count().label("messages"),
            sa.func.coalesce(sa.func.sum(chat_messages.c.cost_micros), 0).label("cost"),
            sa.func.coalesce(sa.func.sum(sa.case((is_writing, 1), else_=0)), 0).label("answering"),
        )
        .where(chat_messages.c.session_id.in_(session_ids))
        .group_by(chat_messages.c.session_id)
    )
    return {row.session_id: SessionTotals(row.messages, int(row.cost), row.answering) for row in found}


async def insert_message(tx: Tx, row: MessageRow) -> None:
    values = row.__dict__ | {
        "role": row.role.value,
        "status": row.status.value,
        "error": row.error and row.error.model_dump(mode="json"),
        "answer": row.answer and row.answer.model_dump(mode="json"),
    }
    await tx.execute(sa.insert(chat_messages).values(**values))


async def find_message(tx: Tx, message_id: str) -> MessageRow | None:
    found = await tx.execute(_MESSAGE, {"message_id": message_id})
    row = found.mappings().one_or_none()
    return _message(row) if row else None


async def find_writing(tx: Tx, session_id: str) -> list[MessageRow]:
    found = await tx.execute(
        sa.select(chat_messages).where(
            chat_messages.c.session_id == session_id, chat_messages.c.status == MessageStatus.WRITING.value
        )
    )
    return [_message(row) for row in found.mappings()]


async def list_replies(tx: Tx, session_id: str, parent_id: str, role: Speaker) -> list[MessageRow]:
    """Return the direct replies of one speaker to a message, oldest first."""
    found = await tx.execute(
        sa.select(chat_messages)
        .where(
            chat_messages.c.session_id == session_id,
            chat_messages.c.parent_id == parent_id,
            chat_messages.c.role == role.value,
        )
        .order_by(chat_messages.c.id)
    )
    return [_message(row) for row in found.mappings()]


async def list_answering(tx: Tx) -> list[str]:
    """Return the sessions of all accounts in which an answer is being written."""
    found = await tx.execute(
        sa.select(chat_messages.c.session_id).where(chat_messages.c.status == MessageStatus.WRITING.value)
    )
    return list(found.scalars())


async def change_message(
    tx: Tx, message_id: str, expected: Collection[MessageStatus], *, of_run: str | None = None, **values: Any
) -> MessageRow | None:
    """Change a message; None if its status is not expected. A run passes `of_run`, because a resumed answer belongs to a new run
    and the old one may still be writing."""
    found = [
        chat_messages.c.id == message_id,
        chat_messages.c.status.in_([status.value for status in expected]),
    ]
    if of_run is not None:
        found.append(chat_messages.c.run_id == of_run)
    return await _change(tx, found, values)


async def claim_attempt(tx: Tx, message_id: str, run_id: str, number: int, text: str) -> MessageRow | None:
    """Claim an attempt and return the answer; None if a process that died claimed it before, or the answer belongs to another
    run."""
    found = [
        chat_messages.c.id == message_id,
        chat_messages.c.run_id == run_id,
        chat_messages.c.status == MessageStatus.WRITING.value,
        chat_messages.c.tries < number,
    ]
    return await _change(tx, found, {"tries": number, "text": text})


async def touch_bot(tx: Tx, bot_id: str, at: datetime) -> None:
    await tx.execute(sa.update(bots).where(bots.c.id == bot_id).values(last_active_at=at))


async def list_unremembered(
    tx: Tx, *, quiet_since: datetime, not_before: datetime, limit: int
) -> list[SessionRow]:
    """Return idle sessions with messages from which no facts were extracted yet."""
    table = chat_sessions
    is_writing = sa.exists().where(
        chat_messages.c.session_id == table.c.id, chat_messages.c.status == MessageStatus.WRITING.value
    )
    found = await tx.execute(
        sa.select(table)
        .join(bots, bots.c.id == table.c.bot_id)
        .where(
            table.c.updated_at < quiet_since,
            table.c.updated_at > not_before,
            table.c.head_id.is_distinct_from(table.c.remembered_id),
            table.c.origin.is_(None),
            bots.c.deleted_at.is_(None),
            ~is_writing,
        )
        .order_by(table.c.updated_at)
        .limit(limit)
    )
    return [_session(row) for row in found.mappings()]


async def list_branch(tx: Tx, session_id: str, head_id: str | None) -> list[MessageRow]:
    """Return the messages from the first one to the head."""
    if head_id is None:
        return []
    found = await tx.execute(_BRANCH, {"of_session": session_id, "head": head_id})
    return [_message(row) for row in found.mappings()]


async def list_tree(tx: Tx, session_id: str) -> list[TreeNode]:
    """Return all nodes of the tree, oldest first."""
    found = await tx.execute(_PLACES, {"of_session": session_id})
    return [
        TreeNode(row.id, row.parent_id, Speaker(row.role), MessageStatus(row.status), row.cost_micros)
        for row in found
    ]


async def list_texts(tx: Tx, message_ids: Sequence[str]) -> list[str]:
    found = await tx.execute(sa.select(chat_messages.c.text).where(chat_messages.c.id.in_(message_ids)))
    return list(found.scalars())


async def insert_summary(tx: Tx, summary_id: str, session_id: str, summary: Summary) -> None:
    values = summary.model_dump() | {"id": summary_id, "session_id": session_id}
    await tx.execute(tx.insert(chat_summaries).values(**values).on_conflict_do_nothing())


async def list_summaries(tx: Tx, session_id: str) -> list[Summary]:
    """List summaries, newest first."""
    found = await tx.execute(
        sa.select(chat_summaries)
        .where(chat_summaries.c.session_id == session_id)
        .order_by(chat_summaries.c.id.desc())
    )
    return [Summary(text=row.text, upto_id=row.upto_id, created_at=row.created_at) for row in found]


async def _change(
    tx: Tx, found: Collection[sa.ColumnElement[bool]], values: dict[str, Any]
) -> MessageRow | None:
    changed = await tx.execute(
        sa.update(chat_messages).where(*found).values(**values).returning(*chat_messages.c)
    )
    row = changed.mappings().one_or_none()
    return _message(row) if row else None


_ORIGIN: TypeAdapter[Origin | None] = TypeAdapter(Origin | None)


def _session(row: Any) -> SessionRow:
    values: dict[str, Any] = {**row, "origin": _ORIGIN.validate_python(row["origin"])}
    return SessionRow(**values)


def _message(row: Any) -> MessageRow:
    values: dict[str, Any] = {
        **row,
        "role": Speaker(row["role"]),
        "status": MessageStatus(row["status"]),
        "error": Problem.model_validate(row["error"]) if row["error"] else None,
        "answer": AnswerFacts.model_validate(row["answer"]) if row["answer"] else None,
    }
    return MessageRow(**values)


async def find_messages(tx: Tx, bot_id: str, words: str, limit: int) -> list[SearchHit]:
    """Find messages by words, best match first."""
    matches = await match_messages(tx, bot_id, words, limit)
    found = await tx.execute(
        sa.select(
            chat_messages.c.id,
            chat_messages.c.session_id,
            chat_messages.c.role,
            chat_messages.c.created_at,
            chat_sessions.c.title,
        )
        .join(chat_sessions, chat_sessions.c.id == chat_messages.c.session_id)
        .where(chat_messages.c.id.in_([match.id for match in matches]))
    )
    rows = {row.id: row for row in found}
    return [
        SearchHit(
            session_id=row.session_id,
            session_title=row.title,
            message_id=row.id,
            role=Speaker(row.role),
            excerpt=match.excerpt,
            created_at=row.created_at,
        )
        for match in matches
        if (row := rows.get(match.id))
    ]
