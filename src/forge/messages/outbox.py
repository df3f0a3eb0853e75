"""Send messages: store a message, its deliveries and their runs in the transaction of the sender."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from pydantic import BaseModel, ConfigDict, JsonValue

from forge.bots.management.service import Bots
from forge.bots.models import Bot
from forge.errors import Invalid, NotFound, TooMany
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.ids import derived_id, new_id
from forge.messages import store
from forge.messages.message_views import recipient_of
from forge.messages.models import PREVIEW, BotSender, DeliveryStatus, MessageSent, Sender, as_text
from forge.messages.store import DeliveryRow, MessageRow
from forge.runs.journal import account_stream
from forge.runs.service import Runs
from forge.store.database import Tx

MAX_DEPTH = 5
MAX_MESSAGES = 10
WINDOW = timedelta(seconds=60)


class LoopGuard:
    def __init__(self, bots: Bots) -> None:
        self._bots = bots

    async def check(self, tx: Tx, message: MessageRow, recipients: Sequence[Bot]) -> None:
        """Check the limits in the sending transaction, so that concurrent messages count each other."""
        if message.depth > MAX_DEPTH:
            raise TooMany(
                f"This conversation is {MAX_DEPTH} replies deep, which is the limit.",
                retry_after_s=0,
                hint="Start a new conversation: send the message without reply_to.",
            )
        if message.sender_bot_id is None or not recipients:
            return
        await self._bots.lock(tx, message.sender_bot_id)
        ids = [bot.id for bot in recipients]
        at = now()  # later messages were sent before the clock was set back
        counts = await store.count_between(tx, message.sender_bot_id, ids, at - WINDOW, at)
        for bot in recipients:
            if counts.get(bot.id, 0) >= MAX_MESSAGES:
                raise TooMany(
                    f"{message.sender.name} has sent {MAX_MESSAGES} messages to {bot.slug} within "
                    f"{WINDOW.seconds} s.",
                    retry_after_s=WINDOW.seconds,
                    hint="The bots may be answering each other in a loop. Wait a minute, or disable one of them.",
                )


KIND = "message"


class DeliveryInput(BaseModel):
    model_config = ConfigDict(frozen=True)

    message_id: str
    bot_id: str
    title: str


@dataclass(frozen=True)
class OutgoingMessage:
    """A message to send. The sender is authenticated."""

    sender: Sender
    body: JsonValue
    message_type: str
    to: Bot | None = None
    channel: str | None = None
    reply_to: str | None = None
    parent_run_id: str | None = None
    """Run whose end also ends the deliveries."""


@dataclass(frozen=True)
class PostedMessage:
    message_id: str
    run_ids: list[str]
    """Runs of the deliveries."""


class Outbox:
    def __init__(self, events: EventLog, runs: Runs, bots: Bots) -> None:
        self._events = events
        self._runs = runs
        self._bots = bots
        self._guard = LoopGuard(bots)

    async def post(self, tx: Tx, account_id: str, outgoing: OutgoingMessage) -> PostedMessage:
        """Store a message and start its deliveries, in the transaction of the caller."""
        replied_to = await self._find_replied_to(tx, account_id, outgoing)
        message_id = new_id()
        message = MessageRow(
            id=message_id,
            account_id=account_id,
            sender=outgoing.sender,
            sender_bot_id=outgoing.sender.bot_id if isinstance(outgoing.sender, BotSender) else None,
            recipient_bot_id=outgoing.to.id if outgoing.to else None,
            channel=outgoing.channel,
            message_type=outgoing.message_type,
            body=outgoing.body,
            reply_to=outgoing.reply_to,
            conversation_id=replied_to.conversation_id if replied_to else message_id,
            depth=replied_to.depth + 1 if replied_to else 0,
            created_at=now(),
        )
        recipients = await self._recipients(tx, message, outgoing)
        await self._guard.check(tx, message, recipients)
        await store.insert_message(tx, message)
        run_ids = await self.deliver(tx, message, recipients, parent_run_id=outgoing.parent_run_id)
        await self.publish_sent(tx, message)
        return PostedMessage(message_id, run_ids)

    async def deliver(
        self, tx: Tx, message: MessageRow, recipients: Sequence[Bot], *, parent_run_id: str | None = None
    ) -> list[str]:
        """Create a delivery and its run for each recipient, and return the run ids."""
        run_ids: list[str] = []
        for bot in recipients:
            run_id = derived_id("delivery", message.id, bot.id)
            row = DeliveryRow(message.id, bot.id, DeliveryStatus.QUEUED, run_id)
            await store.insert_delivery(tx, row)
            inputs = DeliveryInput(
                message_id=message.id,
                bot_id=bot.id,
                title=f"{message.sender.name} to {bot.identity.display_name}: {message.message_type}",
            )
            await self._runs.start(
                tx,
                message.account_id,
                KIND,
                inputs.model_dump(),
                run_id=run_id,
                parent_id=parent_run_id,
            )
            run_ids.append(run_id)
        return run_ids

    async def publish_sent(self, tx: Tx, message: MessageRow) -> None:
        ids = [message.recipient_bot_id] if message.recipient_bot_id else []
        before = await store.find_some(tx, [message.reply_to] if message.reply_to else [])
        event = MessageSent(
            message_id=message.id,
            conversation_id=message.conversation_id,
            message_type=message.message_type,
            sender=message.sender,
            recipient=recipient_of(message, await self._bots.find_many(tx, ids), before),
            preview=as_text(message.body)[:PREVIEW],
        )
        self._events.append_last(tx, account_stream(message.account_id), event)

    async def _find_replied_to(self, tx: Tx, account_id: str, outgoing: OutgoingMessage) -> MessageRow | None:
        if outgoing.reply_to is None:
            return None
        row = await store.find_message(tx, outgoing.reply_to)
        if row is None or row.account_id != account_id:
            raise NotFound(f"There is no message {outgoing.reply_to}.", field="reply_to")
        return row

    async def _recipients(self, tx: Tx, message: MessageRow, outgoing: OutgoingMessage) -> list[Bot]:
        if outgoing.to is not None:
            if outgoing.to.id == message.sender_bot_id:
                raise Invalid("A bot cannot send a message to itself.", field="to")
            return [outgoing.to]
        channel = message.channel or ""
        await store.insert_channel(tx, message.account_id, channel, message.created_at)
        subscribed = await store.list_subscriptions(tx, message.account_id)
        ids = [bot_id for name, bot_id in subscribed if name == channel and bot_id != message.sender_bot_id]
        bots = await self._bots.find_many(tx, ids)
        return [bots[bot_id] for bot_id in ids if bot_id in bots and bots[bot_id].deleted_at is None]


def bot_sender(bot: Bot, *, spoken_by: str | None = None) -> BotSender:
    return BotSender(bot_id=bot.id, slug=bot.slug, name=bot.identity.display_name, spoken_by=spoken_by)
