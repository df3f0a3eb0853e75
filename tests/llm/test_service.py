"""Choices of models, providers and prices, on both databases."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime

import pytest
from pydantic import SecretStr
from tests.support.models import KEY, StartModels

from forge.errors import Conflict, ForgeError, Invalid, NotFound
from forge.llm.budgets import BudgetLimits, Budgets
from forge.llm.catalog import Catalog
from forge.llm.errors import ModelUnknown
from forge.llm.gateway import Gateway
from forge.llm.models import NewPrice, NewProvider, Price, ProviderKind, Role, Usage
from forge.llm.service import Models
from forge.store.database import Store
from forge.store.pagination import Cursor
from forge.telemetry import Metrics

ME = "me"
DEFAULTS = dict.fromkeys(Role, "claude-sonnet-4-5")
FREE = NewPrice(input=0, output=0, context_window=32_000)
DEAR = NewPrice(input=3, output=15)


OWNER = "owner"


class Keys:
    """The secrets of the vault by name."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    async def resolve(self, _account_id: str, name: str, _scope: str) -> SecretStr:
        if name not in self.values:
            raise NotFound(f"{name} is not set.")
        return SecretStr(self.values[name])

    async def last_four(self, _account_id: str, name: str, _scope: str) -> str | None:
        value = self.values.get(name)
        return None if value is None else value[-4:]


@pytest.fixture
def keys() -> Keys:
    return Keys()


@pytest.fixture
async def models(store: Store, keys: Keys) -> AsyncIterator[Models]:
    catalog = Catalog(store, keys.resolve, DEFAULTS, owner_id=OWNER)
    gateway = Gateway(catalog, Budgets(store, BudgetLimits(10, 50, 200)), Metrics(version="0"))
    yield Models(store, catalog, gateway, keys.last_four)
    await gateway.close()


AddLocal = Callable[[str], Awaitable[None]]


@pytest.fixture
def add_local(models: Models) -> AddLocal:
    """A provider called `local` with a free model called `tiny`."""

    async def add(url: str = "http://127.0.0.1:1/v1") -> None:
        await models.save_provider(ME, "local", NewProvider(kind=ProviderKind.OPENAI, base_url=url))
        await models.set_price(ME, "local:tiny", FREE)

    return add


async def chain_of(models: Models, role: Role, scope: str = "") -> tuple[list[str], str]:
    choice = next(choice for choice in (await models.view(ME, scope)).roles if choice.role is role)
    return choice.chain, choice.source


async def refused(doing: Awaitable[object]) -> tuple[type[ForgeError], str]:
    with pytest.raises(ForgeError) as caught:
        await doing
    return type(caught.value), f"{caught.value.message} {caught.value.hint or ''}"


async def test_roles_have_defaults_and_no_key_at_first(models: Models):
    view = await models.view(ME)
    assert [choice.role for choice in view.roles] == list(Role)
    assert {choice.source for choice in view.roles} == {"default"}
    assert {choice.problem for choice in view.roles} == {
        "There is no key for anthropic: ANTHROPIC_API_KEY is not set."
    }
    assert [(found.name, found.has_key) for found in view.providers] == [
        ("anthropic", False),
        ("openai", False),
    ]
    assert [(spent.budget, spent.limit_micros) for spent in view.budgets] == [
        ("run", 10_000_000),
        ("day", 50_000_000),
        ("server", 200_000_000),
    ]
    assert (view.prices, view.today_by_model) == ({}, {})
    assert "anthropic:claude-sonnet-4-5" in view.known
    assert not [ref for ref in view.known if "image" in ref or "embedding" in ref]


async def test_stored_key_shows_last_four_and_clears_problem(models: Models, keys: Keys):
    keys.values["ANTHROPIC_API_KEY"] = "sk-ant-0123456789"
    view = await models.view(ME)
    assert (view.providers[0].has_key, view.providers[0].last_four) == (True, "6789")
    assert {choice.problem for choice in view.roles} == {None}


async def test_chain_is_set_and_reset(models: Models):
    chain = ["anthropic:claude-opus-4-6", "openai:gpt-5"]
    chosen = await models.set_chain(ME, Role.BUILDER, chain)
    assert (chosen.chain, chosen.source, chosen.problem) == (chain, "account", None)
    assert [price and price.input for price in chosen.prices] == [5.0, 1.25]
    assert await chain_of(models, Role.BUILDER) == (chain, "account")
    assert await chain_of(models, Role.PLANNER) == (["claude-sonnet-4-5"], "default")
    assert (await models.reset_chain(ME, Role.BUILDER)).source == "default"


async def test_default_provider_is_anthropic(models: Models):
    assert (await models.set_chain(ME, Role.BOT, ["claude-opus-4-6"])).chain == ["anthropic:claude-opus-4-6"]


async def test_bot_choice_does_not_affect_the_account(models: Models):
    await models.set_chain(ME, Role.BOT, ["claude-opus-4-6"])
    await models.set_chain(ME, Role.BOT, ["openai:gpt-5"], "bot:atlas")
    assert await chain_of(models, Role.BOT) == (["anthropic:claude-opus-4-6"], "account")
    assert await chain_of(models, Role.BOT, "bot:atlas") == (["openai:gpt-5"], "bot")
    assert await chain_of(models, Role.BOT, "bot:other") == (["anthropic:claude-opus-4-6"], "account")
    assert (await models.reset_chain(ME, Role.BOT, "bot:atlas")).chain == ["anthropic:claude-opus-4-6"]


async def test_choices_are_private_to_the_account(models: Models):
    await models.set_chain("you", Role.BOT, ["openai:gpt-5"])
    await models.set_budget("you", "day", 1)
    assert await chain_of(models, Role.BOT) == (["claude-sonnet-4-5"], "default")
    assert (await models.view(ME)).budgets[1].limit_micros == 50_000_000


@pytest.mark.parametrize(
    ("chain", "kind", "words"),
    [
        (["nobody:model"], ModelUnknown, "forge models provider nobody"),
        (["anthropic:claude-nobody-knows"], ModelUnknown, "forge models price anthropic:claude-nobody-knows"),
        (["claude-sonnet-4-5", "openai:nope"], ModelUnknown, "forge models price openai:nope"),
        (["two words"], Invalid, "provider:model"),
        ([""], Invalid, "provider:model"),
        (["anthropic:\x00"], Invalid, "provider:model"),
        (["anthropic:\ud800"], Invalid, "provider:model"),
        (["claude-sonnet-4-5", "anthropic:claude-sonnet-4-5"], Invalid, "twice"),
    ],
)
async def test_chain_with_unusable_model_is_rejected(
    models: Models, chain: list[str], kind: type[ForgeError], words: str
):
    found, said = await refused(models.set_chain(ME, Role.BUILDER, chain))
    assert (found, words in said) == (kind, True), said
    assert (await chain_of(models, Role.BUILDER))[1] == "default"


async def test_rejection_names_the_position(models: Models):
    with pytest.raises(ModelUnknown) as caught:
        await models.set_chain(ME, Role.BUILDER, ["claude-sonnet-4-5", "openai:nope"])
    assert caught.value.field == "chain.1"


async def test_price_makes_a_model_usable(models: Models, add_local: AddLocal):
    await add_local("http://127.0.0.1:11434/v1")
    assert (await models.set_chain(ME, Role.BUILDER, ["local:tiny"])).prices == [
        Price(input=0, output=0, cache_read=0, cache_write=0, context_window=32_000, overridden=True)
    ]
    view = await models.view(ME)
    assert list(view.prices) == ["local:tiny"]
    assert "local:tiny" in view.known


async def test_cached_tokens_cost_the_input_price_by_default(models: Models):
    said = NewPrice(input=2, output=8, cache_read=0.2, context_window=32_000)
    price = await models.set_price(ME, "claude-mine", said)
    assert price == Price(
        input=2, output=8, cache_read=0.2, cache_write=2, context_window=32_000, overridden=True
    )
    assert (await models.view(ME)).prices == {"anthropic:claude-mine": price}


async def test_choice_about_text_tool_calls_is_kept_until_it_is_changed(models: Models):
    new = NewPrice(input=1, output=2, context_window=32_000)
    assert (await models.set_price(ME, "claude-mine", new)).text_tool_calls is None
    chosen = NewPrice(text_tool_calls=True)
    assert (await models.set_price(ME, "claude-mine", chosen)).text_tool_calls is True
    assert (await models.set_price(ME, "claude-mine", new)).text_tool_calls is True
    other = NewPrice(text_tool_calls=False)
    assert (await models.set_price(ME, "claude-mine", other)).text_tool_calls is False


async def test_custom_price_overrides_the_table_until_removed(models: Models):
    await models.set_price(ME, "claude-sonnet-4-5", NewPrice(input=1, output=2))
    assert (await models.view(ME)).roles[0].prices[0] == Price(
        input=1, output=2, cache_read=1, cache_write=1, context_window=200_000, overridden=True
    )
    await models.remove_price(ME, "anthropic:claude-sonnet-4-5")
    found = (await models.view(ME)).roles[0].prices[0]
    assert found and (found.input, found.overridden) == (3.0, False)
    assert (await refused(models.remove_price(ME, "claude-sonnet-4-5")))[0] is NotFound


async def test_price_in_use_cannot_be_removed(models: Models, add_local: AddLocal):
    await add_local("http://127.0.0.1:11434/v1")
    await models.set_chain(ME, Role.AUDITOR, ["claude-sonnet-4-5", "local:tiny"])
    kind, said = await refused(models.remove_price(ME, "local:tiny"))
    assert (kind, "the auditor" in said) == (Conflict, True), said
    assert "local:tiny" in (await models.view(ME)).prices


async def test_provider_in_use_cannot_be_removed(models: Models, add_local: AddLocal):
    await add_local("http://127.0.0.1:11434/v1")
    await models.set_chain(ME, Role.BOT, ["local:tiny"], "bot:atlas")
    kind, said = await refused(models.remove_provider(ME, "local"))
    assert (kind, "the bot of bot:atlas" in said) == (Conflict, True), said
    await models.reset_chain(ME, Role.BOT, "bot:atlas")
    assert (await models.remove_provider(ME, "local")).name == "local"
    assert (await refused(models.remove_provider(ME, "local")))[0] is NotFound


async def test_built_in_provider_url_can_be_overridden_and_reset(models: Models):
    elsewhere = NewProvider(kind=ProviderKind.ANTHROPIC, base_url="http://gateway.test", key_name="GATE")
    kind, said = await refused(models.save_provider(ME, "anthropic", elsewhere))
    assert (kind, "forge models price anthropic:claude-sonnet-4-5" in said) == (Conflict, True), said
    assert (await models.view(ME)).providers[0].base_url is None
    await models.set_price(ME, "claude-sonnet-4-5", DEAR)
    moved = await models.save_provider(ME, "anthropic", elsewhere)
    assert (moved.base_url, moved.key_name, moved.built_in) == ("http://gateway.test", "GATE", True)
    assert (await models.remove_provider(ME, "anthropic")).base_url == "http://gateway.test"
    assert (await models.view(ME)).providers[0].base_url is None
    assert (await refused(models.remove_provider(ME, "anthropic")))[0] is NotFound


@pytest.mark.parametrize(
    ("name", "url", "field"),
    [
        ("Local", "http://127.0.0.1:1", "name"),
        ("a" * 33, "http://127.0.0.1:1", "name"),
        ("local", None, "base_url"),
        ("local", "ftp://127.0.0.1", "base_url"),
        ("local", "http://", "base_url"),
        ("local", "http://[::1", "base_url"),
        ("local", "http://host:99999", "base_url"),
        ("local", "http://host/a b", "base_url"),
        ("local", "http://host/\x00", "base_url"),
        ("local", "http://me:secret@host", "base_url"),
        ("anthropic", "http://127.0.0.1:1", "kind"),
    ],
)
async def test_invalid_provider_is_rejected(models: Models, name: str, url: str | None, field: str):
    with pytest.raises(Invalid) as caught:
        await models.save_provider(ME, name, NewProvider(kind=ProviderKind.OPENAI, base_url=url))
    assert caught.value.field == field
    assert "secret" not in caught.value.message


async def test_budgets_are_set_in_dollars(models: Models):
    assert (await models.set_budget(ME, "day", 2.5)).limit_micros == 2_500_000
    assert (await models.set_budget(ME, "run", 0)).limit_micros == 0
    assert [spent.limit_micros for spent in (await models.view(ME)).budgets] == [0, 2_500_000, 200_000_000]


async def test_test_call_is_recorded(models: Models, keys: Keys, model_server: StartModels):
    server = model_server()
    keys.values["SCRIPTED"] = KEY
    provider = NewProvider(kind=ProviderKind.ANTHROPIC, base_url=server.url, key_name="SCRIPTED")
    await models.save_provider(ME, "scripted", provider)
    await models.set_price(ME, "scripted:actor", DEAR)
    result = await models.test(ME, "scripted:actor")
    assert (result.ok, result.code, bool(result.answer)) == (True, None, True)
    [call] = (await models.calls(ME)).items
    assert (call.role, call.provider, call.model, call.run_id) == (Role.UTILITY, "scripted", "actor", None)
    assert (result.cost_micros, result.latency_ms) == (call.cost_micros, call.latency_ms)
    assert result.cost_micros > 0
    assert (await models.view(ME)).today_by_model == {"scripted:actor": call.cost_micros}


async def test_model_problem_is_a_test_result(models: Models, keys: Keys, add_local: AddLocal):
    await add_local("http://127.0.0.1:1/v1")
    found = {
        ref: await models.test(ME, ref) for ref in ("local:tiny", "claude-sonnet-4-5", "nobody:x", "\x00")
    }
    assert {ref: (result.ok, result.code) for ref, result in found.items()} == {
        "local:tiny": (False, "model_fault"),
        "claude-sonnet-4-5": (False, "model_key"),
        "nobody:x": (False, "model_unknown"),
        "\x00": (False, "invalid"),
    }
    assert "forge secrets set ANTHROPIC_API_KEY" in (found["claude-sonnet-4-5"].hint or "")
    await models.set_budget(ME, "day", 0)
    keys.values["ANTHROPIC_API_KEY"] = "sk-ant-0123456789"
    assert (await models.test(ME, "claude-sonnet-4-5")).code == "budget"


@pytest.mark.parametrize(
    ("key", "code"),
    [("schlüssel-ключ", "model_key"), ("two\nlines", "model_key"), (f"{KEY}\n", None)],
)
async def test_invalid_key_is_rejected_and_trailing_newline_stripped(
    models: Models, keys: Keys, model_server: StartModels, key: str, code: str | None
):
    server = model_server()
    for kind in ProviderKind:
        keys.values["ODD"] = key
        url = server.url if kind is ProviderKind.ANTHROPIC else f"{server.url}/v1"
        provider = NewProvider(kind=kind, base_url=url, key_name="ODD")
        await models.save_provider(ME, "odd", provider)
        await models.set_price(ME, "odd:actor", FREE)
        assert (await models.test(ME, "odd:actor")).code == code


async def test_calls_are_paged_newest_first(models: Models, add_local: AddLocal):
    await add_local("http://127.0.0.1:1/v1")
    for _ in range(3):
        await models.test(ME, "local:tiny")
    first = await models.calls(ME, limit=2)
    rest = await models.calls(ME, cursor=Cursor.decode(first.next_cursor), limit=2)
    calls = [*first.items, *rest.items]
    assert (len(calls), rest.next_cursor) == (3, None)
    assert calls == sorted(calls, key=lambda call: (call.started_at, call.id), reverse=True)
    assert {(call.error, call.usage) for call in calls} == {("model_fault", Usage())}
    assert (await models.calls(ME, run_id="another")).items == []
    assert (await models.calls("you")).items == []


async def test_today_starts_at_midnight(store: Store, keys: Keys, add_local: AddLocal, models: Models):
    await add_local("http://127.0.0.1:1/v1")
    await models.test(ME, "local:tiny")
    catalog = Catalog(store, keys.resolve, DEFAULTS, owner_id=OWNER)
    gateway = Gateway(catalog, Budgets(store, BudgetLimits(10, 50, 200)), Metrics(version="0"))
    later = Models(store, catalog, gateway, keys.last_four, clock=lambda: datetime(2100, 1, 1, tzinfo=UTC))
    assert list((await models.view(ME)).today_by_model) == ["local:tiny"]
    assert (await later.view(ME)).today_by_model == {}
