"""Sends messages: the message, its deliveries and the runs that bring them are one transaction of whoever sends."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from forge.bots.models import Bot
from forge.bots.service import Bots
from forge.errors import Invalid, NotFound
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.ids import derived_id, new_id
from forge.messages import store
from forge.messages.given import KIND, DeliveryInput
from forge.messages.guarding import LoopGuard
from forge.messages.models import PREVIEW, BotSender, DeliveryStatus, MessageSent, Sender, as_text
from forge.messages.store import DeliveryRow, MessageRow
from forge.messages.views import recipient_of
from forge.runs.journal import account_stream
from forge.runs.service import Runs
from forge.store.engine import Tx


@dataclass(frozen=True)
class Letter:
    """What is to be sent. The sender is known, not claimed."""

    sender: Sender
    body: JsonValue
    message_type: str
    to: Bot | None = None
    channel: str | None = None
    reply_to: str | None = None
    parent_run_id: str | None = None
    """A run the delivery ends with."""


@dataclass(frozen=True)
class Posted:
    message_id: str
    run_ids: list[str]
    """Of the deliveries."""


class Sending:
    def __init__(self, events: EventLog, runs: Runs, bots: Bots) -> None:
        self._events = events
        self._runs = runs
        self._bots = bots
        self._guard = LoopGuard(bots)

    async def post(self, tx: Tx, account_id: str, letter: Letter) -> Posted:
        before = await self._before(tx, account_id, letter)
        message_id = new_id()
        message = MessageRow(
            id=message_id,
            account_id=account_id,
            sender=letter.sender,
            sender_bot_id=letter.sender.bot_id if isinstance(letter.sender, BotSender) else None,
            recipient_bot_id=letter.to.id if letter.to else None,
            channel=letter.channel,
            message_type=letter.message_type,
            body=letter.body,
            reply_to=letter.reply_to,
            conversation_id=before.conversation_id if before else message_id,
            depth=before.depth + 1 if before else 0,
            created_at=now(),
        )
        recipients = await self._recipients(tx, message, letter)
        await self._guard.check(tx, message, recipients)
        await store.insert_message(tx, message)
        run_ids = await self.bring(tx, message, recipients, parent_run_id=letter.parent_run_id)
        await self.tell(tx, message)
        return Posted(message_id, run_ids)

    async def bring(
        self, tx: Tx, message: MessageRow, recipients: Sequence[Bot], *, parent_run_id: str | None = None
    ) -> list[str]:
        """A delivery for each of them, and the run that makes it."""
        run_ids: list[str] = []
        for bot in recipients:
            run_id = derived_id("delivery", message.id, bot.id)
            row = DeliveryRow(message.id, bot.id, DeliveryStatus.QUEUED, run_id)
            await store.insert_delivery(tx, row)
            given = DeliveryInput(
                message_id=message.id,
                bot_id=bot.id,
                title=f"{message.sender.name} to {bot.identity.display_name}: {message.message_type}",
            )
            await self._runs.start(
                tx,
                message.account_id,
                KIND,
                given.model_dump(),
                run_id=run_id,
                parent_id=parent_run_id,
            )
            run_ids.append(run_id)
        return run_ids

    async def tell(self, tx: Tx, message: MessageRow) -> None:
        ids = [message.recipient_bot_id] if message.recipient_bot_id else []
        before = await store.find_some(tx, [message.reply_to] if message.reply_to else [])
        fact = MessageSent(
            message_id=message.id,
            conversation_id=message.conversation_id,
            message_type=message.message_type,
            sender=message.sender,
            recipient=recipient_of(message, await self._bots.read(tx, ids), before),
            preview=as_text(message.body)[:PREVIEW],
        )
        self._events.append_last(tx, account_stream(message.account_id), fact)

    async def _before(self, tx: Tx, account_id: str, letter: Letter) -> MessageRow | None:
        if letter.reply_to is None:
            return None
        row = await store.find_message(tx, letter.reply_to)
        if row is None or row.account_id != account_id:
            raise NotFound(f"There is no message {letter.reply_to}.", field="reply_to")
        return row

    async def _recipients(self, tx: Tx, message: MessageRow, letter: Letter) -> list[Bot]:
        if letter.to is not None:
            if letter.to.id == message.sender_bot_id:
                raise Invalid("A bot cannot write to itself.", field="to")
            return [letter.to]
        channel = message.channel or ""
        await store.insert_channel(tx, message.account_id, channel, message.created_at)
        subscribed = await store.list_subscriptions(tx, message.account_id)
        ids = [bot_id for name, bot_id in subscribed if name == channel and bot_id != message.sender_bot_id]
        bots = await self._bots.read(tx, ids)
        return [bots[bot_id] for bot_id in ids if bot_id in bots and bots[bot_id].deleted_at is None]


def bot_sender(bot: Bot, *, spoken_by: str | None = None) -> BotSender:
    return BotSender(bot_id=bot.id, slug=bot.slug, name=bot.identity.display_name, spoken_by=spoken_by)
