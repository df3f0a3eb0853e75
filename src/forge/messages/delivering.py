"""What it takes to bring one message to one bot: read it, ask the bot as anybody asks it, keep what it says."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from forge.bots.chat.asking import Answering, Asked, Asking, Readied
from forge.bots.chat.awaiting import Answers, Put, Waits
from forge.bots.chat.models import Origin
from forge.bots.models import Bot
from forge.bots.service import Bots
from forge.errors import NotFound
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.ids import derived_id
from forge.messages import store
from forge.messages.given import DeliveryInput
from forge.messages.letters import origin_of, reported, session_of, title_of, written
from forge.messages.models import (
    QUIET,
    REPLY,
    REPORTED,
    BotSender,
    DeliveryStatus,
    MessageAnswered,
)
from forge.messages.sending import Sending, bot_sender
from forge.messages.store import MessageRow
from forge.runs.attempt import StepInfo
from forge.runs.journal import account_stream
from forge.runs.models import Problem
from forge.store.engine import Store, Tx


class Opened(BaseModel):
    """A message that was read, and the bot it is for: everything that is needed to ask."""

    model_config = ConfigDict(frozen=True)

    readied: Readied
    text: str
    title: str
    session_id: str
    origin: Origin | None
    is_quiet: bool

    def asked(self, run_id: str) -> Asked:
        return Asked(
            self.text,
            session_id=self.session_id,
            opens=True,
            origin=self.origin,
            title=self.title,
            parent_run_id=run_id,
        )


class Ended(BaseModel):
    """What became of a delivery."""

    model_config = ConfigDict(frozen=True)

    status: DeliveryStatus
    text: str = ""
    error: Problem | None = None
    cost_micros: int = 0


class Delivering:
    def __init__(
        self,
        database: Store,
        events: EventLog,
        bots: Bots,
        asking: Asking,
        answers: Answers,
        sending: Sending,
    ) -> None:
        self._database = database
        self._events = events
        self._bots = bots
        self._asking = asking
        self._answers = answers
        self._sending = sending

    async def open(self, step: StepInfo, given: DeliveryInput) -> dict[str, Any]:
        async with self._database.read() as tx:
            message = await _message(tx, given)
            question = await store.find_message(tx, message.reply_to) if message.reply_to else None
        bot = await self._bots.find(step.account_id, given.bot_id)
        is_report = message.message_type == REPLY and question and question.sender_bot_id == bot.id
        return Opened(
            readied=await self._asking.ready(step.account_id, bot),
            text=reported(question, message) if is_report and question else written(message),
            title=title_of(message),
            session_id=session_of(message, bot.id),
            origin=origin_of(message),
            is_quiet=message.message_type in QUIET,
        ).model_dump(mode="json")

    async def ask(self, tx: Tx, run_id: str, given: DeliveryInput, opened: Opened) -> dict[str, Any]:
        """Where the question is; or which run writes in its conversation now."""
        try:
            put = Put.of(await self._asking.put(tx, opened.readied, opened.asked(run_id)))
        except Answering as busy:
            return {"busy": busy.run_id or ""}
        await self._arrived(tx, given, put.session_id)
        return {"put": put.model_dump()}

    async def note(self, tx: Tx, run_id: str, given: DeliveryInput, opened: Opened) -> dict[str, Any]:
        try:
            session_id = await self._asking.note(tx, opened.readied, opened.asked(run_id))
        except Answering as busy:
            return {"busy": busy.run_id or ""}
        await self._arrived(tx, given, session_id)
        return {}

    async def until_free(self, _: StepInfo, session_id: str, run_id: str) -> None:
        await self._answers.until_free(session_id, Answering(run_id))

    async def answer(self, step: StepInfo, readied: Readied, put: Put, waits: Waits) -> dict[str, Any]:
        answered = await self._answers.wait(readied, put, parent_run_id=step.run_id, waits=waits)
        problem = answered.problem
        return Ended(
            status=DeliveryStatus.FAILED if problem else DeliveryStatus.ANSWERED,
            text="" if problem else answered.last.text,
            error=problem,
            cost_micros=answered.cost_micros,
        ).model_dump(mode="json")

    async def end(self, tx: Tx, given: DeliveryInput, ended: Ended) -> None:
        """The reply and what became of the delivery; the bot that asked hears of it, if it wanted to."""
        message = await _message(tx, given)
        bot = (await self._bots.read(tx, [given.bot_id])).get(given.bot_id)
        reply = _reply(message, bot, ended) if bot and ended.status is DeliveryStatus.ANSWERED else None
        if reply is not None:
            await store.insert_message(tx, reply)
            await self._report(tx, message, reply)
            await self._sending.tell(tx, reply)
        await store.change_delivery(
            tx,
            message.id,
            given.bot_id,
            status=ended.status,
            reply_id=reply.id if reply else None,
            error=ended.error,
            cost_micros=ended.cost_micros,
            finished_at=now(),
        )
        fact = MessageAnswered(
            message_id=message.id,
            conversation_id=message.conversation_id,
            bot=bot.slug if bot else given.bot_id,
            status=ended.status,
            reply_id=reply.id if reply else None,
            error=ended.error,
        )
        self._events.append_last(tx, account_stream(message.account_id), fact)

    async def _arrived(self, tx: Tx, given: DeliveryInput, session_id: str) -> None:
        status = DeliveryStatus.DELIVERING
        await store.change_delivery(tx, given.message_id, given.bot_id, status=status, session_id=session_id)

    async def _report(self, tx: Tx, message: MessageRow, reply: MessageRow) -> None:
        sender = message.sender
        if not isinstance(sender, BotSender) or message.message_type not in REPORTED:
            return
        found = (await self._bots.read(tx, [sender.bot_id])).get(sender.bot_id)
        if found is not None and found.deleted_at is None:
            await self._sending.bring(tx, reply, [found])


def _reply(message: MessageRow, bot: Bot, ended: Ended) -> MessageRow:
    """In the channel of what it answers, or to its sender."""
    return MessageRow(
        id=derived_id("reply", message.id, bot.id),
        account_id=message.account_id,
        sender=bot_sender(bot),
        sender_bot_id=bot.id,
        recipient_bot_id=message.sender_bot_id if message.channel is None else None,
        channel=message.channel,
        message_type=REPLY,
        body=ended.text,
        reply_to=message.id,
        conversation_id=message.conversation_id,
        depth=message.depth + 1,
        created_at=now(),
    )


async def _message(tx: Tx, given: DeliveryInput) -> MessageRow:
    row = await store.find_message(tx, given.message_id)
    if row is None:
        raise NotFound("This message was deleted.")
    return row
