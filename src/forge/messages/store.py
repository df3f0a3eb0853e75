"""SQL queries for messages, deliveries and channels."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from pydantic import JsonValue, TypeAdapter

from forge.messages.models import DeliveryStatus, Sender
from forge.messages.tables import bot_channels, bot_deliveries, bot_messages, bot_subscriptions
from forge.runs.models import Problem
from forge.store.database import Tx
from forge.store.pagination import Cursor, newest_first

_SENDER: TypeAdapter[Sender] = TypeAdapter(Sender)


@dataclass(frozen=True)
class MessageRow:
    id: str
    account_id: str
    sender: Sender
    sender_bot_id: str | None
    recipient_bot_id: str | None
    channel: str | None
    message_type: str
    body: JsonValue
    reply_to: str | None
    conversation_id: str
    depth: int
    created_at: datetime


@dataclass(frozen=True)
class DeliveryRow:
    message_id: str
    bot_id: str
    status: DeliveryStatus
    run_id: str | None
    session_id: str | None = None
    reply_id: str | None = None
    error: Problem | None = None
    cost_micros: int = 0
    finished_at: datetime | None = None


@dataclass(frozen=True)
class MessageFilter:
    """Filter for messages; all given conditions must match."""

    bot_id: str | None = None
    other_id: str | None = None
    """With `bot_id`: only messages between these two."""
    channel: str | None = None
    conversation_id: str | None = None


async def insert_message(tx: Tx, row: MessageRow) -> bool:
    """Insert a message; False if it exists."""
    values = row.__dict__ | {"sender": row.sender.model_dump(mode="json")}
    statement = tx.insert(bot_messages).values(**values).on_conflict_do_nothing()
    return (await tx.execute(statement.returning(bot_messages.c.id))).one_or_none() is not None


async def find_message(tx: Tx, message_id: str) -> MessageRow | None:
    found = await tx.execute(sa.select(bot_messages).where(bot_messages.c.id == message_id))
    row = found.mappings().one_or_none()
    return _message(row) if row else None


async def find_some(tx: Tx, message_ids: Collection[str]) -> dict[str, MessageRow]:
    found = await tx.execute(sa.select(bot_messages).where(bot_messages.c.id.in_(message_ids)))
    return {row["id"]: _message(row) for row in found.mappings()}


async def list_messages(
    tx: Tx, account_id: str, filters: MessageFilter, *, cursor: Cursor | None, limit: int
) -> list[MessageRow]:
    """List messages, newest first."""
    table = bot_messages
    query = sa.select(table).where(table.c.account_id == account_id, *_conditions(filters))
    found = await tx.execute(newest_first(query, table.c.created_at, table.c.id, cursor, limit))
    return [_message(row) for row in found.mappings()]


def _conditions(filters: MessageFilter) -> list[sa.ColumnElement[bool]]:
    table, found = bot_messages, list[sa.ColumnElement[bool]]()
    if filters.bot_id and filters.other_id:
        found.append(_between(filters.bot_id, filters.other_id) | _between(filters.other_id, filters.bot_id))
    elif filters.bot_id:
        found.append((table.c.sender_bot_id == filters.bot_id) | _reached(filters.bot_id))
    if filters.channel:
        found.append(table.c.channel == filters.channel)
    if filters.conversation_id:
        found.append(table.c.conversation_id == filters.conversation_id)
    return found


def _between(sender: str, recipient: str) -> sa.ColumnElement[bool]:
    return (bot_messages.c.sender_bot_id == sender) & (
        (bot_messages.c.recipient_bot_id == recipient) | _reached(recipient)
    )


def _reached(bot_id: str) -> sa.ColumnElement[bool]:
    return bot_messages.c.id.in_(
        sa.select(bot_deliveries.c.message_id).where(bot_deliveries.c.bot_id == bot_id)
    )


async def count_between(
    tx: Tx, sender_bot_id: str, bot_ids: Collection[str], since: datetime, until: datetime
) -> dict[str, int]:
    """Count the messages one bot sent to each of these bots."""
    found = await tx.execute(
        sa.select(bot_deliveries.c.bot_id, sa.func.count().label("messages"))
        .join(bot_messages, bot_messages.c.id == bot_deliveries.c.message_id)
        .where(
            bot_messages.c.sender_bot_id == sender_bot_id,
            bot_messages.c.created_at > since,
            bot_messages.c.created_at <= until,
            bot_deliveries.c.bot_id.in_(bot_ids),
        )
        .group_by(bot_deliveries.c.bot_id)
    )
    return {row.bot_id: row.messages for row in found}


async def insert_delivery(tx: Tx, row: DeliveryRow) -> None:
    statement = tx.insert(bot_deliveries).values(**_values(row.__dict__))
    await tx.execute(statement.on_conflict_do_nothing())


async def list_deliveries(tx: Tx, message_ids: Sequence[str]) -> list[DeliveryRow]:
    query = sa.select(bot_deliveries).where(bot_deliveries.c.message_id.in_(message_ids))
    return [_delivery(row) for row in (await tx.execute(query)).mappings()]


async def change_delivery(tx: Tx, message_id: str, bot_id: str, **values: Any) -> bool:
    """Change a delivery; False if it has ended or was deleted."""
    unfinished = [DeliveryStatus.QUEUED.value, DeliveryStatus.DELIVERING.value]
    statement = sa.update(bot_deliveries).where(
        bot_deliveries.c.message_id == message_id,
        bot_deliveries.c.bot_id == bot_id,
        bot_deliveries.c.status.in_(unfinished),
    )
    return (await tx.execute(statement.values(**_values(values)))).rowcount > 0


async def insert_channel(tx: Tx, account_id: str, name: str, at: datetime) -> bool:
    """Insert a channel; False if it exists."""
    values = {"account_id": account_id, "name": name, "created_at": at}
    statement = tx.insert(bot_channels).values(**values).on_conflict_do_nothing()
    return (await tx.execute(statement.returning(bot_channels.c.name))).one_or_none() is not None


async def list_channels(tx: Tx, account_id: str) -> list[tuple[str, datetime]]:
    query = sa.select(bot_channels.c.name, bot_channels.c.created_at)
    found = await tx.execute(
        query.where(bot_channels.c.account_id == account_id).order_by(bot_channels.c.name)
    )
    return [(row.name, row.created_at) for row in found]


async def delete_channel(tx: Tx, account_id: str, name: str) -> bool:
    """Delete a channel and its subscriptions; its messages are kept."""
    await tx.execute(
        sa.delete(bot_subscriptions).where(
            bot_subscriptions.c.account_id == account_id, bot_subscriptions.c.channel == name
        )
    )
    statement = sa.delete(bot_channels).where(
        bot_channels.c.account_id == account_id, bot_channels.c.name == name
    )
    return (await tx.execute(statement)).rowcount > 0


async def count_by_channel(tx: Tx, account_id: str) -> dict[str, tuple[int, datetime]]:
    """Return the number of messages and the time of the last one per channel."""
    found = await tx.execute(
        sa.select(
            bot_messages.c.channel,
            sa.func.count().label("messages"),
            sa.func.max(bot_messages.c.created_at).label("last_at"),
        )
        .where(bot_messages.c.account_id == account_id, bot_messages.c.channel.is_not(None))
        .group_by(bot_messages.c.channel)
    )
    return {row.channel: (row.messages, row.last_at) for row in found}


async def insert_subscription(tx: Tx, account_id: str, channel: str, bot_id: str, at: datetime) -> None:
    values = {"account_id": account_id, "channel": channel, "bot_id": bot_id, "created_at": at}
    await tx.execute(tx.insert(bot_subscriptions).values(**values).on_conflict_do_nothing())


async def delete_subscription(tx: Tx, account_id: str, channel: str, bot_id: str) -> bool:
    statement = sa.delete(bot_subscriptions).where(
        bot_subscriptions.c.account_id == account_id,
        bot_subscriptions.c.channel == channel,
        bot_subscriptions.c.bot_id == bot_id,
    )
    return (await tx.execute(statement)).rowcount > 0


async def list_subscriptions(tx: Tx, account_id: str) -> list[tuple[str, str]]:
    """Return pairs of channel and bot id, in the order of subscription."""
    query = sa.select(bot_subscriptions.c.channel, bot_subscriptions.c.bot_id)
    found = await tx.execute(
        query.where(bot_subscriptions.c.account_id == account_id).order_by(bot_subscriptions.c.created_at)
    )
    return [(row.channel, row.bot_id) for row in found]


def _values(values: dict[str, Any]) -> dict[str, Any]:
    error: Problem | None = values.get("error")
    more = {"error": error.model_dump(mode="json") if error else None} if "error" in values else {}
    return {**values, **more, "status": DeliveryStatus(values["status"]).value}


def _message(row: Any) -> MessageRow:
    values: dict[str, Any] = {**row, "sender": _SENDER.validate_python(row["sender"])}
    return MessageRow(**values)


def _delivery(row: Any) -> DeliveryRow:
    values: dict[str, Any] = {
        **row,
        "status": DeliveryStatus(row["status"]),
        "error": Problem.model_validate(row["error"]) if row["error"] else None,
    }
    return DeliveryRow(**values)


async def find_workflow_run(tx: Tx, conversation_id: str) -> str | None:
    """Return the run of the workflow that wrote last in a conversation; None if no workflow did."""
    table = bot_messages.c
    query = sa.select(table.sender).where(
        table.conversation_id == conversation_id, table.sender_bot_id.is_(None)
    )
    found = await tx.execute(query.order_by(table.created_at.desc(), table.id.desc()))
    return next((sender["run_id"] for (sender,) in found if sender["type"] == "workflow"), None)
