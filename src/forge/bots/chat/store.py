"""The SQL of conversations."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter

from forge.bots.chat.models import AnswerFacts, MessageStatus, Origin, Speaker, Summary
from forge.bots.tables import bots, chat_messages, chat_sessions, chat_summaries
from forge.runs.models import Problem
from forge.store.engine import Tx
from forge.store.paging import Cursor, newest_first


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
class Place:
    """Where a message stands in its tree."""

    id: str
    parent_id: str | None
    role: Speaker
    status: MessageStatus
    cost_micros: int


@dataclass(frozen=True)
class Tally:
    """Numbers of one conversation."""

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
    """False when there is one with its id. Waits for another transaction that is just making it."""
    origin = row.origin and row.origin.model_dump(mode="json")
    statement = tx.insert(chat_sessions).values(**row.__dict__ | {"origin": origin})
    made = await tx.execute(statement.on_conflict_do_nothing().returning(chat_sessions.c.id))
    return made.one_or_none() is not None


async def find_session(tx: Tx, session_id: str, *, lock: bool = False) -> SessionRow | None:
    query = _SESSION_LOCKED if lock else _SESSION
    found = (await tx.execute(query, {"session_id": session_id})).mappings().one_or_none()
    return _session(found) if found else None


async def list_sessions(tx: Tx, bot_id: str, *, cursor: Cursor | None, limit: int) -> list[SessionRow]:
    """The latest first."""
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


async def count_sessions(tx: Tx, session_ids: Sequence[str]) -> dict[str, Tally]:
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
    return {row.session_id: Tally(row.messages, int(row.cost), row.answering) for row in found}


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


async def list_below(tx: Tx, session_id: str, parent_id: str, role: Speaker) -> list[MessageRow]:
    """What one speaker said right behind a message, the oldest first."""
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
    """Conversations in which an answer is being written, of all accounts."""
    found = await tx.execute(
        sa.select(chat_messages.c.session_id).where(chat_messages.c.status == MessageStatus.WRITING.value)
    )
    return list(found.scalars())


async def change_message(
    tx: Tx, message_id: str, expected: Collection[MessageStatus], *, of_run: str | None = None, **values: Any
) -> MessageRow | None:
    """None when it was in no expected state: somebody else was first. Whoever writes an answer says in which run: an
    answer that was resumed belongs to another one, and the old one may not know that yet."""
    found = [
        chat_messages.c.id == message_id,
        chat_messages.c.status.in_([status.value for status in expected]),
    ]
    if of_run is not None:
        found.append(chat_messages.c.run_id == of_run)
    return await _change(tx, found, values)


async def begin_try(tx: Tx, message_id: str, run_id: str, number: int, text: str) -> MessageRow | None:
    """The answer, when this try is the first to begin it; None when it was begun by a process that died, or is no
    longer to be written by this run."""
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
    """Conversations that have been quiet for a while and have something that facts were not taken from yet."""
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
    """From the first message down to the head."""
    if head_id is None:
        return []
    found = await tx.execute(_BRANCH, {"of_session": session_id, "head": head_id})
    return [_message(row) for row in found.mappings()]


async def list_places(tx: Tx, session_id: str) -> list[Place]:
    """Every message of the tree, the oldest first."""
    found = await tx.execute(_PLACES, {"of_session": session_id})
    return [
        Place(row.id, row.parent_id, Speaker(row.role), MessageStatus(row.status), row.cost_micros)
        for row in found
    ]


async def list_texts(tx: Tx, message_ids: Sequence[str]) -> list[str]:
    found = await tx.execute(sa.select(chat_messages.c.text).where(chat_messages.c.id.in_(message_ids)))
    return list(found.scalars())


async def insert_summary(tx: Tx, summary_id: str, session_id: str, summary: Summary) -> None:
    values = summary.model_dump() | {"id": summary_id, "session_id": session_id}
    await tx.execute(tx.insert(chat_summaries).values(**values).on_conflict_do_nothing())


async def list_summaries(tx: Tx, session_id: str) -> list[Summary]:
    """The newest first."""
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
