"""The gateway to models, used within a durable step.

It never repeats a request: a fault is raised, and the retry policy of the step decides. It does fall back to the next
model of a role's chain, but only when the provider failed, and never after a part of the answer was shown.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from forge.kernel.validation import validation_problems
from forge.llm.budgets import Budgets, Spender
from forge.llm.catalog import Catalog, Target
from forge.llm.errors import AnswerUnusable, ContextFull, ModelFault, ModelRejected
from forge.llm.messages import (
    NO_LISTENER,
    AssistantMessage,
    OnAnswer,
    OnDelta,
    StopReason,
    StreamListener,
    ToolCall,
    UserMessage,
    user_message,
)
from forge.llm.models import Prompt, Reply, Role, ToolSpec
from forge.llm.request import PartialAnswerShown, Request, RequestSender
from forge.telemetry import Metrics

MAX_FAULTS = 3
"""Consecutive faults."""
PAUSE_S = 30.0


@dataclass
class _State:
    faults: int = 0
    paused_until: float = 0.0


class CircuitBreaker:
    def __init__(self) -> None:
        self._states: dict[str, _State] = {}

    def is_open(self, target: str) -> bool:
        """Return whether to skip the target for now. After the pause the next call decides."""
        state = self._states.get(target)
        return state is not None and time.monotonic() < state.paused_until

    def failed(self, target: str, retry_after_s: float | None = None) -> None:
        state = self._states.setdefault(target, _State())
        state.faults += 1
        if state.faults >= MAX_FAULTS or (retry_after_s or 0) > PAUSE_S:
            state.paused_until = time.monotonic() + max(PAUSE_S, min(retry_after_s or 0, 600.0))

    def worked(self, target: str) -> None:
        self._states.pop(target, None)


ANSWER = "answer"
MAX_PROBLEMS = 20


def answer_spec(answer: type[BaseModel]) -> ToolSpec:
    description = (answer.__doc__ or "The answer.").strip()
    return ToolSpec(name=ANSWER, description=description, parameters=answer.model_json_schema())


def answer_text(reply: Reply) -> str:
    """Return the JSON of the answer: the arguments of the answer tool, or the text of a model that follows a schema."""
    calls = [call for call in reply.message.tool_calls if call.name == ANSWER]
    return calls[-1].arguments if calls else reply.message.text


def problems_of(error: ValidationError) -> list[str]:
    found = validation_problems(error)
    lines = [f"{_location(problem.path)}: {problem.message}" for problem in found[:MAX_PROBLEMS]]
    remaining = len(found) - MAX_PROBLEMS
    return [*lines, f"and {remaining} more"] if remaining > 0 else lines


def correction(problems: list[str], example: BaseModel | None) -> UserMessage:
    """Build the message that asks for the answer again. It leaves the invalid answer out, which a weak model copies."""
    text = "An earlier answer did not match the schema:\n" + "\n".join(f"- {line}" for line in problems)
    if example is not None:
        filled = example.model_dump_json(exclude_defaults=True)
        text += f"\n\nA complete answer looks like this; replace its content with your own:\n{filled}"
    return user_message(f"{text}\n\nGive the complete answer, without these problems.")


def why_unusable(stop: StopReason, problems: list[str]) -> str:
    match stop:
        case StopReason.REFUSED:
            return "The model refused to answer."
        case StopReason.LENGTH:
            return "The model's answer exceeded the length limit and was cut off."
        case StopReason.REPEATED:
            return "The model repeated itself, so its answer was stopped."
        case StopReason.CONTEXT_FULL:
            return "The model's context window had no room for the answer."
        case _:
            return "The model's answer does not match the schema: " + "; ".join(problems[:5])


def _location(location: tuple[Any, ...]) -> str:
    return ".".join(str(part) for part in location) or "the answer"


T = TypeVar("T", bound=BaseModel)
MAX_PAUSES = 4
REPAIR_TEMPERATURE = 1.0
"""Higher than the first attempt, so that the same model does not give the same answer; the maximum of Anthropic."""
OUTPUT_SHARE = 4
"""The longest answer is this part of the context window."""
MIN_OUTPUT = 128
"""Tokens that must be left for the answer."""
CHARACTERS_PER_TOKEN = 4
"""Hardly any text has more, so a prompt is not rejected by mistake."""
DENSE_BYTES_PER_TOKEN = 3
"""As in code and JSON, for an upper bound of the tokens."""
NOT_CORRECTABLE = (
    StopReason.LENGTH,
    StopReason.REPEATED,
    StopReason.REFUSED,
    StopReason.CONTEXT_FULL,
)


@dataclass(frozen=True)
class StructuredAnswer(Generic[T]):
    """A structured answer with its model and cost, including a correction."""

    value: T
    model: str
    """`provider:model`."""
    cost_micros: int


class Gateway:
    def __init__(
        self, catalog: Catalog, budgets: Budgets, metrics: Metrics, *, breaker: CircuitBreaker | None = None
    ) -> None:
        self.budgets = budgets
        self._catalog = catalog
        self._requests = RequestSender(catalog, budgets, metrics)
        self._breaker = breaker or CircuitBreaker()

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
        is_background: bool = False,
    ) -> Reply:
        """Return the next message of a conversation, from the first available model of the role's chain, or from `model`.

        `is_background`: no person waits for it, so it yields to others at a server with limited concurrency.
        """
        return await self._call(spender, role, prompt, model, StreamListener(on_delta), is_background)

    async def _call(
        self,
        spender: Spender,
        role: Role,
        prompt: Prompt,
        model: str | None,
        listener: StreamListener,
        is_background: bool = False,
    ) -> Reply:
        chain = await self._chain(spender, role, model)
        available = [
            target for target in chain if not self._breaker.is_open(_breaker_key(spender, target))
        ] or chain
        for target in available[:-1]:
            try:
                return await self.call_model(spender, role, target, prompt, listener, is_background)
            except PartialAnswerShown:
                raise
            except ModelFault:
                continue  # recorded in the ledgers and the circuit breaker; try the next model
        return await self.call_model(spender, role, available[-1], prompt, listener, is_background)

    async def context_window(self, account_id: str, scope: str, role: Role, model: str | None = None) -> int:
        """Return the context window of the model that is tried first."""
        chain = await self._chain(Spender(account_id, "", scope=scope), role, model)
        return chain[0].price.context_window

    async def _chain(self, spender: Spender, role: Role, model: str | None) -> list[Target]:
        if model is not None:
            return [await self._catalog.target(spender.account_id, model)]
        return await self._catalog.chain(spender.account_id, spender.scope, role)

    async def call_model(
        self,
        spender: Spender,
        role: Role,
        target: Target,
        prompt: Prompt,
        listener: StreamListener = NO_LISTENER,
        is_background: bool = False,
    ) -> Reply:
        """Call the target model; continue while its provider pauses."""
        breaker_key = _breaker_key(spender, target)
        request = Request(spender, role, target, fitted(prompt, target), is_background)
        try:
            reply = await self._accepted_answer(request, listener)
        except ModelFault as fault:
            self._breaker.failed(breaker_key, fault.retry_after_s)
            raise
        self._breaker.worked(breaker_key)
        return reply

    async def _accepted_answer(self, request: Request, listener: StreamListener) -> Reply:
        """Change a request that the provider rejects for a reason that a change removes, and send it again."""
        prompt = request.prompt
        try:
            return await self._whole_answer(request, listener)
        except ContextFull as full:
            # The estimate was too low. A server that counts the requested output rejects what leaves too little room.
            room = (full.window or 0) - (full.sent or 0)
            if full.sent is None or not MIN_OUTPUT <= room < prompt.max_output:
                raise
            changes: dict[str, Any] = {"max_output": room}
        except ModelRejected:
            if not prompt.continues:
                raise
            changes = {"continues": False}  # it cannot continue a message, such as while thinking is enabled
        changed = replace(request, prompt=prompt.model_copy(update=changes))
        return await self._whole_answer(changed, listener)

    async def _whole_answer(self, request: Request, listener: StreamListener) -> Reply:
        reply = await self._requests.send(request, listener)
        for _ in range(MAX_PAUSES):
            if reply.stop is not StopReason.PAUSED:
                return reply
            so_far = [*request.prompt.messages, reply.message]
            longer = request.prompt.model_copy(update={"messages": so_far})
            try:
                more = await self._requests.send(replace(request, prompt=longer), listener)
            except ModelFault as fault:
                if listener.on_delta and reply.message.text:
                    raise PartialAnswerShown(fault.message, retry_after_s=fault.retry_after_s) from fault
                raise
            reply = _joined(reply, more)
        raise ModelFault("The model paused repeatedly without answering.")

    async def ask(
        self,
        spender: Spender,
        role: Role,
        prompt: Prompt,
        answer: type[T],
        *,
        model: str | None = None,
        example: T | None = None,
        is_background: bool = False,
    ) -> T:
        """Return a structured answer. After an invalid one the model is asked once more, with its problems and the
        example."""
        answered = await self.ask_with_cost(
            spender, role, prompt, answer, model=model, example=example, is_background=is_background
        )
        return answered.value

    async def ask_with_cost(  # noqa: PLR0913
        self,
        spender: Spender,
        role: Role,
        prompt: Prompt,
        answer: type[T],
        *,
        model: str | None = None,
        example: T | None = None,
        on_answer: OnAnswer | None = None,
        is_background: bool = False,
    ) -> StructuredAnswer[T]:
        """Like `ask`, with model and cost. The pieces passed to `on_answer` are preliminary: another model may take over, or
        the answer may be corrected."""
        structured = prompt.model_copy(update={"answer": answer_spec(answer)})
        listener = StreamListener(on_answer=on_answer)
        reply = await self._call(spender, role, structured, model, listener, is_background)
        try:
            return _answered(answer, reply, reply.cost_micros)
        except ValidationError as error:
            problems = problems_of(error)
        if reply.stop in NOT_CORRECTABLE:
            raise AnswerUnusable(why_unusable(reply.stop, problems))
        messages = [*structured.messages, correction(problems, example)]
        repair = structured.model_copy(update={"messages": messages, "temperature": REPAIR_TEMPERATURE})
        corrected = await self._call(spender, role, repair, model, listener, is_background)
        try:
            return _answered(answer, corrected, reply.cost_micros + corrected.cost_micros)
        except ValidationError as error:
            raise AnswerUnusable(why_unusable(corrected.stop, problems_of(error))) from error


def _answered(answer: type[T], reply: Reply, cost_micros: int) -> StructuredAnswer[T]:
    value = answer.model_validate_json(answer_text(reply))
    return StructuredAnswer(value, f"{reply.provider}:{reply.model}", cost_micros)


def fitted(prompt: Prompt, target: Target) -> Prompt:
    """Limit the answer to a quarter of the model's context window, and to what the prompt leaves of it.

    Raise `ContextFull` if the prompt alone exceeds the window: some servers drop its beginning without an error.
    """
    window, texts = target.price.context_window, list(_texts(prompt))
    likely = sum(map(len, texts)) // CHARACTERS_PER_TOKEN
    if likely + MIN_OUTPUT > window:
        raise ContextFull(target.ref, sent=likely, window=window, is_estimate=True)
    at_most = sum(len(text.encode()) for text in texts) // DENSE_BYTES_PER_TOKEN
    most = min(window // OUTPUT_SHARE, max(MIN_OUTPUT, window - at_most))
    return prompt if prompt.max_output <= most else prompt.model_copy(update={"max_output": most})


def _texts(prompt: Prompt) -> Iterator[str]:
    """Yield all text that is sent."""
    yield prompt.system
    for spec in (*prompt.tools, *([prompt.answer] if prompt.answer else [])):
        yield spec.model_dump_json()
    for message in prompt.messages:
        for part in message.parts:
            yield part.arguments if isinstance(part, ToolCall) else part.text


def _breaker_key(spender: Spender, target: Target) -> str:
    """Return the key for the circuit breaker: providers, addresses and keys belong to an account."""
    return f"{spender.account_id}/{target.ref}"


def _joined(first: Reply, second: Reply) -> Reply:
    """Join the parts before and after a pause into one answer."""
    parts = [*first.message.parts, *second.message.parts]
    return second.model_copy(
        update={
            "message": AssistantMessage(parts=parts),
            "usage": first.usage + second.usage,
            "cost_micros": first.cost_micros + second.cost_micros,
        }
    )
