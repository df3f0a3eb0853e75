"""One request to one model: reserve its worst-case cost, stream the answer, settle the cost. No retries."""

import asyncio
import importlib
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.errors import ForgeError
from forge.kernel.clock import now
from forge.kernel.hashing import hash_text
from forge.llm.budgets import Budgets, CallEstimate, Spender
from forge.llm.catalog import Catalog, Target
from forge.llm.errors import ModelFault
from forge.llm.messages import (
    AssistantMessage,
    DeltaKind,
    StopReason,
    StreamListener,
    Text,
    Thinking,
    ToolCall,
)
from forge.llm.models import CallStatus, Prompt, Reply, Role, Usage
from forge.llm.prices import estimate_tokens
from forge.llm.repetition import without_repetition
from forge.llm.server_queue import ServerQueues
from forge.llm.store import Settlement
from forge.telemetry import Metrics

if TYPE_CHECKING:
    from forge.llm.adapter import Connections, Received

USUAL_BYTES_PER_TOKEN = 4
"""For the cost of a broken answer, whose usage the provider did not report."""


class PartialAnswerShown(ModelFault):
    """The answer broke off after a part of it was shown, so no other model may take over."""


@dataclass(frozen=True)
class Request:
    spender: Spender
    role: Role
    target: Target
    prompt: Prompt
    is_background: bool = False
    """Whether a person's request to the same server goes first."""

    def estimate(self, *, is_shared: bool) -> CallEstimate:
        """Estimate the worst-case cost from the size of the prompt and the longest answer."""
        text = self.prompt.model_dump_json()
        target = self.target
        worst = target.prices.worst_case_micros(
            target.provider,
            target.model,
            sent=estimate_tokens(len(text.encode())),
            max_output=self.prompt.max_output,
        )
        return CallEstimate(self.role, target.provider.name, target.model, hash_text(text), worst, is_shared)


class _AnswerTimer:
    """Forwards the answer to a listener and measures the time to the first token."""

    def __init__(self, listener: StreamListener) -> None:
        self._began = time.perf_counter()
        self._first: float | None = None
        self._listener = listener

    @property
    def listener(self) -> StreamListener:
        return StreamListener(self._forward, self._forward_answer)

    async def _forward(self, kind: DeltaKind, text: str) -> None:
        self._first = self._first or time.perf_counter()
        if self._listener.on_delta:
            await self._listener.on_delta(kind, text)

    async def _forward_answer(self, piece: str) -> None:
        self._first = self._first or time.perf_counter()
        if self._listener.on_answer:
            await self._listener.on_answer(piece)

    @property
    def first_ms(self) -> int | None:
        return None if self._first is None else round((self._first - self._began) * 1000)

    @property
    def whole_ms(self) -> int:
        return round((time.perf_counter() - self._began) * 1000)


class RequestSender:
    def __init__(self, catalog: Catalog, budgets: Budgets, metrics: Metrics) -> None:
        self._catalog = catalog
        self._budgets = budgets
        self._metrics = metrics
        self._connections: Connections | None = None
        self._queues = ServerQueues()

    async def close(self) -> None:
        if self._connections is not None:
            await self._connections.close()

    async def send(self, request: Request, listener: StreamListener) -> Reply:
        """Send the request as soon as its server accepts another one."""
        provider = request.target.provider
        return await self._queues.run(
            provider.base_url or provider.name,
            provider.parallel,
            lambda: self._send_now(request, listener),
            is_background=request.is_background,
        )

    async def _send_now(self, request: Request, listener: StreamListener) -> Reply:
        connections = await self._open()
        from forge.llm.adapter import ModelConnection, Received, receive

        target, spender = request.target, request.spender
        credential = await self._catalog.credential(target.provider, spender.account_id, spender.scope)
        key = credential.key
        model = connections.model(target.provider, target.model, key)
        call_id = await self._budgets.reserve(spender, request.estimate(is_shared=credential.is_shared))
        received, timer = Received(), _AnswerTimer(listener)
        try:
            if listener.on_answer:
                await listener.on_answer("")
            line = ModelConnection(model, target.provider, target.ref, key)
            await receive(line, request.prompt, received, timer.listener)
        except BaseException as error:
            await asyncio.shield(self._settle_failed(request, call_id, received, timer, error))
            if isinstance(error, ModelFault) and received.shown and listener.on_delta:
                raise PartialAnswerShown(error.message, retry_after_s=error.retry_after_s) from error
            raise
        return await asyncio.shield(self._settle(request, call_id, received, timer))

    async def _settle(
        self, request: Request, call_id: str, received: "Received", timer: _AnswerTimer
    ) -> Reply:
        target = request.target
        is_repetition = received.stop is StopReason.REPEATED
        # Stopped before the provider reported what it wrote.
        is_reported = received.usage.sent and not is_repetition
        usage = received.usage if is_reported else _estimated_usage(received, request.prompt)
        cost = target.prices.cost_micros(target.provider, target.model, usage)
        settlement = Settlement(
            CallStatus.SETTLED,
            usage,
            cost,
            now(),
            stop=received.stop,
            first_token_ms=timer.first_ms,
            latency_ms=timer.whole_ms,
        )
        await self._budgets.settle(request.spender, call_id, settlement)
        self._metrics.model_called(request.role.value, "ok", cost)
        return Reply(
            message=_without_repetition(received.message) if is_repetition else received.message,
            stop=received.stop or StopReason.END,
            usage=usage,
            provider=target.provider.name,
            model=target.model,
            cost_micros=cost,
            call_id=call_id,
            context_window=target.price.context_window,
            text_tool_calls=target.writes_text_tool_calls,
            first_token_ms=timer.first_ms,
            latency_ms=settlement.latency_ms or 0,
        )

    async def _settle_failed(
        self, request: Request, call_id: str, received: "Received", timer: _AnswerTimer, error: BaseException
    ) -> None:
        """Settle a failed call: the provider charges for what was sent before the failure."""
        target = request.target
        has_begun = received.began or received.usage.sent
        usage = _estimated_usage(received, request.prompt) if has_begun else Usage()
        cost = target.prices.cost_micros(target.provider, target.model, usage)
        code = error.code if isinstance(error, ForgeError) else type(error).__name__
        settlement = Settlement(
            CallStatus.FAILED,
            usage,
            cost,
            now(),
            stop=received.stop,
            first_token_ms=timer.first_ms,
            latency_ms=timer.whole_ms,
            error=code,
        )
        await self._budgets.settle(request.spender, call_id, settlement)
        self._metrics.model_called(request.role.value, code, cost)

    async def _open(self) -> "Connections":
        """Open connections. The clients take seconds to import, so import them at the first call and in a thread."""
        await asyncio.to_thread(importlib.import_module, "forge.llm.adapter")
        from forge.llm.adapter import Connections

        self._connections = self._connections or Connections()
        return self._connections


def _without_repetition(message: AssistantMessage) -> AssistantMessage:
    """Cut the last part, in which the model began to repeat itself."""
    *parts, last = message.parts
    match last:
        case ToolCall():
            last = last.model_copy(update={"arguments": without_repetition(last.arguments)})
        case Text() | Thinking():
            last = last.model_copy(update={"text": without_repetition(last.text)})
    return AssistantMessage(parts=[*parts, last])


def _estimated_usage(received: "Received", prompt: Prompt) -> Usage:
    """Estimate the usage of a broken stream from what was sent and received."""
    reported = received.usage
    written = sum(len(part.model_dump_json()) for part in received.parts)
    sent = reported.sent or math.ceil(len(prompt.model_dump_json()) / USUAL_BYTES_PER_TOKEN)
    return Usage(
        input=sent - reported.cache_read - reported.cache_write,
        output=max(reported.output, math.ceil(written / USUAL_BYTES_PER_TOKEN)),
        cache_read=reported.cache_read,
        cache_write=reported.cache_write,
    )
