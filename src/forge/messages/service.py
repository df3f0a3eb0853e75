"""Send messages, wait for replies, list messages, and manage channels."""

import asyncio

from forge.bots.chat.answers import Answers, OnWaiting, ignore_waiting
from forge.bots.management.service import Bots
from forge.errors import Conflict, Invalid, NotFound
from forge.kernel.clock import now
from forge.messages import store
from forge.messages.message_views import MessageViews
from forge.messages.models import (
    BotMessage,
    Channel,
    MessageQuery,
    NewMessage,
    PersonSender,
    Sender,
    Sent,
)
from forge.messages.outbox import Outbox, OutgoingMessage, bot_sender
from forge.messages.store import MessageFilter
from forge.store.database import Store, Tx
from forge.store.pagination import Cursor, Page, make_page


async def causing_run(tx: Tx, conversation_id: str) -> str | None:
    """Return the workflow run a conversation between bots goes back to, to detect trigger loops."""
    return await store.find_workflow_run(tx, conversation_id)


class Messages:
    def __init__(
        self, database: Store, bots: Bots, answers: Answers, outbox: Outbox, views: MessageViews
    ) -> None:
        self._database = database
        self._bots = bots
        self._answers = answers
        self._views = views
        self.outbox = outbox

    async def send(self, account_id: str, new: NewMessage, *, by: str) -> Sent:
        outgoing = await self.compose(account_id, new, await self._sender(account_id, new, by))
        async with self._database.begin() as tx:
            posted = await self.outbox.post(tx, account_id, outgoing)
        if new.wait:
            return await self.wait(account_id, posted.message_id, new.timeout_secs)
        return Sent(message=await self.get(account_id, posted.message_id))

    async def compose(
        self, account_id: str, new: NewMessage, sender: Sender, *, parent_run_id: str | None = None
    ) -> OutgoingMessage:
        """Validate a message before anything is written."""
        if (new.to is None) == (new.channel is None):
            raise Invalid("Set either `to` or `channel`.", field="to")
        if new.wait and new.to is None:
            raise Invalid(
                "`wait` requires `to`: only the reply of a single bot can be waited for.", field="wait"
            )
        return OutgoingMessage(
            sender=sender,
            body=new.body,
            message_type=new.message_type,
            to=await self._bots.find(account_id, new.to) if new.to else None,
            channel=new.channel,
            reply_to=new.reply_to,
            parent_run_id=parent_run_id,
        )

    async def wait(
        self, account_id: str, message_id: str, timeout_s: float | None, waits: OnWaiting = ignore_waiting
    ) -> Sent:
        """Wait for the reply until the timeout. An interrupted caller can wait again."""
        message = await self.get(account_id, message_id)
        try:
            async with asyncio.timeout(timeout_s):
                for delivery in message.deliveries:
                    if not delivery.status.is_over and delivery.run_id:
                        await self._answers.wait_until_ended(delivery.run_id, waits)
        except TimeoutError:
            return Sent(message=await self.get(account_id, message_id), is_late=True)
        message = await self.get(account_id, message_id)
        reply_id = next((one.reply_id for one in message.deliveries if one.reply_id), None)
        return Sent(message=message, reply=await self.get(account_id, reply_id) if reply_id else None)

    async def get(self, account_id: str, message_id: str) -> BotMessage:
        async with self._database.read() as tx:
            row = await store.find_message(tx, message_id)
            if row is None or row.account_id != account_id:
                raise NotFound(f"There is no message {message_id}.")
            return await self._views.build_one(tx, row)

    async def find(
        self, account_id: str, query: MessageQuery, *, cursor: Cursor | None, limit: int
    ) -> Page[BotMessage]:
        """List messages, newest first."""
        bot, other = query.bot, query.other
        if other is not None and bot is None:
            raise Invalid("`with` requires `bot`.", field="with")
        filters = MessageFilter(
            bot_id=(await self._bots.find(account_id, bot)).id if bot else None,
            other_id=(await self._bots.find(account_id, other)).id if other else None,
            channel=query.channel,
            conversation_id=query.conversation,
        )
        async with self._database.read() as tx:
            rows = await store.list_messages(tx, account_id, filters, cursor=cursor, limit=limit + 1)
            page = make_page(rows, limit, lambda row: Cursor(row.created_at, row.id))
            return Page(await self._views.build(tx, page.items), page.next_cursor)

    async def channels(self, account_id: str) -> list[Channel]:
        """List channels by name."""
        async with self._database.read() as tx:
            return await self._channels(tx, account_id)

    async def create_channel(self, account_id: str, name: str) -> Channel:
        async with self._database.begin() as tx:
            if not await store.insert_channel(tx, account_id, name, now()):
                raise Conflict(f"The channel {name} already exists.")
            return await self._channel(tx, account_id, name)

    async def delete_channel(self, account_id: str, name: str) -> None:
        """Delete a channel and its subscriptions. Its messages are kept."""
        async with self._database.begin() as tx:
            if not await store.delete_channel(tx, account_id, name):
                raise NotFound(f"There is no channel {name}.")

    async def subscribe(self, account_id: str, name: str, ref: str) -> Channel:
        """Subscribe a bot; creates the channel if necessary."""
        bot = await self._bots.find(account_id, ref)
        async with self._database.begin() as tx:
            await store.insert_channel(tx, account_id, name, now())
            await store.insert_subscription(tx, account_id, name, bot.id, now())
            return await self._channel(tx, account_id, name)

    async def unsubscribe(self, account_id: str, name: str, ref: str) -> Channel:
        bot = await self._bots.find(account_id, ref)
        async with self._database.begin() as tx:
            if not await store.delete_subscription(tx, account_id, name, bot.id):
                raise NotFound(f"{bot.slug} is not subscribed to {name}.")
            return await self._channel(tx, account_id, name)

    async def _sender(self, account_id: str, new: NewMessage, by: str) -> Sender:
        if new.speak_as is None:
            return PersonSender(name=by)
        return bot_sender(await self._bots.find(account_id, new.speak_as), spoken_by=by)

    async def _channels(self, tx: Tx, account_id: str) -> list[Channel]:
        subscriptions = await store.list_subscriptions(tx, account_id)
        bots = await self._bots.find_many(tx, {bot_id for _, bot_id in subscriptions})
        counts = await store.count_by_channel(tx, account_id)
        found: list[Channel] = []
        for name, created_at in await store.list_channels(tx, account_id):
            listening = [bots[one] for channel, one in subscriptions if channel == name and one in bots]
            messages, last_at = counts.get(name, (0, None))
            slugs = sorted(bot.slug for bot in listening if bot.deleted_at is None)
            found.append(
                Channel(name=name, bots=slugs, messages=messages, last_at=last_at, created_at=created_at)
            )
        return found

    async def _channel(self, tx: Tx, account_id: str, name: str) -> Channel:
        return next(one for one in await self._channels(tx, account_id) if one.name == name)
