"""The door to models, used from inside a durable step.

It never repeats a request by itself: a fault is raised, and the step's retry policy decides. What it does is go
down the chain of a role's models, only when the provider is at fault, and never after somebody has seen a word of
the answer.
"""

from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ValidationError

from forge.llm.answers import answer_spec, answer_text, correction, problems_of, why_unusable
from forge.llm.breaker import Breaker
from forge.llm.catalog import Catalog, Target
from forge.llm.errors import AnswerUnusable, ModelFault
from forge.llm.messages import AssistantMessage, StopReason
from forge.llm.models import Prompt, Reply, Role
from forge.llm.money import Money, Spender
from forge.llm.request import Request, Requests, WordsWereShown
from forge.telemetry import Metrics

if TYPE_CHECKING:
    from forge.llm.adapter import OnDelta

T = TypeVar("T", bound=BaseModel)
MOST_PAUSES = 4
NOT_WORTH_REPAIRING = (StopReason.LENGTH, StopReason.REFUSED, StopReason.CONTEXT_FULL)


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
        self, spender: Spender, role: Role, prompt: Prompt, *, on_delta: "OnDelta | None" = None
    ) -> Reply:
        """The next message of a conversation, from the first model of the role's chain that can give it."""
        chain = await self._catalog.chain(spender.account_id, spender.scope, role)
        awake = [target for target in chain if not self._breaker.rests(target.ref)] or chain
        for target in awake[:-1]:
            try:
                return await self.call_model(spender, role, target, prompt, on_delta=on_delta)
            except WordsWereShown:
                raise
            except ModelFault:
                continue  # in the books and known to the breaker; the next model may do better
        return await self.call_model(spender, role, awake[-1], prompt, on_delta=on_delta)

    async def call_model(
        self,
        spender: Spender,
        role: Role,
        target: Target,
        prompt: Prompt,
        *,
        on_delta: "OnDelta | None" = None,
    ) -> Reply:
        """One model; called again while its provider only pauses."""
        try:
            reply = await self._requests.make(Request(spender, role, target, prompt), on_delta)
            for _ in range(MOST_PAUSES):
                if reply.stop is not StopReason.PAUSED:
                    break
                longer = prompt.model_copy(update={"messages": [*prompt.messages, reply.message]})
                more = await self._requests.make(Request(spender, role, target, longer), on_delta)
                reply = _joined(reply, more)
        except ModelFault as fault:
            self._breaker.failed(target.ref, fault.retry_after_s)
            raise
        self._breaker.worked(target.ref)
        if reply.stop is StopReason.PAUSED:
            raise ModelFault("The model paused again and again without an answer.")
        return reply

    async def ask(self, spender: Spender, role: Role, prompt: Prompt, answer: type[T]) -> T:
        """An answer of a given shape. What does not fit goes back once, with the errors only."""
        asked = prompt.model_copy(update={"answer": answer_spec(answer)})
        reply = await self.call(spender, role, asked)
        try:
            return answer.model_validate_json(answer_text(reply))
        except ValidationError as error:
            problems = problems_of(error)
        if reply.stop in NOT_WORTH_REPAIRING:
            raise AnswerUnusable(why_unusable(reply.stop, problems))
        told = [*asked.messages, reply.message, correction(reply, problems)]
        again = await self.call(spender, role, asked.model_copy(update={"messages": told}))
        try:
            return answer.model_validate_json(answer_text(again))
        except ValidationError as error:
            raise AnswerUnusable(why_unusable(again.stop, problems_of(error))) from error


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
