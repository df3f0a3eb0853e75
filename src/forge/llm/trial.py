"""A real call, to see whether a model works: what it said, how long it took, what it cost."""

import asyncio

from forge.errors import ForgeError
from forge.kernel.ids import new_id
from forge.llm import store
from forge.llm.catalog import Catalog
from forge.llm.errors import ModelFault
from forge.llm.gateway import Gateway
from forge.llm.messages import Text, UserMessage
from forge.llm.models import ModelCall, Prompt, Reply, Role, TestResult
from forge.llm.money import Spender
from forge.store.engine import Store

WITHIN_S = 60.0
"""A local server may have to load the model first."""
MAX_SHOWN = 200
QUESTION = Prompt(
    system="You are being tried out. Answer with one word.",
    messages=[UserMessage(parts=[Text(text="Reply with the word: ready")])],
    max_output=256,
)
"""Room for a model that thinks before it says its word."""


class Trials:
    def __init__(self, database: Store, catalog: Catalog, gateway: Gateway) -> None:
        self._database = database
        self._catalog = catalog
        self._gateway = gateway

    async def test(self, account_id: str, ref: str) -> TestResult:
        """Whatever is wrong is the result, with what to do about it."""
        spender = Spender(account_id, f"test:{new_id()}")
        try:
            reply = await self._ask(spender, ref)
        except ForgeError as error:
            said = {"ok": False, "code": error.code, "message": error.message, "hint": error.hint}
        else:
            said = {"ok": True, "answer": _shown(reply)}
        calls = await self._calls(spender)
        return TestResult.model_validate(
            {
                **said,
                "model": ref,
                "latency_ms": sum(call.latency_ms or 0 for call in calls),
                "cost_micros": sum(call.cost_micros for call in calls),
            }
        )

    async def _ask(self, spender: Spender, ref: str) -> Reply:
        target = await self._catalog.target(spender.account_id, ref)
        try:
            async with asyncio.timeout(WITHIN_S):
                return await self._gateway.call_model(spender, Role.UTILITY, target, QUESTION)
        except TimeoutError as error:
            raise ModelFault(
                f"{target.ref} did not answer within {WITHIN_S:.0f} s.",
                hint="Is the address right? A local model may need longer the first time.",
            ) from error

    async def _calls(self, spender: Spender) -> list[ModelCall]:
        async with self._database.read() as tx:
            return await store.find_calls_of_step(tx, spender.key)


def _shown(reply: Reply) -> str:
    return reply.message.text.strip()[:MAX_SHOWN]
