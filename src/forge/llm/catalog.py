"""Which model a role uses: the bot's choice, else the account's, else the settings'."""

import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import SecretStr

from forge.errors import Invalid, NotFound
from forge.llm import store
from forge.llm.errors import ModelKeyRefused, ModelUnknown
from forge.llm.models import (
    NAME_PATTERN,
    REF_PATTERN,
    ChoiceSource,
    NewProvider,
    Price,
    Provider,
    ProviderKind,
    Role,
    RoleChoice,
)
from forge.llm.pricing import PriceBook, load_table
from forge.store.engine import Store, Tx
from forge.store.outage import survives_outage

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


@dataclass(frozen=True)
class Resolved:
    """A model that is wanted, and why it cannot be called if it cannot."""

    ref: str
    problem: ModelUnknown | Invalid | None = None


@dataclass(frozen=True)
class _Known:
    """What an account can call, and what that costs."""

    providers: Mapping[str, Provider]
    book: PriceBook


class Catalog:
    def __init__(self, database: Store, secrets: Secrets, defaults: Mapping[Role, str]) -> None:
        self._database = database
        self._secrets = secrets
        self._defaults = defaults

    @survives_outage
    async def chain(self, account_id: str, scope: str, role: Role) -> list[Target]:
        """The models of a role, in the order they are tried."""
        await load_table()
        async with self._database.read() as tx:
            refs, _ = self._refs(await store.list_chains(tx, account_id, ["", scope]), scope, role)
            return await self.targets(tx, account_id, refs)

    async def target(self, account_id: str, ref: str) -> Target:
        await load_table()
        async with self._database.read() as tx:
            return (await self.targets(tx, account_id, [ref]))[0]

    async def first_of_each(
        self, account_id: str, role: Role, wanted: Mapping[str, str | None]
    ) -> dict[str, Resolved]:
        """Which model each of these scopes calls first: the one it names itself, else its chain's. All at once, and
        what cannot be called is told, not raised."""
        await load_table()
        async with self._database.read() as tx:
            known = await self._known(tx, account_id)
            chains = await store.list_chains(tx, account_id)
        refs = {scope: own or self._refs(chains, scope, role)[0][0] for scope, own in wanted.items()}
        resolved = {ref: _resolved(ref, known) for ref in set(refs.values())}
        return {scope: resolved[ref] for scope, ref in refs.items()}

    async def targets(self, tx: Tx, account_id: str, refs: Sequence[str]) -> list[Target]:
        """Raises when one is written wrongly, unknown, or without a price."""
        known = await self._known(tx, account_id)
        return [_target(ref, known) for ref in refs]

    async def key(self, target: Target, account_id: str, scope: str) -> SecretStr | None:
        """Looked up at the moment it is used, and kept nowhere."""
        name = target.provider.key_name
        if name is None:
            return None
        try:
            return _sendable(await self._secrets(name, scope or f"account:{account_id}"), name)
        except NotFound as error:
            raise ModelKeyRefused(
                f"There is no key for {target.provider.name}: the secret {name} is not set.",
                hint=f"Set it: forge secrets set {name}, or Settings, Models.",
            ) from error

    async def choices(self, tx: Tx, account_id: str, scope: str = "") -> list[RoleChoice]:
        known = await self._known(tx, account_id)
        chains = await store.list_chains(tx, account_id, ["", scope])
        return [_choice(role, *self._refs(chains, scope, role), known) for role in Role]

    async def providers(self, tx: Tx, account_id: str) -> dict[str, Provider]:
        own = await store.list_providers(tx, account_id)
        return BUILT_IN | {
            provider.name: provider.model_copy(update={"built_in": provider.name in BUILT_IN})
            for provider in own
        }

    async def problems(self, account_id: str, refs: Collection[str]) -> dict[str, ModelUnknown | Invalid]:
        """What is wrong with these models, for those that cannot be used."""
        if not refs:
            return {}
        await load_table()
        async with self._database.read() as tx:
            known = await self._known(tx, account_id)
        resolved = (_resolved(ref, known) for ref in refs)
        return {each.ref: each.problem for each in resolved if each.problem}

    async def in_use(self, tx: Tx, account_id: str) -> dict[str, str]:
        """Every model that is chosen somewhere, with one of the places."""
        chosen = [
            (ref, f"the {role.value} of {scope}" if scope else f"the {role.value}")
            for (scope, role), chain in (await store.list_chains(tx, account_id)).items()
            for ref in chain
        ]
        default = [(ref, f"the settings, for the {role.value}") for role, ref in self._defaults.items()]
        providers = await self.providers(tx, account_id)
        return {_full(ref, providers): place for ref, place in [*default, *chosen]}

    async def _known(self, tx: Tx, account_id: str) -> _Known:
        prices = await store.list_prices(tx, account_id)
        return _Known(await self.providers(tx, account_id), PriceBook(prices))

    def _refs(self, chains: store.Chains, scope: str, role: Role) -> tuple[list[str], ChoiceSource]:
        if scope and (own := chains.get((scope, role))):
            return own, "bot"
        if chosen := chains.get(("", role)):
            return chosen, "account"
        return [self._defaults[role]], "default"


async def forget_choices(tx: Tx, scope: str) -> None:
    """Of a bot that is gone for good, in the transaction that ends it: what it chose could never be taken back."""
    await store.delete_chains(tx, scope)


def _sendable(key: SecretStr, name: str) -> SecretStr:
    """Without the line break it was pasted with. Anything else that a header cannot carry was never a key."""
    value = key.get_secret_value().strip()
    if not value.isascii() or not value.isprintable():
        raise ModelKeyRefused(
            f"The secret {name} cannot be a key: it has characters that no key has.",
            hint=f"Set it again: forge secrets set {name}, or Settings, Models.",
        )
    return SecretStr(value)


def _choice(role: Role, refs: list[str], source: ChoiceSource, known: _Known) -> RoleChoice:
    prices: list[Price | None] = []
    problem: str | None = None
    for ref in refs:
        try:
            prices.append(_target(ref, known).price)
        except (ModelUnknown, Invalid) as error:
            prices.append(None)
            problem = problem or error.message
    return RoleChoice(role=role, chain=refs, source=source, prices=prices, problem=problem)


def _target(ref: str, known: _Known) -> Target:
    provider, model = split_ref(ref, known.providers)
    return Target(provider, model, known.book.get(provider, model), known.book)


def _resolved(ref: str, known: _Known) -> Resolved:
    try:
        return Resolved(_target(ref, known).ref)
    except (ModelUnknown, Invalid) as error:
        return Resolved(ref, error)


def _full(ref: str, providers: Mapping[str, Provider]) -> str:
    """With its provider; left alone when that is unknown."""
    try:
        provider, model = split_ref(ref, providers)
    except (ModelUnknown, Invalid):
        return ref
    return f"{provider.name}:{model}"


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


def checked_provider(name: str, wanted: NewProvider) -> Provider:
    if not re.fullmatch(NAME_PATTERN, name):
        raise Invalid("A provider's name is made of a-z, 0-9, - and _ (at most 32).", field="name")
    provider = Provider(name=name, **wanted.model_dump(), built_in=name in BUILT_IN)
    if provider.base_url is not None:
        _check_url(provider.base_url)
    elif provider.name not in BUILT_IN:
        raise Invalid("A provider of your own needs an address.", field="base_url")
    if provider.name in BUILT_IN and provider.kind is not BUILT_IN[provider.name].kind:
        raise Invalid(
            f"{provider.name} speaks {BUILT_IN[provider.name].kind.value}'s API; add another provider for this one.",
            field="kind",
        )
    return provider


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_address = bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise Invalid(f"{url!r} is not an address.", field="base_url") from None
    if not is_address or not re.fullmatch(r"https?://[!-~]+", url):
        raise Invalid("The address starts with http:// or https:// and has no spaces.", field="base_url")
    if parts.username is not None or parts.password is not None:
        raise Invalid(
            "A key in an address is read by everybody who sees it: keep it in the vault.", field="base_url"
        )
