"""The run kind `message`: one message to one bot. Each part is a step or a transaction, so that a kill at any instant
neither loses it nor delivers it twice."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from forge.bots.chat.awaiting import Put
from forge.messages.delivering import Delivering, Ended, Opened
from forge.messages.given import KIND, DeliveryInput
from forge.messages.models import DeliveryStatus
from forge.runs.context import RunContext, StepFailed
from forge.runs.kinds import RunKind
from forge.store.engine import Tx


class MessageKind:
    def __init__(self) -> None:
        self._delivering = asyncio.get_running_loop().create_future()
        """Runs that were left over begin before all of Forge is there; they wait for it."""

    def kind(self) -> RunKind[DeliveryInput]:
        return RunKind(KIND, DeliveryInput, self.run, title=lambda given: given.title)

    def open(self, delivering: Delivering) -> None:
        self._delivering.set_result(delivering)

    async def run(self, context: RunContext, given: DeliveryInput) -> dict[str, Any]:
        delivering: Delivering = await asyncio.shield(self._delivering)
        try:
            ended = await self._deliver(context, delivering, given)
        except StepFailed as failed:
            ended = Ended(status=DeliveryStatus.FAILED, error=failed.problem)
        await context.transact("delivered", lambda tx: delivering.end(tx, given, ended))
        return {"status": ended.status.value}

    async def _deliver(self, context: RunContext, delivering: Delivering, given: DeliveryInput) -> Ended:
        opened = Opened.model_validate(await context.step("open", delivering.open, given))
        asked = await self._ask(context, delivering, given, opened)
        while "busy" in asked:
            await context.step("wait", delivering.until_free, opened.session_id, asked["busy"])
            asked = await self._ask(context, delivering, given, opened)
        if opened.is_quiet:
            return Ended(status=DeliveryStatus.SILENT)
        put = Put.model_validate(asked["put"])
        waits = partial(_waiting, context)
        answered = await context.step("answer", delivering.answer, opened.readied, put, waits)
        return Ended.model_validate(answered)

    async def _ask(
        self, context: RunContext, delivering: Delivering, given: DeliveryInput, opened: Opened
    ) -> dict[str, Any]:
        put = delivering.note if opened.is_quiet else delivering.ask

        async def once(tx: Tx) -> dict[str, Any]:
            return await put(tx, context.run_id, given, opened)

        return await context.transact("note" if opened.is_quiet else "ask", once)


@asynccontextmanager
async def _waiting(context: RunContext, _: str) -> AsyncGenerator[None]:
    """The bot waits for a person; whoever waits for the message sees it by its run."""
    await context.keep_waiting()
    try:
        yield
    finally:
        await context.go_on()
