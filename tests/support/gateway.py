"""A model gateway with real clients and budgets, and scripted servers as providers."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from pydantic import SecretStr

from forge.errors import NotFound
from forge.llm import store as llm_store
from forge.llm.budgets import BudgetLimits, Budgets, Spender
from forge.llm.catalog import Catalog
from forge.llm.gateway import CircuitBreaker, Gateway
from forge.llm.models import ModelCall, Price, Provider, ProviderKind, Role, ServerKind
from forge.store.database import Store
from forge.telemetry import Metrics

ACCOUNT = "account-1"
PRICE = Price(input=3, output=15, cache_read=0.3, cache_write=3.75, context_window=200_000, overridden=True)


@dataclass
class GatewayUnderTest:
    gateway: Gateway
    catalog: Catalog
    budgets: Budgets
    store: Store
    secrets: dict[str, str] = field(default_factory=dict[str, str])

    async def add(
        self,
        name: str,
        url: str,
        *,
        kind: ProviderKind = ProviderKind.ANTHROPIC,
        key_name: str | None = None,
        models: tuple[str, ...] = ("scripted",),
        price: Price = PRICE,
        server: ServerKind | None = None,
    ) -> None:
        base = url if kind is ProviderKind.ANTHROPIC else f"{url}/v1"
        async with self.store.begin() as tx:
            provider = Provider(name=name, kind=kind, base_url=base, key_name=key_name, server=server)
            await llm_store.save_provider(tx, ACCOUNT, provider)
            for model in models:
                await llm_store.save_price(tx, ACCOUNT, f"{name}:{model}", price)

    async def choose(self, *chain: str, role: Role = Role.BUILDER, scope: str = "") -> None:
        async with self.store.begin() as tx:
            await llm_store.save_chain(tx, ACCOUNT, scope, role, list(chain))

    async def calls(self) -> list[ModelCall]:
        """Return all calls, oldest first."""
        async with self.store.read() as tx:
            return (await llm_store.list_calls(tx, ACCOUNT))[::-1]


def spender(key: str = "step-1", run_id: str | None = None, scope: str = "") -> Spender:
    return Spender(ACCOUNT, key, run_id, scope)


@asynccontextmanager
async def open_gateway(
    store: Store, *, limits: BudgetLimits | None = None, breaker: CircuitBreaker | None = None
) -> AsyncGenerator[GatewayUnderTest]:
    secrets: dict[str, str] = {}

    async def resolve(account_id: str, name: str, scope: str) -> SecretStr:
        """The secrets belong to `ACCOUNT`, which owns the server, except `account:NAME`."""
        is_owner = account_id == ACCOUNT
        secret = secrets.get(f"{scope}/{name}") or secrets.get(name if is_owner else f"{account_id}:{name}")
        if secret is None:
            raise NotFound(f"no {name}")
        return SecretStr(secret)

    catalog = Catalog(store, resolve, dict.fromkeys(Role, "claude-sonnet-4-5"), owner_id=ACCOUNT)
    budgets = Budgets(store, limits or BudgetLimits(run_usd=10, day_usd=50, server_usd=200))
    gateway = Gateway(catalog, budgets, Metrics(version="test"), breaker=breaker)
    try:
        yield GatewayUnderTest(gateway, catalog, budgets, store, secrets)
    finally:
        await gateway.close()
