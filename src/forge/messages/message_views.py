"""Build API views of messages, with the names of bots and the state of each delivery."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from forge.bots.management.service import Bots
from forge.bots.models import Bot
from forge.messages import store
from forge.messages.models import (
    BotMessage,
    ChannelRecipient,
    Delivery,
    DeliveryStatus,
    DirectRecipient,
    Recipient,
    SenderRecipient,
)
from forge.messages.store import DeliveryRow, MessageRow
from forge.runs.models import Problem, Run, RunStatus
from forge.runs.service import Runs
from forge.store.database import Tx

CANCELLED = Problem(code="cancelled", message="The delivery was cancelled.")
LOST = Problem(code="lost", message="The delivery ended before the message was delivered.")


class MessageViews:
    def __init__(self, bots: Bots, runs: Runs) -> None:
        self._bots = bots
        self._runs = runs

    async def build(self, tx: Tx, rows: Sequence[MessageRow]) -> list[BotMessage]:
        deliveries = await store.list_deliveries(tx, [row.id for row in rows])
        open_runs = [one.run_id for one in deliveries if not one.status.is_over and one.run_id]
        runs = await self._runs.read(tx, open_runs)
        ids = {one.bot_id for one in deliveries} | {row.recipient_bot_id or "" for row in rows}
        bots = await self._bots.find_many(tx, ids)
        before = await store.find_some(tx, {row.reply_to for row in rows if row.reply_to})
        shown = {row.id: list[Delivery]() for row in rows}
        for one in deliveries:
            shown[one.message_id].append(_delivery(_with_run_end(one, runs), bots))
        return [_message(row, bots, before, shown[row.id]) for row in rows]

    async def build_one(self, tx: Tx, row: MessageRow) -> BotMessage:
        return (await self.build(tx, [row]))[0]


def recipient_of(row: MessageRow, bots: Mapping[str, Bot], before: Mapping[str, MessageRow]) -> Recipient:
    if row.channel is not None:
        return ChannelRecipient(name=row.channel)
    if row.recipient_bot_id is not None:
        return DirectRecipient(bot=_slug(bots, row.recipient_bot_id), bot_id=row.recipient_bot_id)
    answered = before.get(row.reply_to or "")
    return SenderRecipient(name=answered.sender.name if answered else "")


def _message(
    row: MessageRow,
    bots: Mapping[str, Bot],
    before: Mapping[str, MessageRow],
    deliveries: list[Delivery],
) -> BotMessage:
    return BotMessage(
        id=row.id,
        sender=row.sender,
        recipient=recipient_of(row, bots, before),
        message_type=row.message_type,
        body=row.body,
        reply_to=row.reply_to,
        conversation_id=row.conversation_id,
        depth=row.depth,
        created_at=row.created_at,
        deliveries=sorted(deliveries, key=lambda one: one.bot),
    )


def _delivery(row: DeliveryRow, bots: Mapping[str, Bot]) -> Delivery:
    return Delivery(
        bot=_slug(bots, row.bot_id),
        bot_id=row.bot_id,
        status=row.status,
        run_id=row.run_id,
        session_id=row.session_id,
        reply_id=row.reply_id,
        error=row.error,
        cost_micros=row.cost_micros,
        finished_at=row.finished_at,
    )


def _with_run_end(row: DeliveryRow, runs: Mapping[str, Run]) -> DeliveryRow:
    """Mark a delivery as failed if its run ended without finishing it."""
    if row.status.is_over:
        return row
    run = runs.get(row.run_id or "")
    if run is not None and not run.status.is_final:
        return row
    was_cancelled = run is not None and run.status is RunStatus.CANCELLED
    error = CANCELLED if was_cancelled else (run.error if run and run.error else LOST)
    finished_at = run.finished_at if run else None
    return replace(row, status=DeliveryStatus.FAILED, error=error, finished_at=finished_at)


def _slug(bots: Mapping[str, Bot], bot_id: str) -> str:
    """Return the slug of a bot, or its id if it was purged."""
    return bots[bot_id].slug if bot_id in bots else bot_id
