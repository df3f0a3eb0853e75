"""The run kind `message` delivers a message to one bot.

Each part is a step or a transaction, so that a message is neither lost nor delivered twice if the process is killed.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from pydantic import BaseModel, ConfigDict

from forge.bots.chat.answers import Answers, OnWaiting, QuestionRef
from forge.bots.chat.models import Origin
from forge.bots.chat.questions import AnswerInProgress, NewQuestion, Questions, ReadyBot
from forge.bots.management.service import Bots
from forge.bots.models import Bot
from forge.errors import NotFound
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.ids import derived_id
from forge.messages import store
from forge.messages.message_text import format_message, format_reply, origin_of, session_id_of, title_of
from forge.messages.models import (
    QUIET,
    REPLY,
    REPORTED,
    BotSender,
    DeliveryStatus,
    MessageAnswered,
)
from forge.messages.outbox import KIND, DeliveryInput, Outbox, bot_sender
from forge.messages.store import MessageRow
from forge.runs.attempt import StepInfo
from forge.runs.context import RunContext, StepFailed
from forge.runs.journal import account_stream
from forge.runs.kinds import RunKind
from forge.runs.models import Problem
from forge.store.database import Store, Tx


class PreparedDelivery(BaseModel):
    """Everything needed to ask the bot; stored in the journal of the run."""

    model_config = ConfigDict(frozen=True)

    readied: ReadyBot
    text: str
    title: str
    session_id: str
    origin: Origin | None
    is_quiet: bool

    def question(self, run_id: str) -> NewQuestion:
        return NewQuestion(
            self.text,
            session_id=self.session_id,
            opens=True,
            origin=self.origin,
            title=self.title,
            parent_run_id=run_id,
        )


class DeliveryResult(BaseModel):
    """The result of a delivery; stored in the journal of the run."""

    model_config = ConfigDict(frozen=True)

    status: DeliveryStatus
    text: str = ""
    error: Problem | None = None
    cost_micros: int = 0


class DeliverySteps:
    def __init__(
        self,
        database: Store,
        events: EventLog,
        bots: Bots,
        questions: Questions,
        answers: Answers,
        outbox: Outbox,
    ) -> None:
        self._database = database
        self._events = events
        self._bots = bots
        self._questions = questions
        self._answers = answers
        self._outbox = outbox

    async def open(self, step: StepInfo, inputs: DeliveryInput) -> dict[str, Any]:
        async with self._database.read() as tx:
            message = await _message(tx, inputs)
            question = await store.find_message(tx, message.reply_to) if message.reply_to else None
        bot = await self._bots.find(step.account_id, inputs.bot_id)
        is_report = message.message_type == REPLY and question and question.sender_bot_id == bot.id
        return PreparedDelivery(
            readied=await self._questions.check_ready(step.account_id, bot),
            text=format_reply(question, message) if is_report and question else format_message(message),
            title=title_of(message),
            session_id=session_id_of(message, bot.id),
            origin=origin_of(message),
            is_quiet=message.message_type in QUIET,
        ).model_dump(mode="json")

    async def ask(
        self, tx: Tx, run_id: str, inputs: DeliveryInput, prepared: PreparedDelivery
    ) -> dict[str, Any]:
        """Ask the question and return its reference, or the run that is writing an answer in the conversation."""
        try:
            question = QuestionRef.of(
                await self._questions.ask(tx, prepared.readied, prepared.question(run_id))
            )
        except AnswerInProgress as busy:
            return {"busy": busy.run_id or ""}
        await self._mark_delivering(tx, inputs, question.session_id)
        return {"put": question.model_dump()}

    async def note(
        self, tx: Tx, run_id: str, inputs: DeliveryInput, prepared: PreparedDelivery
    ) -> dict[str, Any]:
        try:
            session_id = await self._questions.add_note(tx, prepared.readied, prepared.question(run_id))
        except AnswerInProgress as busy:
            return {"busy": busy.run_id or ""}
        await self._mark_delivering(tx, inputs, session_id)
        return {}

    async def wait_until_free(self, _: StepInfo, session_id: str, run_id: str) -> None:
        await self._answers.wait_until_free(session_id, AnswerInProgress(run_id))

    async def answer(
        self, step: StepInfo, readied: ReadyBot, question: QuestionRef, on_waiting: OnWaiting
    ) -> dict[str, Any]:
        answered = await self._answers.wait(
            readied, question, parent_run_id=step.run_id, on_waiting=on_waiting
        )
        problem = answered.problem
        return DeliveryResult(
            status=DeliveryStatus.FAILED if problem else DeliveryStatus.ANSWERED,
            text="" if problem else answered.last.text,
            error=problem,
            cost_micros=answered.cost_micros,
        ).model_dump(mode="json")

    async def end(self, tx: Tx, inputs: DeliveryInput, result: DeliveryResult) -> None:
        """Store the reply and the result, and deliver the reply to the bot that asked, if its message type requests that."""
        message = await _message(tx, inputs)
        bot = (await self._bots.find_many(tx, [inputs.bot_id])).get(inputs.bot_id)
        reply = _reply(message, bot, result) if bot and result.status is DeliveryStatus.ANSWERED else None
        if reply is not None:
            await store.insert_message(tx, reply)
            await self._deliver_reply(tx, message, reply)
            await self._outbox.publish_sent(tx, reply)
        await store.change_delivery(
            tx,
            message.id,
            inputs.bot_id,
            status=result.status,
            reply_id=reply.id if reply else None,
            error=result.error,
            cost_micros=result.cost_micros,
            finished_at=now(),
        )
        event = MessageAnswered(
            message_id=message.id,
            conversation_id=message.conversation_id,
            bot=bot.slug if bot else inputs.bot_id,
            status=result.status,
            reply_id=reply.id if reply else None,
            error=result.error,
        )
        self._events.append_last(tx, account_stream(message.account_id), event)

    async def _mark_delivering(self, tx: Tx, inputs: DeliveryInput, session_id: str) -> None:
        status = DeliveryStatus.DELIVERING
        await store.change_delivery(
            tx, inputs.message_id, inputs.bot_id, status=status, session_id=session_id
        )

    async def _deliver_reply(self, tx: Tx, message: MessageRow, reply: MessageRow) -> None:
        sender = message.sender
        if not isinstance(sender, BotSender) or message.message_type not in REPORTED:
            return
        found = (await self._bots.find_many(tx, [sender.bot_id])).get(sender.bot_id)
        if found is not None and found.deleted_at is None:
            await self._outbox.deliver(tx, reply, [found])


def _reply(message: MessageRow, bot: Bot, result: DeliveryResult) -> MessageRow:
    """Build the reply, in the channel of the message or to its sender."""
    return MessageRow(
        id=derived_id("reply", message.id, bot.id),
        account_id=message.account_id,
        sender=bot_sender(bot),
        sender_bot_id=bot.id,
        recipient_bot_id=message.sender_bot_id if message.channel is None else None,
        channel=message.channel,
        message_type=REPLY,
        body=result.text,
        reply_to=message.id,
        conversation_id=message.conversation_id,
        depth=message.depth + 1,
        created_at=now(),
    )


async def _message(tx: Tx, inputs: DeliveryInput) -> MessageRow:
    row = await store.find_message(tx, inputs.message_id)
    if row is None:
        raise NotFound("The message was deleted.")
    return row


class DeliveryRun:
    def __init__(self) -> None:
        self._steps = asyncio.get_running_loop().create_future()
        """Resumed runs start before the services exist and wait for them."""

    def kind(self) -> RunKind[DeliveryInput]:
        return RunKind(KIND, DeliveryInput, self.run, title=lambda inputs: inputs.title)

    def open(self, steps: DeliverySteps) -> None:
        self._steps.set_result(steps)

    async def run(self, context: RunContext, inputs: DeliveryInput) -> dict[str, Any]:
        steps: DeliverySteps = await asyncio.shield(self._steps)
        try:
            result = await self._deliver(context, steps, inputs)
        except StepFailed as failed:
            result = DeliveryResult(status=DeliveryStatus.FAILED, error=failed.problem)
        await context.transact("delivered", lambda tx: steps.end(tx, inputs, result))
        return {"status": result.status.value}

    async def _deliver(
        self, context: RunContext, steps: DeliverySteps, inputs: DeliveryInput
    ) -> DeliveryResult:
        prepared = PreparedDelivery.model_validate(await context.step("open", steps.open, inputs))
        outcome = await self._ask(context, steps, inputs, prepared)
        while "busy" in outcome:
            await context.step("wait", steps.wait_until_free, prepared.session_id, outcome["busy"])
            outcome = await self._ask(context, steps, inputs, prepared)
        if prepared.is_quiet:
            return DeliveryResult(status=DeliveryStatus.SILENT)
        question = QuestionRef.model_validate(outcome["put"])
        on_waiting = partial(_waiting, context)
        answered = await context.step("answer", steps.answer, prepared.readied, question, on_waiting)
        return DeliveryResult.model_validate(answered)

    async def _ask(
        self, context: RunContext, steps: DeliverySteps, inputs: DeliveryInput, prepared: PreparedDelivery
    ) -> dict[str, Any]:
        question = steps.note if prepared.is_quiet else steps.ask

        async def once(tx: Tx) -> dict[str, Any]:
            return await question(tx, context.run_id, inputs, prepared)

        return await context.transact("note" if prepared.is_quiet else "ask", once)


@asynccontextmanager
async def _waiting(context: RunContext, _: str) -> AsyncGenerator[None]:
    """Mark the run as waiting while the bot waits for a person."""
    await context.mark_waiting()
    try:
        yield
    finally:
        await context.mark_running()
