"""The models service: providers, the models of roles, prices, budgets, test calls."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime

from forge.errors import Conflict, ForgeError, Invalid, NotFound
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.llm import store
from forge.llm.budgets import Spender
from forge.llm.catalog import BUILT_IN, Catalog, checked_provider, split_ref
from forge.llm.errors import ModelFault, ModelUnknown
from forge.llm.gateway import Gateway
from forge.llm.messages import Text, UserMessage
from forge.llm.models import (
    MICROS,
    ModelCall,
    ModelsView,
    NewPrice,
    NewProvider,
    OwnBudget,
    Price,
    Prompt,
    Provider,
    ProviderKind,
    ProviderProbe,
    ProviderView,
    Reply,
    Role,
    RoleChoice,
    Share,
    Spent,
    TestResult,
)
from forge.llm.prices import PriceTable, known_models, load_price_table
from forge.llm.probe import ProviderProbing
from forge.store.database import Store, Tx
from forge.store.pagination import Cursor, Page, make_page

USUAL_WINDOW = 128_000
"""Context window of an unknown model, unless it is on a server with OpenAI's API, which may have a much smaller one."""
LastFour = Callable[[str, str, str], Awaitable[str | None]]
"""Returns the last characters of a secret by account, name and scope; None if it is not set."""


class Models:
    """Each method is one transaction. A chosen model never loses its provider or price."""

    def __init__(
        self,
        database: Store,
        catalog: Catalog,
        gateway: Gateway,
        last_four: LastFour,
        *,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self._database = database
        self._catalog = catalog
        self._budgets = gateway.budgets
        self._tester = ModelTester(database, catalog, gateway)
        self._probing = ProviderProbing(database, catalog, gateway)
        self._last_four = last_four
        self._clock = clock

    async def view(self, account_id: str, scope: str = "") -> ModelsView:
        """Return the models of the account, or of one of its bots."""
        await load_price_table()
        midnight = self._clock().astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        async with self._database.read() as tx:
            providers = await self._catalog.providers(tx, account_id)
            roles = await self._catalog.choices(tx, account_id, scope)
            prices = await store.list_prices(tx, account_id)
            today = await store.spent_by_model(tx, account_id, midnight)
        shown = {name: await self._with_key(account_id, found) for name, found in sorted(providers.items())}
        return ModelsView(
            providers=list(shown.values()),
            roles=[_without_key(choice, shown) for choice in roles],
            prices=dict(sorted(prices.items())),
            budgets=await self._budgets.spent(
                account_id, [name for name, one in providers.items() if one.is_shared]
            ),
            today_by_model=dict(sorted(today.items(), key=lambda item: -item[1])),
            known=list(dict.fromkeys([*known_models(providers.values()), *sorted(prices)])),
        )

    async def set_chain(self, account_id: str, role: Role, chain: list[str], scope: str = "") -> RoleChoice:
        """Set the models of a role, in the order they are tried. Each must be known and have a price."""
        await load_price_table()
        async with self._database.begin() as tx:
            refs = [await self._usable(tx, account_id, ref, location) for location, ref in enumerate(chain)]
            if len(set(refs)) < len(refs):
                raise Invalid("The chain contains a model twice.", field="chain")
            await store.save_chain(tx, account_id, scope, role, refs)
            return await self._choice(tx, account_id, role, scope)

    async def reset_chain(self, account_id: str, role: Role, scope: str = "") -> RoleChoice:
        """Reset to the default: for a bot the account's choice, for the account the settings'."""
        await load_price_table()
        async with self._database.begin() as tx:
            await store.delete_chain(tx, account_id, scope, role)
            return await self._choice(tx, account_id, role, scope)

    async def save_provider(self, account_id: str, name: str, wanted: NewProvider) -> ProviderView:
        """Add a provider, or change a known one."""
        await load_price_table()
        async with self._database.begin() as tx:
            before = (await self._catalog.providers(tx, account_id)).get(name)
            provider = checked_provider(name, wanted, before)
            await store.save_provider(tx, account_id, provider)
            await self._must_have_prices(
                tx, account_id, f"There are no prices for models at {provider.base_url or name}"
            )
        return await self._with_key(account_id, provider)

    async def remove_provider(self, account_id: str, name: str) -> Provider:
        """Remove a custom provider, or reset a built-in one."""
        await load_price_table()
        async with self._database.begin() as tx:
            removed = (await self._catalog.providers(tx, account_id)).get(name)
            if not await store.delete_provider(tx, account_id, name) or removed is None:
                raise NotFound(f"There is no provider named {name!r}.", hint="List them: forge models list")
            if name in BUILT_IN:
                await self._must_have_prices(tx, account_id, f"{name} cannot be reset to its public address")
                return removed
            for ref, location in (await self._catalog.in_use(tx, account_id)).items():
                if ref.startswith(f"{name}:"):
                    raise Conflict(
                        f"{ref} is chosen in {location}.",
                        hint="Choose another model there first: forge models set, or Settings, Models.",
                    )
        return removed

    async def set_price(self, account_id: str, ref: str, new: NewPrice) -> Price:
        """Set a price that overrides the table. Default for cached tokens: the input price."""
        await load_price_table()
        async with self._database.read() as tx:
            provider, model = split_ref(ref, await self._catalog.providers(tx, account_id))
            if provider.is_shared:
                raise Conflict(f"The prices of {provider.name} are set by the owner of this server.")
            before = PriceTable(await store.list_prices(tx, account_id)).find(provider, model)
        window = new.context_window or (before and before.context_window)
        price = _completed(
            new, before, provider, window or await self._default_window(account_id, provider, model)
        )
        async with self._database.begin() as tx:
            await store.save_price(tx, account_id, f"{provider.name}:{model}", price)
        return price

    async def _default_window(self, account_id: str, provider: Provider, model: str) -> int:
        if provider.base_url is None or provider.kind is ProviderKind.ANTHROPIC:
            return USUAL_WINDOW
        window = await self._probing.window(account_id, provider, model)
        if window is None:
            ref = f"{provider.name}:{model}"
            raise Invalid(
                f"The context window of {ref} is unknown, because the server does not report it.",
                field="context_window",
                hint=f"Set it in tokens: forge models price {ref} --context TOKENS",
            )
        return window

    async def probe(self, account_id: str, name: str, model: str | None = None) -> ProviderProbe:
        """Ask the provider about itself and test one of its models. Problems are part of the result."""
        try:
            probed = await self._probing.ask(account_id, name)
        except NotFound:
            raise
        except ForgeError as error:
            async with self._database.read() as tx:
                provider = (await self._catalog.providers(tx, account_id))[name]
            view = await self._with_key(account_id, provider)
            return ProviderProbe(provider=view, problem=error.message, hint=error.hint)
        trial = await self._probing.try_model(account_id, probed, model)
        again = await self._probing.ask(account_id, name) if trial and not trial.problem else probed
        return ProviderProbe(
            provider=await self._with_key(account_id, probed.provider),
            models=again.models,
            priced=sorted({*probed.priced, *again.priced}),
            trial=trial,
        )

    async def remove_price(self, account_id: str, ref: str) -> Price:
        """Reset to the table's price."""
        await load_price_table()
        async with self._database.begin() as tx:
            full = await self._with_provider(tx, account_id, ref)
            removed = (await store.list_prices(tx, account_id)).get(full)
            if removed is None:
                raise NotFound(f"There is no custom price for {full}.", hint="List them: forge models list")
            await store.delete_price(tx, account_id, full)
            await self._must_have_prices(tx, account_id, f"There is no other price for {full}")
        return removed

    async def set_budget(self, account_id: str, budget: OwnBudget, limit_usd: float) -> Spent:
        async with self._database.begin() as tx:
            await store.save_budget(tx, account_id, budget, round(limit_usd * MICROS))
        return next(spent for spent in await self._budgets.spent(account_id) if spent.budget == budget)

    async def shares(self) -> list[Share]:
        async with self._database.read() as tx:
            return list((await store.list_shares(tx)).values())

    async def share(self, account_id: str, name: str, day_usd: float) -> Share:
        """Let all members use a provider of the owner, each within a budget per day."""
        share = Share(provider=name, day_micros=round(day_usd * MICROS))
        async with self._database.begin() as tx:
            if name not in await self._catalog.providers(tx, account_id):
                raise NotFound(f"There is no provider named {name!r}.", hint="List them: forge models list")
            await store.save_share(tx, share, self._clock())
        return share

    async def unshare(self, name: str) -> Share:
        async with self._database.begin() as tx:
            share = (await store.list_shares(tx)).get(name)
            if share is None:
                raise NotFound(f"The provider {name!r} is not shared.")
            await store.delete_share(tx, name)
        return share

    async def test(self, account_id: str, ref: str) -> TestResult:
        return await self._tester.test(account_id, ref)

    async def calls(
        self, account_id: str, *, run_id: str | None = None, cursor: Cursor | None = None, limit: int = 50
    ) -> Page[ModelCall]:
        """Return recorded calls, newest first."""
        async with self._database.read() as tx:
            found = await store.list_calls(tx, account_id, run_id=run_id, cursor=cursor, limit=limit + 1)
        return make_page(found, limit, lambda call: Cursor(call.started_at, call.id))

    async def _usable(self, tx: Tx, account_id: str, ref: str, location: int) -> str:
        try:
            return (await self._catalog.targets(tx, account_id, [ref]))[0].ref
        except (ModelUnknown, Invalid) as error:
            error.field = f"chain.{location}"
            raise

    async def _choice(self, tx: Tx, account_id: str, role: Role, scope: str) -> RoleChoice:
        choices = await self._catalog.choices(tx, account_id, scope)
        return next(choice for choice in choices if choice.role is role)

    async def _with_key(self, account_id: str, provider: Provider) -> ProviderView:
        name = provider.key_name
        found = "" if name is None else await self._last_four(account_id, name, f"account:{account_id}")
        has_key = found is not None or provider.is_shared
        return ProviderView(**provider.model_dump(), has_key=has_key, last_four=found or "")

    async def _with_provider(self, tx: Tx, account_id: str, ref: str) -> str:
        provider, model = split_ref(ref, await self._catalog.providers(tx, account_id))
        return f"{provider.name}:{model}"

    async def _must_have_prices(self, tx: Tx, account_id: str, why_not: str) -> None:
        """Raise Conflict if the change leaves a chosen model without a price."""
        providers = await self._catalog.providers(tx, account_id)
        price_table = await self._catalog.prices(tx, account_id, providers)
        for ref, location in (await self._catalog.in_use(tx, account_id)).items():
            name, _, model = ref.partition(":")
            if name in providers and price_table.find(providers[name], model) is None:
                raise Conflict(
                    f"{why_not}, and {ref} is chosen in {location}.",
                    hint=f"Set its price first (forge models price {ref} --input 1 --output 5), or choose another model.",
                )


def _completed(new: NewPrice, before: Price | None, provider: Provider, window: int) -> Price:
    """Complete a price with the previous one; a local model costs nothing."""
    free = 0.0 if provider.server else None
    amounts = (new.input, before and before.input, free), (new.output, before and before.output, free)
    input_price, output_price = (
        next((amount for amount in known if amount is not None), None) for known in amounts
    )
    if input_price is None or output_price is None:
        raise Invalid("A new price needs the amounts for input and output.", field="input")
    kept = before if new.input is None else None
    return Price(
        input=input_price,
        output=output_price,
        cache_read=_first(new.cache_read, kept and kept.cache_read, input_price),
        cache_write=_first(new.cache_write, kept and kept.cache_write, input_price),
        context_window=window,
        text_tool_calls=_kept(new.text_tool_calls, before),
        overridden=True,
        detected=before is not None and before.detected and new.context_window is None,
    )


def _kept(text_tool_calls: bool | None, before: Price | None) -> bool | None:
    return before.text_tool_calls if text_tool_calls is None and before is not None else text_tool_calls


def _first(*amounts: float | None) -> float:
    return next(amount for amount in amounts if amount is not None)


def _without_key(choice: RoleChoice, providers: Mapping[str, ProviderView]) -> RoleChoice:
    """Add a problem to a role whose provider has no key."""
    if choice.problem is not None:
        return choice
    for ref in choice.chain:
        provider, _ = split_ref(ref, providers)
        if not providers[provider.name].has_key:
            missing = f"There is no key for {provider.name}: {provider.key_name} is not set."
            return choice.model_copy(update={"problem": missing})
    return choice


TEST_TIMEOUT_S = 60.0
"""Long, because a local server may have to load the model first."""
MAX_SHOWN = 200
QUESTION = Prompt(
    system="This is a test. Answer with one word.",
    messages=[UserMessage(parts=[Text(text="Reply with the word: ready")])],
    max_output=256,
)
"""The output limit has room for a model that thinks before it answers."""


class ModelTester:
    def __init__(self, database: Store, catalog: Catalog, gateway: Gateway) -> None:
        self._database = database
        self._catalog = catalog
        self._gateway = gateway

    async def test(self, account_id: str, ref: str) -> TestResult:
        """Make a test call and return its result; errors become part of the result."""
        spender = Spender(account_id, f"test:{new_id()}")
        try:
            reply = await self._ask(spender, ref)
        except ForgeError as error:
            result = {"ok": False, "code": error.code, "message": error.message, "hint": error.hint}
        else:
            result = {"ok": True, "answer": _excerpt(reply)}
        calls = await self._calls(spender)
        return TestResult.model_validate(
            {
                **result,
                "model": ref,
                "latency_ms": sum(call.latency_ms or 0 for call in calls),
                "cost_micros": sum(call.cost_micros for call in calls),
            }
        )

    async def _ask(self, spender: Spender, ref: str) -> Reply:
        target = await self._catalog.target(spender.account_id, ref)
        try:
            async with asyncio.timeout(TEST_TIMEOUT_S):
                return await self._gateway.call_model(spender, Role.UTILITY, target, QUESTION)
        except TimeoutError as error:
            raise ModelFault(
                f"{target.ref} did not answer within {TEST_TIMEOUT_S:.0f} s.",
                hint="Check the address. A local model may need longer the first time.",
            ) from error

    async def _calls(self, spender: Spender) -> list[ModelCall]:
        async with self._database.read() as tx:
            return await store.find_calls_of_step(tx, spender.key)


def _excerpt(reply: Reply) -> str:
    return reply.message.text.strip()[:MAX_SHOWN]
