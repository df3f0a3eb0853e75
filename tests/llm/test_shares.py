"""Providers that the owner of the server shares: whose key is used, at whose price, within which budget."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.gateway import GatewayUnderTest, open_gateway
from tests.support.models import StartModels

from forge.kernel.clock import now
from forge.llm import store as llm_store
from forge.llm.budgets import Spender
from forge.llm.errors import BudgetExceeded, ModelKeyRefused, ModelUnknown
from forge.llm.messages import user_message
from forge.llm.models import Price, Prompt, Provider, ProviderKind, Role, Share
from forge.store.database import Store

MEMBER = "ada"
MODEL = "team:scripted"
ANSWER: dict[str, Any] = {"scenes": {"only": {"turns": [{"text": "Hello."}], "after": "repeat"}}}
PROMPT = Prompt(system="You are a test.", messages=[user_message("Hi")], max_output=1000)
FREE = Price(input=0, output=0, cache_read=0, cache_write=0, overridden=True)


@pytest.fixture
def store_url(tmp_path: Path, new_database: Callable[[str, Path], str]) -> str:
    return new_database("sqlite", tmp_path)


async def share(gateway: GatewayUnderTest, day_usd: float, provider: str = "team") -> None:
    async with gateway.store.begin() as tx:
        await llm_store.save_share(tx, Share(provider=provider, day_micros=round(day_usd * 1_000_000)), now())


async def call(gateway: GatewayUnderTest, key: str = "step", model: str = MODEL) -> str:
    reply = await gateway.gateway.call(Spender(MEMBER, key), Role.BUILDER, PROMPT, model=model)
    return reply.message.text


async def test_member_cannot_use_a_provider_that_is_not_shared(store: Store, model_server: StartModels):
    server = model_server(ANSWER)
    async with open_gateway(store) as gateway:
        gateway.secrets["TEAM_KEY"] = "sk-of-the-owner"
        await gateway.add("team", server.url, key_name="TEAM_KEY")
        with pytest.raises(ModelUnknown):
            await call(gateway)
        with pytest.raises(ModelKeyRefused, match="There is no key for anthropic"):
            await call(gateway, model="anthropic:claude-sonnet-4-5")
        assert server.requests() == []
        async with store.read() as tx:
            assert await llm_store.list_calls(tx, MEMBER) == []


async def test_shared_provider_uses_the_key_of_the_owner(store: Store, model_server: StartModels):
    server = model_server({**ANSWER, "keys": ["sk-of-the-owner"]})
    async with open_gateway(store) as gateway:
        gateway.secrets |= {"TEAM_KEY": "sk-of-the-owner", f"{MEMBER}:TEAM_KEY": "sk-of-the-member"}
        await gateway.add("team", server.url, key_name="TEAM_KEY")
        await share(gateway, 5)
        assert await call(gateway) == "Hello."
        [shared] = [one for one in await gateway.budgets.spent(MEMBER, ["team"]) if one.budget == "shared"]
        assert (shared.provider, shared.limit_micros, shared.reserved_micros) == ("team", 5_000_000, 0)
        assert shared.spent_micros > 0
        with pytest.raises(ModelUnknown):
            await gateway.gateway.call(Spender(MEMBER, "other"), Role.BUILDER, PROMPT, model="other:scripted")


async def test_budget_of_a_share_holds_under_parallel_calls(store: Store, model_server: StartModels):
    server = model_server(ANSWER)
    async with open_gateway(store) as gateway:
        price = Price(input=0, output=1000, cache_read=0, cache_write=0, overridden=True)
        await gateway.add("team", server.url, price=price)  # at most one dollar a call
        await share(gateway, 3.5)
        results = await asyncio.gather(
            *(call(gateway, f"step-{number}") for number in range(20)), return_exceptions=True
        )
        refused = [one for one in results if isinstance(one, BudgetExceeded)]
        assert [one for one in results if not isinstance(one, str | BudgetExceeded)] == []
        assert all("shared provider" in one.message and "owner" in (one.hint or "") for one in refused)
        [shared] = [one for one in await gateway.budgets.spent(MEMBER, ["team"]) if one.budget == "shared"]
        assert shared.spent_micros <= shared.limit_micros
        assert len(server.requests()) == 20 - len(refused)
        assert refused


async def test_member_cannot_lower_the_price_of_a_shared_provider(store: Store, model_server: StartModels):
    server = model_server(ANSWER)
    async with open_gateway(store) as gateway:
        await gateway.add("team", server.url)
        await share(gateway, 0.0001)
        async with store.begin() as tx:
            await llm_store.save_price(tx, MEMBER, MODEL, FREE)
        with pytest.raises(BudgetExceeded):
            await call(gateway)


async def test_own_definition_of_a_provider_never_gets_the_key_of_the_owner(
    store: Store, model_server: StartModels
):
    owners, members = model_server(ANSWER), model_server(ANSWER)
    async with open_gateway(store) as gateway:
        gateway.secrets["TEAM_KEY"] = "sk-of-the-owner"
        await gateway.add("team", owners.url, key_name="TEAM_KEY")
        await share(gateway, 5)
        async with store.begin() as tx:
            own = Provider(
                name="team", kind=ProviderKind.ANTHROPIC, base_url=members.url, key_name="TEAM_KEY"
            )
            await llm_store.save_provider(tx, MEMBER, own)
            await llm_store.save_price(tx, MEMBER, MODEL, FREE)
        with pytest.raises(ModelKeyRefused):
            await call(gateway)
        assert members.requests() == owners.requests() == []


async def test_call_fails_when_sharing_was_stopped(store: Store, model_server: StartModels):
    server = model_server(ANSWER)
    async with open_gateway(store) as gateway:
        await gateway.add("team", server.url)
        await share(gateway, 5)
        await call(gateway, "before")
        async with store.begin() as tx:
            await llm_store.delete_share(tx, "team")
        with pytest.raises(ModelUnknown):
            await call(gateway, "after")
