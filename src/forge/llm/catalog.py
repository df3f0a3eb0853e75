"""Which model a role uses: the bot's choice, else the account's, else the settings'."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from pydantic import SecretStr

from forge.errors import Invalid, NotFound
from forge.llm import store
from forge.llm.errors import ModelKeyRefused, ModelUnknown
from forge.llm.models import NAME_PATTERN, REF_PATTERN, Price, Provider, ProviderKind, Role, RoleChoice
from forge.llm.pricing import PriceBook
from forge.store.engine import Store, Tx

Secrets = Callable[[str, str], Awaitable[SecretStr]]
"""Name and scope of a secret to its value; raises `NotFound`."""

ANTHROPIC = Provider(
    name="anthropic",
    kind=ProviderKind.ANTHROPIC,
    key_name="ANTHROPIC_API_KEY",
    built_in=True,
)
OPENAI = Provider(
    name="openai",
    kind=ProviderKind.OPENAI,
    key_name="OPENAI_API_KEY",
    built_in=True,
)
BUILT_IN = {provider.name: provider for provider in (ANTHROPIC, OPENAI)}


@dataclass(frozen=True)
class Target:
    """A model that can be called, with what it costs."""

    provider: Provider
    model: str
    price: Price
    book: PriceBook

    @property
    def ref(self) -> str:
        return f"{self.provider.name}:{self.model}"


class Catalog:
    def __init__(self, database: Store, secrets: Secrets, defaults: Mapping[Role, str]) -> None:
        self._database = database
        self._secrets = secrets
        self._defaults = defaults

    async def chain(self, account_id: str, scope: str, role: Role) -> list[Target]:
        """The models of a role, in the order they are tried."""
        async with self._database.read() as tx:
            refs, _ = await self._refs(tx, account_id, scope, role)
            providers = await self.providers(tx, account_id)
            book = PriceBook(await store.list_prices(tx, account_id))
        return [_target(ref, providers, book) for ref in refs]

    async def target(self, account_id: str, ref: str) -> Target:
        async with self._database.read() as tx:
            providers = await self.providers(tx, account_id)
            book = PriceBook(await store.list_prices(tx, account_id))
        return _target(ref, providers, book)

    async def key(self, target: Target, account_id: str, scope: str) -> SecretStr | None:
        """Looked up at the moment it is used, and kept nowhere."""
        name = target.provider.key_name
        if name is None:
            return None
        try:
            return await self._secrets(name, scope or f"account:{account_id}")
        except NotFound as error:
            raise ModelKeyRefused(
                f"There is no key for {target.provider.name}: the secret {name} is not set.",
                hint=f"Set it: forge secrets set {name}, or Settings, Models.",
            ) from error

    async def choices(self, tx: Tx, account_id: str, scope: str = "") -> list[RoleChoice]:
        providers = await self.providers(tx, account_id)
        book = PriceBook(await store.list_prices(tx, account_id))
        found: list[RoleChoice] = []
        for role in Role:
            refs, source = await self._refs(tx, account_id, scope, role)
            found.append(_choice(role, refs, source, providers, book))
        return found

    async def providers(self, tx: Tx, account_id: str) -> dict[str, Provider]:
        own = await store.list_providers(tx, account_id)
        return BUILT_IN | {
            provider.name: provider.model_copy(update={"built_in": provider.name in BUILT_IN})
            for provider in own
        }

    async def check_defaults(self, account_id: str) -> list[str]:
        """What is wrong with the models named in the settings: one line each."""
        async with self._database.read() as tx:
            providers = await self.providers(tx, account_id)
            book = PriceBook(await store.list_prices(tx, account_id))
        problems: dict[str, None] = {}
        for ref in self._defaults.values():
            try:
                _target(ref, providers, book)
            except (ModelUnknown, Invalid) as error:
                problems[f"{error.message} {error.hint or ''}".strip()] = None
        return list(problems)

    async def _refs(self, tx: Tx, account_id: str, scope: str, role: Role) -> tuple[list[str], str]:
        chains = await store.list_chains(tx, account_id, ["", scope])
        if scope and (own := chains.get((scope, role))):
            return own, "bot"
        if chosen := chains.get(("", role)):
            return chosen, "account"
        return [self._defaults[role]], "default"


def _choice(
    role: Role, refs: list[str], source: str, providers: Mapping[str, Provider], book: PriceBook
) -> RoleChoice:
    prices: list[Price | None] = []
    problem: str | None = None
    for ref in refs:
        try:
            prices.append(_target(ref, providers, book).price)
        except (ModelUnknown, Invalid) as error:
            prices.append(None)
            problem = problem or error.message
    return RoleChoice.model_validate(
        {"role": role, "chain": refs, "source": source, "prices": prices, "problem": problem}
    )


def _target(ref: str, providers: Mapping[str, Provider], book: PriceBook) -> Target:
    provider, model = split_ref(ref, providers)
    return Target(provider, model, book.get(provider, model), book)


def split_ref(ref: str, providers: Mapping[str, Provider]) -> tuple[Provider, str]:
    """`provider:model`. Names of local models contain colons too (`qwen:7b`), so only a known provider counts."""
    if not re.fullmatch(REF_PATTERN, ref):
        raise Invalid(f"{ref!r} is not a model: write provider:model, such as anthropic:claude-sonnet-4-5.")
    name, colon, model = ref.partition(":")
    if not colon:
        return providers["anthropic"], ref
    if name not in providers:
        known = ", ".join(sorted(providers))
        raise ModelUnknown(
            f"There is no provider called {name!r} (for {ref}).",
            hint=f"Known: {known}. Add one: forge models provider {name} --kind openai --url http://…",
        )
    return providers[name], model


def check_provider(provider: Provider) -> None:
    if not re.fullmatch(NAME_PATTERN, provider.name):
        raise Invalid("A provider's name is made of a-z, 0-9, - and _ (at most 32).", field="name")
    url = provider.base_url
    if url is not None and not url.startswith(("http://", "https://")):
        raise Invalid("The address starts with http:// or https://.", field="base_url")
    if provider.name not in BUILT_IN and url is None:
        raise Invalid("A provider of your own needs an address.", field="base_url")
