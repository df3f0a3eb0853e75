"""The door to models, used from inside a durable step.

It never repeats a request by itself: a fault is raised, and the step's retry policy decides. What it does is go
down the chain of a role's models, only when the provider is at fault, and never after somebody has seen a word of
the answer.
"""

from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from forge.llm.answers import answer_spec, answer_text, correction, problems_of, why_unusable
from forge.llm.breaker import Breaker
from forge.llm.catalog import Catalog, Target
from forge.llm.errors import AnswerUnusable, ModelFault
from forge.llm.listening import NOBODY, Listener, OnAnswer, OnDelta
from forge.llm.messages import AssistantMessage, StopReason
from forge.llm.models import Prompt, Reply, Role
from forge.llm.money import Money, Spender
from forge.llm.request import Request, Requests, WordsWereShown
from forge.telemetry import Metrics

T = TypeVar("T", bound=BaseModel)
MAX_PAUSES = 4
NOT_WORTH_REPAIRING = (StopReason.LENGTH, StopReason.REFUSED, StopReason.CONTEXT_FULL)


@dataclass(frozen=True)
class Answered(Generic[T]):
    """An answer of a given shape, who gave it and what it cost, its repair included."""

    value: T
    model: str
    """`provider:model`."""
    cost_micros: int


class Gateway:
    def __init__(
        self, catalog: Catalog, money: Money, metrics: Metrics, *, breaker: Breaker | None = None
    ) -> None:
        self.money = money
        self._catalog = catalog
        self._requests = Requests(catalog, money, metrics)
        self._breaker = breaker or Breaker()

    async def close(self) -> None:
        await self._requests.close()

    async def call(
        self,
        spender: Spender,
        role: Role,
        prompt: Prompt,
        *,
        model: str | None = None,
        on_delta: OnDelta | None = None,
    ) -> Reply:
        """The next message of a conversation, from the first model of the role's chain that can give it; or from
        `model`, and no other."""
        return await self._call(spender, role, prompt, model, Listener(on_delta))

    async def _call(
        self, spender: Spender, role: Role, prompt: Prompt, model: str | None, listener: Listener
    ) -> Reply:
        chain = await self._chain(spender, role, model)
        awake = [one for one in chain if not self._breaker.rests(_watched(spender, one))] or chain
        for target in awake[:-1]:
            try:
                return await self.call_model(spender, role, target, prompt, listener)
            except WordsWereShown:
                raise
            except ModelFault:
                continue  # in the books and known to the breaker; the next model may do better
        return await self.call_model(spender, role, awake[-1], prompt, listener)

    async def _chain(self, spender: Spender, role: Role, model: str | None) -> list[Target]:
        if model is not None:
            return [await self._catalog.target(spender.account_id, model)]
        return await self._catalog.chain(spender.account_id, spender.scope, role)

    async def call_model(
        self, spender: Spender, role: Role, target: Target, prompt: Prompt, listener: Listener = NOBODY
    ) -> Reply:
        """One model; called again while its provider only pauses."""
        watched = _watched(spender, target)
        try:
            reply = await self._whole_answer(Request(spender, role, target, fitted(prompt, target)), listener)
        except ModelFault as fault:
            self._breaker.failed(watched, fault.retry_after_s)
            raise
        self._breaker.worked(watched)
        return reply

    async def _whole_answer(self, request: Request, listener: Listener) -> Reply:
        reply = await self._requests.make(request, listener)
        for _ in range(MAX_PAUSES):
            if reply.stop is not StopReason.PAUSED:
                return reply
            so_far = [*request.prompt.messages, reply.message]
            longer = request.prompt.model_copy(update={"messages": so_far})
            try:
                more = await self._requests.make(replace(request, prompt=longer), listener)
            except ModelFault as fault:
                if listener.on_delta and reply.message.text:
                    raise WordsWereShown(fault.message, retry_after_s=fault.retry_after_s) from fault
                raise
            reply = _joined(reply, more)
        raise ModelFault("The model paused again and again without an answer.")

    async def ask(
        self, spender: Spender, role: Role, prompt: Prompt, answer: type[T], *, model: str | None = None
    ) -> T:
        """An answer of a given shape. What does not fit goes back once, with the errors only."""
        return (await self.ask_with_bill(spender, role, prompt, answer, model=model)).value

    async def ask_with_bill(
        self,
        spender: Spender,
        role: Role,
        prompt: Prompt,
        answer: type[T],
        *,
        model: str | None = None,
        on_answer: OnAnswer | None = None,
    ) -> Answered[T]:
        """As `ask`. The pieces `on_answer` gets are a foretaste: another model may still take over, or the answer be
        repaired."""
        asked = prompt.model_copy(update={"answer": answer_spec(answer)})
        listener = Listener(on_answer=on_answer)
        reply = await self._call(spender, role, asked, model, listener)
        try:
            return _answered(answer, reply, reply.cost_micros)
        except ValidationError as error:
            problems = problems_of(error)
        if reply.stop in NOT_WORTH_REPAIRING:
            raise AnswerUnusable(why_unusable(reply.stop, problems))
        told = [*asked.messages, reply.message, correction(reply, problems)]
        longer = asked.model_copy(update={"messages": told})
        again = await self._call(spender, role, longer, model, listener)
        try:
            return _answered(answer, again, reply.cost_micros + again.cost_micros)
        except ValidationError as error:
            raise AnswerUnusable(why_unusable(again.stop, problems_of(error))) from error


def _answered(answer: type[T], reply: Reply, cost_micros: int) -> Answered[T]:
    value = answer.model_validate_json(answer_text(reply))
    return Answered(value, f"{reply.provider}:{reply.model}", cost_micros)


def fitted(prompt: Prompt, target: Target) -> Prompt:
    """An answer may take a quarter of the model's window at most: the rest is for the conversation."""
    room = max(1, target.price.context_window // 4)
    return prompt if prompt.max_output <= room else prompt.model_copy(update={"max_output": room})


def _watched(spender: Spender, target: Target) -> str:
    """Each account has its own providers, addresses and keys: one's trouble is not another's."""
    return f"{spender.account_id}/{target.ref}"


def _joined(first: Reply, second: Reply) -> Reply:
    """What came before a pause and after it is one answer."""
    parts = [*first.message.parts, *second.message.parts]
    return second.model_copy(
        update={
            "message": AssistantMessage(parts=parts),
            "usage": first.usage + second.usage,
            "cost_micros": first.cost_micros + second.cost_micros,
        }
    )
