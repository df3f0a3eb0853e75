"""Resolve the models of a role: the bot's choice, else the account's, else the settings'."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from pydantic import SecretStr

from forge.errors import Invalid, NotFound
from forge.llm import store
from forge.llm.errors import ModelKeyRefused, ModelUnknown
from forge.llm.local_servers import SERVER_URLS
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
from forge.llm.prices import PriceTable, load_price_table
from forge.store.database import Store, Tx, survives_outage

Secrets = Callable[[str, str, str], Awaitable[SecretStr]]
"""Returns the value of a secret by account, name and scope; raises `NotFound`."""

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
    """A model that can be called, with its price."""

    provider: Provider
    model: str
    price: Price
    prices: PriceTable

    @property
    def ref(self) -> str:
        return f"{self.provider.name}:{self.model}"

    @property
    def writes_text_tool_calls(self) -> bool:
        chosen = self.price.text_tool_calls
        return self.provider.writes_text_tool_calls if chosen is None else chosen


@dataclass(frozen=True)
class Resolved:
    """A requested model, and the problem if it cannot be called."""

    ref: str
    problem: ModelUnknown | Invalid | None = None


@dataclass(frozen=True)
class _AccountModels:
    """The providers and prices of an account."""

    providers: Mapping[str, Provider]
    prices: PriceTable


@dataclass(frozen=True)
class Credential:
    """The API key for a call; None for endpoints without keys."""

    key: SecretStr | None
    is_shared: bool = False
    """Whether the owner of the server pays, within the budget of the share."""


class Catalog:
    def __init__(
        self, database: Store, secrets: Secrets, defaults: Mapping[Role, str], *, owner_id: str
    ) -> None:
        """The owner of the server can share providers with all other accounts."""
        self._database = database
        self._secrets = secrets
        self._defaults = defaults
        self._owner_id = owner_id

    @survives_outage
    async def chain(self, account_id: str, scope: str, role: Role) -> list[Target]:
        """Return the models of a role, in the order they are tried."""
        await load_price_table()
        async with self._database.read() as tx:
            refs, _ = self._refs(await store.list_chains(tx, account_id, ["", scope]), scope, role)
            return await self.targets(tx, account_id, refs)

    async def target(self, account_id: str, ref: str) -> Target:
        await load_price_table()
        async with self._database.read() as tx:
            return (await self.targets(tx, account_id, [ref]))[0]

    async def resolve_first(
        self, account_id: str, role: Role, wanted: Mapping[str, str | None]
    ) -> dict[str, Resolved]:
        """Return the first model of each scope: its own choice, else that of its chain. Problems are returned, not raised."""
        await load_price_table()
        async with self._database.read() as tx:
            known = await self._known(tx, account_id)
            chains = await store.list_chains(tx, account_id)
        refs = {scope: own or self._refs(chains, scope, role)[0][0] for scope, own in wanted.items()}
        resolved = {ref: _resolved(ref, known) for ref in set(refs.values())}
        return {scope: resolved[ref] for scope, ref in refs.items()}

    async def targets(self, tx: Tx, account_id: str, refs: Sequence[str]) -> list[Target]:
        """Return the targets; raise if a reference is malformed, unknown or has no price."""
        known = await self._known(tx, account_id)
        return [_target(ref, known) for ref in refs]

    async def credential(self, provider: Provider, account_id: str, scope: str) -> Credential:
        """Return the API key for a provider. It is looked up at each use and never cached."""
        name = provider.key_name
        if not provider.is_shared:
            return Credential(None if name is None else await self._key(account_id, provider, name, scope))
        # The account's own key must not be sent to an address that another account chose.
        if name is not None and provider.base_url is None:
            with suppress(ModelKeyRefused):
                return Credential(await self._key(account_id, provider, name, scope))
        key = None if name is None else await self._key(self._owner_id, provider, name, "")
        return Credential(key, is_shared=True)

    async def _key(self, account_id: str, provider: Provider, name: str, scope: str) -> SecretStr:
        try:
            secret = await self._secrets(account_id, name, scope or f"account:{account_id}")
        except NotFound as error:
            raise ModelKeyRefused(
                f"There is no key for {provider.name}: the secret {name} is not set.",
                hint=f"Set it: forge secrets set {name}, or Settings, Models.",
            ) from error
        return _header_safe(secret, name)

    async def choices(self, tx: Tx, account_id: str, scope: str = "") -> list[RoleChoice]:
        known = await self._known(tx, account_id)
        chains = await store.list_chains(tx, account_id, ["", scope])
        return [_choice(role, *self._refs(chains, scope, role), known) for role in Role]

    async def providers(self, tx: Tx, account_id: str) -> dict[str, Provider]:
        """Return the account's providers by name, including those the owner of the server shares with it.

        A provider that the account defined itself replaces a shared one: the owner's key is only sent to addresses
        that the owner chose.
        """
        return BUILT_IN | await self._shared(tx, account_id) | await self._own_providers(tx, account_id)

    async def _own_providers(self, tx: Tx, account_id: str) -> dict[str, Provider]:
        return {
            provider.name: provider.model_copy(update={"built_in": provider.name in BUILT_IN})
            for provider in await store.list_providers(tx, account_id)
        }

    async def _shared(self, tx: Tx, account_id: str) -> dict[str, Provider]:
        if account_id == self._owner_id or not (shares := await store.list_shares(tx)):
            return {}
        of_owner = BUILT_IN | await self._own_providers(tx, self._owner_id)
        return {
            name: of_owner[name].model_copy(update={"is_shared": True}) for name in shares if name in of_owner
        }

    async def prices(self, tx: Tx, account_id: str, providers: Mapping[str, Provider]) -> PriceTable:
        """Return the account's prices. Those of shared providers are the owner's, because the owner pays."""
        own = await store.list_prices(tx, account_id)
        shared = {name for name, provider in providers.items() if provider.is_shared}
        if not shared:
            return PriceTable(own)
        of_owner = await store.list_prices(tx, self._owner_id)
        return PriceTable(
            {ref: price for ref, price in own.items() if ref.partition(":")[0] not in shared}
            | {ref: price for ref, price in of_owner.items() if ref.partition(":")[0] in shared}
        )

    async def problems(self, account_id: str, refs: Collection[str]) -> dict[str, ModelUnknown | Invalid]:
        """Return the problems of those models that cannot be used."""
        if not refs:
            return {}
        await load_price_table()
        async with self._database.read() as tx:
            known = await self._known(tx, account_id)
        resolved = (_resolved(ref, known) for ref in refs)
        return {each.ref: each.problem for each in resolved if each.problem}

    async def in_use(self, tx: Tx, account_id: str) -> dict[str, str]:
        """Return every chosen model with a description of where it is chosen."""
        chosen = [
            (ref, f"the {role.value} of {scope}" if scope else f"the {role.value}")
            for (scope, role), chain in (await store.list_chains(tx, account_id)).items()
            for ref in chain
        ]
        default = [(ref, f"the settings, for the {role.value}") for role, ref in self._defaults.items()]
        providers = await self.providers(tx, account_id)
        return {_with_provider(ref, providers): location for ref, location in [*default, *chosen]}

    async def _known(self, tx: Tx, account_id: str) -> _AccountModels:
        providers = await self.providers(tx, account_id)
        return _AccountModels(providers, await self.prices(tx, account_id, providers))

    def _refs(self, chains: store.Chains, scope: str, role: Role) -> tuple[list[str], ChoiceSource]:
        if scope and (own := chains.get((scope, role))):
            return own, "bot"
        if chosen := chains.get(("", role)):
            return chosen, "account"
        return [self._defaults[role]], "default"


async def forget_choices(tx: Tx, scope: str) -> None:
    """Delete the choices of a deleted bot, in the transaction that deletes it."""
    await store.delete_chains(tx, scope)


def _header_safe(key: SecretStr, name: str) -> SecretStr:
    """Strip whitespace from a pasted key. Raise if it contains characters that an HTTP header must not."""
    value = key.get_secret_value().strip()
    if not value.isascii() or not value.isprintable():
        raise ModelKeyRefused(
            f"The secret {name} is not a valid API key: it contains unsupported characters.",
            hint=f"Set it again: forge secrets set {name}, or Settings, Models.",
        )
    return SecretStr(value)


def _choice(role: Role, refs: list[str], source: ChoiceSource, known: _AccountModels) -> RoleChoice:
    prices: list[Price | None] = []
    problem: str | None = None
    for ref in refs:
        try:
            prices.append(_target(ref, known).price)
        except (ModelUnknown, Invalid) as error:
            prices.append(None)
            problem = problem or error.message
    return RoleChoice(role=role, chain=refs, source=source, prices=prices, problem=problem)


def _target(ref: str, known: _AccountModels) -> Target:
    provider, model = split_ref(ref, known.providers)
    return Target(provider, model, known.prices.get(provider, model), known.prices)


def _resolved(ref: str, known: _AccountModels) -> Resolved:
    try:
        return Resolved(_target(ref, known).ref)
    except (ModelUnknown, Invalid) as error:
        return Resolved(ref, error)


def _with_provider(ref: str, providers: Mapping[str, Provider]) -> str:
    """Add the provider to a reference; return it unchanged if the provider is unknown."""
    try:
        provider, model = split_ref(ref, providers)
    except (ModelUnknown, Invalid):
        return ref
    return f"{provider.name}:{model}"


def split_ref(ref: str, providers: Mapping[str, Provider]) -> tuple[Provider, str]:
    """Split `provider:model`. Names of local models contain colons too (`qwen:7b`), so the provider must be known."""
    if not re.fullmatch(REF_PATTERN, ref):
        raise Invalid(
            f"{ref!r} is not a valid model: use provider:model, such as anthropic:claude-sonnet-4-5."
        )
    name, colon, model = ref.partition(":")
    if not colon:
        return providers["anthropic"], ref
    if name not in providers:
        known = ", ".join(sorted(providers))
        raise ModelUnknown(
            f"There is no provider named {name!r} (in {ref}).",
            hint=f"Known: {known}. Add one: forge models provider {name} --url http://…",
        )
    return providers[name], model


def checked_provider(name: str, wanted: NewProvider, before: Provider | None = None) -> Provider:
    """Validate a provider and complete it: with the defaults of a known server, or what was detected before."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise Invalid("A provider name may contain a-z, 0-9, - and _ (at most 32 characters).", field="name")
    provider = Provider(name=name, **wanted.model_dump(), built_in=name in BUILT_IN)
    if provider.server is not None and provider.kind is not ProviderKind.OPENAI:
        raise Invalid("Servers for local models have the openai API.", field="server")
    if provider.base_url is None and provider.server is not None:
        provider = provider.model_copy(update={"base_url": SERVER_URLS[provider.server]})
    if before is not None and before.base_url == provider.base_url:
        kept = {"server": provider.server or before.server, "parallel": provider.parallel or before.parallel}
        provider = provider.model_copy(update=kept)
    if provider.server is not None and provider.parallel is None:
        provider = provider.model_copy(update={"parallel": 1})
    if provider.base_url is not None:
        _check_url(provider.base_url)
    elif provider.name not in BUILT_IN:
        raise Invalid("A custom provider needs a base URL.", field="base_url")
    if provider.name in BUILT_IN and provider.kind is not BUILT_IN[provider.name].kind:
        raise Invalid(
            f"{provider.name} uses the {BUILT_IN[provider.name].kind.value} API; add another provider for a different API.",
            field="kind",
        )
    return provider


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_address = bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise Invalid(f"{url!r} is not a valid URL.", field="base_url") from None
    if not is_address or not re.fullmatch(r"https?://[!-~]+", url):
        raise Invalid(
            "The base URL must start with http:// or https:// and contain no spaces.", field="base_url"
        )
    if parts.username is not None or parts.password is not None:
        raise Invalid(
            "The base URL must not contain credentials: store the key in the vault.", field="base_url"
        )


async def supports_temperature(kind: ProviderKind, model: str) -> bool:
    """Return whether a model accepts a temperature. The model profiles take seconds to import, so import them lazily
    and in a thread."""
    return await asyncio.to_thread(
        _claude_supports_temperature if kind is ProviderKind.ANTHROPIC else _gpt_supports_temperature, model
    )


def _claude_supports_temperature(model: str) -> bool:
    from pydantic_ai.profiles.anthropic import AnthropicModelProfile
    from pydantic_ai.providers.anthropic import AnthropicProvider

    profile = AnthropicModelProfile(**(AnthropicProvider.model_profile(model) or {}))
    return not profile.get("anthropic_disallows_sampling_settings", False)


def _gpt_supports_temperature(model: str) -> bool:
    from pydantic_ai.profiles.openai import OpenAIModelProfile
    from pydantic_ai.providers.openai import OpenAIProvider

    profile = OpenAIModelProfile(**(OpenAIProvider.model_profile(model) or {}))
    if not profile.get("openai_supports_reasoning", False):
        return True
    efforts = profile.get("openai_reasoning_efforts")
    can_disable_reasoning = (
        profile.get("openai_supports_reasoning_effort_none", False) if efforts is None else "none" in efforts
    )
    return can_disable_reasoning and not profile.get("thinking_enabled_by_default", False)
