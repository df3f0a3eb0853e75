"""Executor of message steps: sends a message to a bot or channel and optionally waits for the reply."""

from pydantic import JsonValue, ValidationError

from forge.errors import NotFound
from forge.kernel.validation import first_problem
from forge.messages.models import DeliveryStatus, NewMessage, Sent, WorkflowSender
from forge.messages.outbox import OutgoingMessage
from forge.messages.service import Messages
from forge.runs.models import Problem
from forge.store.database import Tx
from forge.workflows.definition.models import MessageConfig
from forge.workflows.engine.step_executor import StepCall, StepError, StepResult

NO_REPLY = Problem(code="no_reply", message="The bot received the message but did not reply.")


class MessageStepExecutor:
    def __init__(self, messages: Messages) -> None:
        self._messages = messages

    async def execute(self, call: StepCall, config: MessageConfig) -> StepResult:
        message = await self._compose(call, config)

        async def post(tx: Tx) -> JsonValue:
            posted = await self._messages.outbox.post(tx, call.account_id, message)
            return {"message_id": posted.message_id, "run_ids": list[JsonValue](posted.run_ids)}

        ticket = await call.begin(post)
        match ticket:
            case {"message_id": str(message_id), "run_ids": list(run_ids)}:
                pass
            case _:
                raise RuntimeError(f"unexpected ticket: {ticket!r}")
        if not config.wait:
            return StepResult({"type": "message", "message_id": message_id})
        for run_id in run_ids:
            await call.link(str(run_id))
        return _done(
            await self._messages.wait(call.account_id, message_id, None, lambda note: call.waits(note))
        )

    async def _compose(self, call: StepCall, config: MessageConfig) -> OutgoingMessage:
        sender = WorkflowSender(
            name=call.workflow_name,
            workflow_id=call.workflow_id,
            run_id=call.run_id,
            step=call.step_id,
        )
        parent_run_id = call.run_id if config.wait else None
        try:
            new = NewMessage.model_validate(config.model_dump(exclude={"type"}))
            return await self._messages.compose(call.account_id, new, sender, parent_run_id=parent_run_id)
        except NotFound as error:
            raise StepError("unknown_bot", f"There is no bot {config.to!r}.", hint=error.hint) from error
        except ValidationError as error:
            raise StepError("bad_message", str(first_problem(error))) from error


def _done(sent: Sent) -> StepResult:
    cost = sum(one.cost_micros for one in sent.message.deliveries)
    for delivery in sent.message.deliveries:
        if delivery.status is not DeliveryStatus.ANSWERED:
            raise StepError.of(delivery.error or NO_REPLY, cost_micros=cost)
    output: dict[str, JsonValue] = {
        "type": "message",
        "message_id": sent.message.id,
        "conversation_id": sent.message.conversation_id,
    }
    if sent.reply is not None:
        output |= {"reply": sent.reply.body, "reply_id": sent.reply.id, "bot": sent.reply.sender.name}
    return StepResult(output, cost)
