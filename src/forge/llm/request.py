"""One request to one model: reserve its worst case, stream the answer, settle the bill. Never repeated here."""

import asyncio
import importlib
import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from forge.errors import ForgeError
from forge.kernel.clock import now
from forge.kernel.hashing import hash_text
from forge.llm.catalog import Catalog, Target
from forge.llm.errors import ModelFault
from forge.llm.listening import DeltaKind, Listener
from forge.llm.messages import StopReason
from forge.llm.models import CallStatus, Prompt, Reply, Role, Usage
from forge.llm.money import Money, Order, Spender
from forge.llm.pricing import estimate_tokens
from forge.llm.store import Settlement
from forge.telemetry import Metrics

if TYPE_CHECKING:
    from forge.llm.adapter import Connections, Received

USUAL_BYTES_PER_TOKEN = 4
"""For the bill of an answer that was cut off, where the provider no longer says how much it was."""


class WordsWereShown(ModelFault):
    """The answer broke off after somebody had seen a part of it: another model must not finish the sentence."""


@dataclass(frozen=True)
class Request:
    spender: Spender
    role: Role
    target: Target
    prompt: Prompt

    def order(self) -> Order:
        """What it may cost at most, from the size of what is sent and the longest answer."""
        text = self.prompt.model_dump_json()
        target = self.target
        worst = target.book.worst_case_micros(
            target.provider,
            target.model,
            sent=estimate_tokens(len(text.encode())),
            max_output=self.prompt.max_output,
        )
        return Order(self.role, target.provider.name, target.model, hash_text(text), worst)


class _Clock:
    """Passes an answer on as it comes, and notes when it began."""

    def __init__(self, listener: Listener) -> None:
        self._began = time.perf_counter()
        self._first: float | None = None
        self._listener = listener

    @property
    def listener(self) -> Listener:
        return Listener(self._pass_on, self._pass_on_answer)

    async def _pass_on(self, kind: DeltaKind, text: str) -> None:
        self._first = self._first or time.perf_counter()
        if self._listener.on_delta:
            await self._listener.on_delta(kind, text)

    async def _pass_on_answer(self, piece: str) -> None:
        self._first = self._first or time.perf_counter()
        if self._listener.on_answer:
            await self._listener.on_answer(piece)

    @property
    def first_ms(self) -> int | None:
        return None if self._first is None else round((self._first - self._began) * 1000)

    @property
    def whole_ms(self) -> int:
        return round((time.perf_counter() - self._began) * 1000)


class Requests:
    def __init__(self, catalog: Catalog, money: Money, metrics: Metrics) -> None:
        self._catalog = catalog
        self._money = money
        self._metrics = metrics
        self._connections: Connections | None = None

    async def close(self) -> None:
        if self._connections is not None:
            await self._connections.close()

    async def make(self, request: Request, listener: Listener) -> Reply:
        connections = await self._open()
        from forge.llm.adapter import Line, Received, receive

        target, spender = request.target, request.spender
        key = await self._catalog.key(target, spender.account_id, spender.scope)
        model = connections.model(target.provider, target.model, key)
        call_id = await self._money.reserve(spender, request.order())
        received, clock = Received(), _Clock(listener)
        try:
            if listener.on_answer:
                await listener.on_answer("")
            await receive(Line(model, target.provider.kind, key), request.prompt, received, clock.listener)
        except BaseException as error:
            await asyncio.shield(self._settle_failed(request, call_id, received, clock, error))
            if isinstance(error, ModelFault) and received.shown and listener.on_delta:
                raise WordsWereShown(error.message, retry_after_s=error.retry_after_s) from error
            raise
        return await asyncio.shield(self._settle(request, call_id, received, clock))

    async def _settle(self, request: Request, call_id: str, received: "Received", clock: _Clock) -> Reply:
        target = request.target
        usage = received.usage if received.usage.sent else _billed(received, request.prompt)
        cost = target.book.cost_micros(target.provider, target.model, usage)
        settlement = Settlement(
            CallStatus.SETTLED,
            usage,
            cost,
            now(),
            stop=received.stop,
            first_token_ms=clock.first_ms,
            latency_ms=clock.whole_ms,
        )
        await self._money.settle(request.spender, call_id, settlement)
        self._metrics.model_called(request.role.value, "ok", cost)
        return Reply(
            message=received.message,
            stop=received.stop or StopReason.END,
            usage=usage,
            provider=target.provider.name,
            model=target.model,
            cost_micros=cost,
            call_id=call_id,
            context_window=target.price.context_window,
            first_token_ms=clock.first_ms,
            latency_ms=settlement.latency_ms or 0,
        )

    async def _settle_failed(
        self, request: Request, call_id: str, received: "Received", clock: _Clock, error: BaseException
    ) -> None:
        """What came before it failed is billed by the provider, so it is in the books."""
        target = request.target
        has_begun = received.began or received.usage.sent
        usage = _billed(received, request.prompt) if has_begun else Usage()
        cost = target.book.cost_micros(target.provider, target.model, usage)
        code = error.code if isinstance(error, ForgeError) else type(error).__name__
        settlement = Settlement(
            CallStatus.FAILED,
            usage,
            cost,
            now(),
            stop=received.stop,
            first_token_ms=clock.first_ms,
            latency_ms=clock.whole_ms,
            error=code,
        )
        await self._money.settle(request.spender, call_id, settlement)
        self._metrics.model_called(request.role.value, code, cost)

    async def _open(self) -> "Connections":
        """The providers' clients take seconds to import: not before the first call, and not on the event loop."""
        await asyncio.to_thread(importlib.import_module, "forge.llm.adapter")
        from forge.llm.adapter import Connections

        self._connections = self._connections or Connections()
        return self._connections


def _billed(received: "Received", prompt: Prompt) -> Usage:
    """A stream that broke off has not said how much it was: count what arrived, and what was sent."""
    said = received.usage
    written = sum(len(part.model_dump_json()) for part in received.parts)
    sent = said.sent or math.ceil(len(prompt.model_dump_json()) / USUAL_BYTES_PER_TOKEN)
    return Usage(
        input=sent - said.cache_read - said.cache_write,
        output=max(said.output, math.ceil(written / USUAL_BYTES_PER_TOKEN)),
        cache_read=said.cache_read,
        cache_write=said.cache_write,
    )
