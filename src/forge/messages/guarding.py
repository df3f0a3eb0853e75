"""Keeps bots from talking to each other for ever: how deep one message may answer another, and how many one bot may send
to another in a minute."""

from collections.abc import Sequence
from datetime import timedelta

from forge.bots.models import Bot
from forge.bots.service import Bots
from forge.errors import TooMany
from forge.kernel.clock import now
from forge.messages import store
from forge.messages.store import MessageRow
from forge.store.engine import Tx

MAX_DEPTH = 5
MAX_MESSAGES = 10
WINDOW = timedelta(seconds=60)


class LoopGuard:
    def __init__(self, bots: Bots) -> None:
        self._bots = bots

    async def check(self, tx: Tx, message: MessageRow, recipients: Sequence[Bot]) -> None:
        """In the transaction that sends: of two that send at once, the second one counts the first."""
        if message.depth > MAX_DEPTH:
            raise TooMany(
                f"This conversation goes {MAX_DEPTH} messages deep already, one answering the other.",
                retry_after_s=0,
                hint="Begin a new one: send it without reply_to.",
            )
        if message.sender_bot_id is None or not recipients:
            return
        await self._bots.hold(tx, message.sender_bot_id)
        ids = [bot.id for bot in recipients]
        at = now()  # what is from later was sent before the clock was set back
        counts = await store.count_between(tx, message.sender_bot_id, ids, at - WINDOW, at)
        for bot in recipients:
            if counts.get(bot.id, 0) >= MAX_MESSAGES:
                raise TooMany(
                    f"{message.sender.name} has sent {MAX_MESSAGES} messages to {bot.slug} within "
                    f"{WINDOW.seconds} s.",
                    retry_after_s=WINDOW.seconds,
                    hint="Two bots that keep answering each other look like this. Wait a minute, or stop one of them.",
                )
