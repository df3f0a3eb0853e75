"""Which models a bot asks, and what is said when there is no key."""

from typing import Any

import pytest
from tests.bots.workshop import DEFAULT, ME, Workshop

from forge.bots.models import Identity, NewBot
from forge.llm import store as llm_store
from forge.llm.errors import ModelKeyRefused, ModelUnknown
from forge.llm.models import Role


async def refs(shop: Workshop, bot_id: str = "b", **said: Any) -> list[str]:
    identity = Identity(display_name="Atlas", **said)
    return [target.ref for target in await shop.readiness.targets(ME, bot_id, identity)]


async def choose(shop: Workshop, scope: str, *chain: str) -> None:
    async with shop.database.begin() as tx:
        await llm_store.save_chain(tx, ME, scope, Role.BOT, list(chain))


async def test_what_identity_says_comes_before_what_is_chosen(shop: Workshop):
    assert await refs(shop) == [f"anthropic:{DEFAULT}"]
    await choose(shop, "", "openai:gpt-5", "anthropic:claude-opus-4-6")
    assert await refs(shop) == ["openai:gpt-5", "anthropic:claude-opus-4-6"]
    await choose(shop, "bot:b", "anthropic:claude-opus-4-6")
    assert await refs(shop) == ["anthropic:claude-opus-4-6"]
    assert await refs(shop, "other") == ["openai:gpt-5", "anthropic:claude-opus-4-6"]
    assert await refs(shop, model="claude-haiku-4-5") == ["anthropic:claude-haiku-4-5"]
    assert await refs(shop, provider="openai", model="gpt-5-mini") == ["openai:gpt-5-mini"]
    with pytest.raises(ModelUnknown):
        await refs(shop, provider="nobody", model="x")


async def test_all_bots_at_once_are_told_the_same(shop: Workshop):
    made = [
        await shop.bots.create(ME, NewBot(name=f"bot {number}", model=model), by="Ada")
        for number, model in enumerate([None, "claude-opus-4-6", "nobody:knows", None])
    ]
    await choose(shop, "", "openai:gpt-5")
    await choose(shop, f"bot:{made[3].id}", "claude-haiku-4-5", "openai:gpt-5")
    found = await shop.readiness.models(ME, made)
    assert [found[bot.id].ref for bot in made] == [
        "openai:gpt-5",
        "anthropic:claude-opus-4-6",
        "nobody:knows",
        "anthropic:claude-haiku-4-5",
    ]
    assert [found[bot.id].problem is None for bot in made] == [True, True, False, True]
    for bot in (made[0], made[1], made[3]):
        targets = await shop.readiness.targets(ME, bot.id, bot.identity)
        assert targets[0].ref == found[bot.id].ref


async def test_without_a_key_one_line_says_what_to_do(shop: Workshop):
    identity = Identity(display_name="Atlas")
    with pytest.raises(ModelKeyRefused) as caught:
        await shop.readiness.check(ME, "b", identity)
    assert caught.value.message == "There is no key for anthropic: the secret ANTHROPIC_API_KEY is not set."
    assert caught.value.hint == (
        "Set it: forge secrets set ANTHROPIC_API_KEY, or Settings, Models. Without a key: forge models serve, then forge models demo."
    )
    shop.keys["ANTHROPIC_API_KEY"] = "sk-0123456789"
    assert [target.ref for target in await shop.readiness.check(ME, "b", identity)] == [
        f"anthropic:{DEFAULT}"
    ]
