"""The models of a bot, and the error without an API key."""

from typing import Any

import pytest
from tests.bots.environment import DEFAULT, ME, BotEnvironment

from forge.bots.models import Identity, NewBot
from forge.llm import store as llm_store
from forge.llm.errors import ModelKeyRefused, ModelUnknown
from forge.llm.models import Role


async def refs(env: BotEnvironment, bot_id: str = "b", **fields: Any) -> list[str]:
    identity = Identity(display_name="Atlas", **fields)
    return [target.ref for target in await env.readiness.targets(ME, bot_id, identity)]


async def choose(env: BotEnvironment, scope: str, *chain: str) -> None:
    async with env.database.begin() as tx:
        await llm_store.save_chain(tx, ME, scope, Role.BOT, list(chain))


async def test_model_of_identity_overrides_default(env: BotEnvironment):
    assert await refs(env) == [f"anthropic:{DEFAULT}"]
    await choose(env, "", "openai:gpt-5", "anthropic:claude-opus-4-6")
    assert await refs(env) == ["openai:gpt-5", "anthropic:claude-opus-4-6"]
    await choose(env, "bot:b", "anthropic:claude-opus-4-6")
    assert await refs(env) == ["anthropic:claude-opus-4-6"]
    assert await refs(env, "other") == ["openai:gpt-5", "anthropic:claude-opus-4-6"]
    assert await refs(env, model="claude-haiku-4-5") == ["anthropic:claude-haiku-4-5"]
    assert await refs(env, provider="openai", model="gpt-5-mini") == ["openai:gpt-5-mini"]
    with pytest.raises(ModelUnknown):
        await refs(env, provider="nobody", model="x")


async def test_models_of_many_bots_match_single_lookups(env: BotEnvironment):
    created = [
        await env.bots.create(ME, NewBot(name=f"bot {number}", model=model), by="Ada")
        for number, model in enumerate([None, "claude-opus-4-6", "nobody:knows", None])
    ]
    await choose(env, "", "openai:gpt-5")
    await choose(env, f"bot:{created[3].id}", "claude-haiku-4-5", "openai:gpt-5")
    found = await env.readiness.models(ME, created)
    assert [found[bot.id].ref for bot in created] == [
        "openai:gpt-5",
        "anthropic:claude-opus-4-6",
        "nobody:knows",
        "anthropic:claude-haiku-4-5",
    ]
    assert [found[bot.id].problem is None for bot in created] == [True, True, False, True]
    for bot in (created[0], created[1], created[3]):
        targets = await env.readiness.targets(ME, bot.id, bot.identity)
        assert targets[0].ref == found[bot.id].ref


async def test_missing_key_is_reported_with_hint(env: BotEnvironment):
    identity = Identity(display_name="Atlas")
    with pytest.raises(ModelKeyRefused) as caught:
        await env.readiness.check(ME, "b", identity)
    assert caught.value.message == "There is no key for anthropic: the secret ANTHROPIC_API_KEY is not set."
    assert caught.value.hint == (
        "Set it: forge secrets set ANTHROPIC_API_KEY, or Settings, Models. Without a key: forge models serve, then forge models demo."
    )
    env.keys["ANTHROPIC_API_KEY"] = "sk-0123456789"
    assert [target.ref for target in await env.readiness.check(ME, "b", identity)] == [f"anthropic:{DEFAULT}"]
