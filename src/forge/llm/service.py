"""Which models are used, where, at what price and up to which budget: what people decide about models."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime

from forge.errors import Conflict, Invalid, NotFound
from forge.kernel.clock import now
from forge.llm import store
from forge.llm.catalog import BUILT_IN, Catalog, checked_provider, split_ref
from forge.llm.errors import ModelUnknown
from forge.llm.gateway import Gateway
from forge.llm.models import (
    MICROS,
    ModelCall,
    ModelsView,
    NewPrice,
    NewProvider,
    OwnBudget,
    Price,
    Provider,
    ProviderView,
    Role,
    RoleChoice,
    Spent,
    TestResult,
)
from forge.llm.pricing import PriceBook, known_models, load_table
from forge.llm.trial import Trials
from forge.store.engine import Store, Tx
from forge.store.paging import Cursor, Page, page_of

LastFour = Callable[[str, str], Awaitable[str | None]]
"""Name and scope of a secret to its last characters; None when it is not set."""


class Models:
    """Every verb is one transaction, and leaves no model in use without a provider or a price."""

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
        self._money = gateway.money
        self._trials = Trials(database, catalog, gateway)
        self._last_four = last_four
        self._clock = clock

    async def view(self, account_id: str, scope: str = "") -> ModelsView:
        """As the account has chosen, or one of its bots."""
        await load_table()
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
            budgets=await self._money.spent(account_id),
            today_by_model=dict(sorted(today.items(), key=lambda item: -item[1])),
            known=list(dict.fromkeys([*known_models(providers.values()), *sorted(prices)])),
        )

    async def set_chain(self, account_id: str, role: Role, chain: list[str], scope: str = "") -> RoleChoice:
        """The models of a role, in the order they are tried. Each must be known, and so must its price."""
        await load_table()
        async with self._database.begin() as tx:
            refs = [await self._usable(tx, account_id, ref, place) for place, ref in enumerate(chain)]
            if len(set(refs)) < len(refs):
                raise Invalid("A model is named twice in this chain.", field="chain")
            await store.save_chain(tx, account_id, scope, role, refs)
            return await self._choice(tx, account_id, role, scope)

    async def reset_chain(self, account_id: str, role: Role, scope: str = "") -> RoleChoice:
        """Back to the account's choice for a bot, and to the settings' for the account."""
        await load_table()
        async with self._database.begin() as tx:
            await store.delete_chain(tx, account_id, scope, role)
            return await self._choice(tx, account_id, role, scope)

    async def save_provider(self, account_id: str, name: str, wanted: NewProvider) -> ProviderView:
        """Add one, or send a known one's calls elsewhere."""
        provider = checked_provider(name, wanted)
        await load_table()
        async with self._database.begin() as tx:
            await store.save_provider(tx, account_id, provider)
            await self._must_have_prices(
                tx, account_id, f"Nobody knows what models cost at {provider.base_url or name}"
            )
        return await self._with_key(account_id, provider)

    async def remove_provider(self, account_id: str, name: str) -> Provider:
        """A provider that came with Forge goes back to how it came."""
        await load_table()
        async with self._database.begin() as tx:
            removed = (await self._catalog.providers(tx, account_id)).get(name)
            if not await store.delete_provider(tx, account_id, name) or removed is None:
                raise NotFound(f"There is no provider called {name!r} to remove.", hint="forge models list")
            if name in BUILT_IN:
                await self._must_have_prices(tx, account_id, f"{name} cannot go back to its own address")
                return removed
            for ref, place in (await self._catalog.in_use(tx, account_id)).items():
                if ref.startswith(f"{name}:"):
                    raise Conflict(
                        f"{ref} is chosen in {place}.",
                        hint="Choose another model there first: forge models set, or Settings, Models.",
                    )
        return removed

    async def set_price(self, account_id: str, ref: str, said: NewPrice) -> Price:
        """Instead of what the table says, or because it says nothing. Cached tokens cost like others unless said."""
        price = Price(
            input=said.input,
            output=said.output,
            cache_read=said.input if said.cache_read is None else said.cache_read,
            cache_write=said.input if said.cache_write is None else said.cache_write,
            context_window=said.context_window,
            overridden=True,
        )
        async with self._database.begin() as tx:
            await store.save_price(tx, account_id, await self._full(tx, account_id, ref), price)
        return price

    async def remove_price(self, account_id: str, ref: str) -> Price:
        """Back to the table's price."""
        await load_table()
        async with self._database.begin() as tx:
            full = await self._full(tx, account_id, ref)
            removed = (await store.list_prices(tx, account_id)).get(full)
            if removed is None:
                raise NotFound(f"You have set no price for {full}.", hint="forge models list")
            await store.delete_price(tx, account_id, full)
            await self._must_have_prices(tx, account_id, f"Nobody else knows what {full} costs")
        return removed

    async def set_budget(self, account_id: str, budget: OwnBudget, limit_usd: float) -> Spent:
        async with self._database.begin() as tx:
            await store.save_budget(tx, account_id, budget, round(limit_usd * MICROS))
        return next(spent for spent in await self._money.spent(account_id) if spent.budget == budget)

    async def test(self, account_id: str, ref: str) -> TestResult:
        return await self._trials.test(account_id, ref)

    async def calls(
        self, account_id: str, *, run_id: str | None = None, cursor: Cursor | None = None, limit: int = 50
    ) -> Page[ModelCall]:
        """Newest first."""
        async with self._database.read() as tx:
            found = await store.list_calls(tx, account_id, run_id=run_id, cursor=cursor, limit=limit + 1)
        return page_of(found, limit, lambda call: Cursor(call.started_at, call.id))

    async def _usable(self, tx: Tx, account_id: str, ref: str, place: int) -> str:
        try:
            return (await self._catalog.targets(tx, account_id, [ref]))[0].ref
        except (ModelUnknown, Invalid) as error:
            error.field = f"chain.{place}"
            raise

    async def _choice(self, tx: Tx, account_id: str, role: Role, scope: str) -> RoleChoice:
        choices = await self._catalog.choices(tx, account_id, scope)
        return next(choice for choice in choices if choice.role is role)

    async def _with_key(self, account_id: str, provider: Provider) -> ProviderView:
        name = provider.key_name
        found = "" if name is None else await self._last_four(name, f"account:{account_id}")
        return ProviderView(**provider.model_dump(), has_key=found is not None, last_four=found or "")

    async def _full(self, tx: Tx, account_id: str, ref: str) -> str:
        provider, model = split_ref(ref, await self._catalog.providers(tx, account_id))
        return f"{provider.name}:{model}"

    async def _must_have_prices(self, tx: Tx, account_id: str, why_not: str) -> None:
        """Refuses what was just written when a model in use would have no price any more."""
        providers = await self._catalog.providers(tx, account_id)
        book = PriceBook(await store.list_prices(tx, account_id))
        for ref, place in (await self._catalog.in_use(tx, account_id)).items():
            name, _, model = ref.partition(":")
            if name in providers and book.find(providers[name], model) is None:
                raise Conflict(
                    f"{why_not}, and {ref} is chosen in {place}.",
                    hint=f"Say its price first: forge models price {ref} --input 1 --output 5; or choose another.",
                )


def _without_key(choice: RoleChoice, providers: Mapping[str, ProviderView]) -> RoleChoice:
    """A role that cannot be called says so, whatever the reason."""
    if choice.problem is not None:
        return choice
    for ref in choice.chain:
        provider, _ = split_ref(ref, providers)
        if not providers[provider.name].has_key:
            missing = f"There is no key for {provider.name}: {provider.key_name} is not set."
            return choice.model_copy(update={"problem": missing})
    return choice
