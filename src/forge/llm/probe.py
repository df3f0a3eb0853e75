"""Ask a provider about itself, apply what it reports, and test one of its models with a few short calls."""

import asyncio
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ValidationError

from forge.errors import ForgeError, NotFound
from forge.kernel.ids import new_id
from forge.llm import store
from forge.llm.budgets import Spender
from forge.llm.catalog import Catalog, Target
from forge.llm.gateway import Gateway, answer_spec, answer_text
from forge.llm.local_servers import Discovery, discover
from forge.llm.messages import user_message
from forge.llm.models import (
    ModelTrial,
    Price,
    Prompt,
    Provider,
    Reply,
    Role,
    ServerModel,
    ToolSpec,
    ToolSupport,
)
from forge.store.database import Store, Tx

TRIAL_TIMEOUT_S = 280.0
"""For all calls of a trial. A server may have to load the model first."""
SYSTEM = "This is a test of your abilities. Do exactly what is asked, without explanations."
COUNT = "Count from 1 to 40. Write only the numbers, separated by spaces."
REPORT = ToolSpec(
    name="report",
    description="Report a word.",
    parameters={
        "type": "object",
        "properties": {"word": {"type": "string"}},
        "required": ["word"],
        "additionalProperties": False,
    },
)


class Choice(BaseModel):
    """A color and a number."""

    color: Literal["red", "green"]
    number: int


class ProbedProvider(BaseModel):
    """What a provider reports, after it was applied."""

    provider: Provider
    models: list[ServerModel]
    priced: list[str]


class ProviderProbing:
    def __init__(self, database: Store, catalog: Catalog, gateway: Gateway) -> None:
        self._database = database
        self._catalog = catalog
        self._gateway = gateway

    async def window(self, account_id: str, provider: Provider, model: str) -> int | None:
        """Return the context window that the server reports for a model; None if it does not answer."""
        try:
            found = await self._discover(account_id, provider)
        except ForgeError:
            return None
        return next((one.context_window for one in found.models if one.name == model), None)

    async def ask(self, account_id: str, name: str) -> ProbedProvider:
        """Ask the server, and save what it reports: which server it is, and the windows of its models."""
        async with self._database.read() as tx:
            provider = (await self._catalog.providers(tx, account_id)).get(name)
        if provider is None:
            raise NotFound(f"There is no provider named {name!r}.", hint="List them: forge models list")
        found = await self._discover(account_id, provider)
        async with self._database.begin() as tx:
            provider = await self._saved(tx, account_id, provider, found)
            priced = await self._save_prices(tx, account_id, provider, found.models)
        return ProbedProvider(provider=provider, models=found.models, priced=priced)

    async def try_model(
        self, account_id: str, probed: ProbedProvider, wanted: str | None
    ) -> ModelTrial | None:
        """Test the wanted model, else one in use, else one that is loaded, else the first."""
        name = wanted or await self._default_model(account_id, probed)
        if name is None:
            return None
        ref = f"{probed.provider.name}:{name}"
        trial = ModelTrial(model=ref)
        try:
            target = await self._catalog.target(account_id, ref)
            async with asyncio.timeout(TRIAL_TIMEOUT_S):
                for test in (self._try_speed, self._try_tools, self._try_schema):
                    trial = trial.model_copy(update=await test(account_id, target, trial))
        except TimeoutError:
            message = f"{ref} did not answer within {TRIAL_TIMEOUT_S:.0f} s."
            return trial.model_copy(update={"problem": message})
        except ForgeError as error:
            return trial.model_copy(update={"problem": error.message, "hint": error.hint})
        return trial

    async def _discover(self, account_id: str, provider: Provider) -> Discovery:
        credential = await self._catalog.credential(provider, account_id, "")
        return await discover(provider, credential.key)

    async def _saved(self, tx: Tx, account_id: str, provider: Provider, found: Discovery) -> Provider:
        if found.server is None or found.server is provider.server:
            return provider
        parallel = provider.parallel or 1
        changed = provider.model_copy(update={"server": found.server, "parallel": parallel})
        await store.save_provider(tx, account_id, changed)
        return changed

    async def _save_prices(
        self, tx: Tx, account_id: str, provider: Provider, models: Sequence[ServerModel]
    ) -> list[str]:
        """Set a price of 0 and the reported window for models of a local server, unless a person set them."""
        if provider.server is None:
            return []
        known, saved = await store.list_prices(tx, account_id), list[str]()
        for model in models:
            ref = f"{provider.name}:{model.name}"
            before = known.get(ref)
            if model.context_window is None or (before is not None and not before.detected):
                continue
            price = Price(
                input=0,
                output=0,
                cache_read=0,
                cache_write=0,
                context_window=model.context_window,
                text_tool_calls=before.text_tool_calls if before else None,
                overridden=True,
                detected=True,
            )
            if price != before:
                await store.save_price(tx, account_id, ref, price)
                saved.append(ref)
        return saved

    async def _default_model(self, account_id: str, probed: ProbedProvider) -> str | None:
        async with self._database.read() as tx:
            used = await self._catalog.in_use(tx, account_id)
        in_use = [one for one in probed.models if f"{probed.provider.name}:{one.name}" in used]
        loaded = [one for one in probed.models if one.is_loaded]
        first = next(iter([*in_use, *loaded, *probed.models]), None)
        return first and first.name

    async def _try_speed(self, account_id: str, target: Target, trial: ModelTrial) -> dict[str, object]:
        reply = await self._call(account_id, target, _prompt(COUNT, max_output=256))
        writing_ms = reply.latency_ms - (reply.first_token_ms or 0)
        speed = reply.usage.output / writing_ms * 1000 if writing_ms > 0 and reply.first_token_ms else None
        return {
            "first_token_ms": reply.first_token_ms,
            "tokens_per_second": speed and round(speed, 1),
            "cost_micros": trial.cost_micros + reply.cost_micros,
        }

    async def _try_tools(self, account_id: str, target: Target, trial: ModelTrial) -> dict[str, object]:
        prompt = _prompt("Call the tool report with the word ready.", tools=[REPORT])
        reply = await self._call(account_id, target, prompt)
        return {"tools": _tool_support(reply), "cost_micros": trial.cost_micros + reply.cost_micros}

    async def _try_schema(self, account_id: str, target: Target, trial: ModelTrial) -> dict[str, object]:
        prompt = _prompt("Give the color red and the number 7.", answer=answer_spec(Choice))
        reply = await self._call(account_id, target, prompt)
        try:
            Choice.model_validate_json(answer_text(reply))
        except ValidationError:
            is_valid = False
        else:
            is_valid = True
        return {"schema_support": is_valid, "cost_micros": trial.cost_micros + reply.cost_micros}

    async def _call(self, account_id: str, target: Target, prompt: Prompt) -> Reply:
        return await self._gateway.call_model(
            Spender(account_id, f"probe:{new_id()}"), Role.UTILITY, target, prompt
        )


def _prompt(text: str, **options: object) -> Prompt:
    fields = {"system": SYSTEM, "messages": [user_message(text)], "max_output": 512, **options}
    return Prompt.model_validate(fields)


def _tool_support(reply: Reply) -> ToolSupport:
    if any(call.name == REPORT.name for call in reply.message.tool_calls):
        return ToolSupport.NATIVE
    text = reply.message.text
    is_call = REPORT.name in text and "ready" in text and any(mark in text for mark in "{<")
    return ToolSupport.TEXT if is_call else ToolSupport.NONE
