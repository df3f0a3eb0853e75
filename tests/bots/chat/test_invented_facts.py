"""Facts that a weak model invents about a person are not stored. On both databases."""

import httpx2
import pytest
from tests.support.chat_client import PRICE, BotClient, data
from tests.support.live_forge import Live
from tests.support.models import ModelServer, StartModels

from forge.demo.model_script import find_script

SAID = "I cook for two on Sundays.  I can't stand\ncoriander!"


async def remember(client: httpx2.AsyncClient, server: ModelServer, model: str) -> list[str]:
    """Chat with a bot, extract facts from the conversation, and return the memories."""
    provider = {"kind": "openai", "base_url": f"{server.url}/v1"}
    data(await client.put("/api/v1/models/providers/small", json=provider))
    data(await client.put("/api/v1/models/prices", params={"model": f"small:{model}"}, json=PRICE))
    for role in ("bot", "utility"):
        data(await client.put(f"/api/v1/models/roles/{role}", json={"chain": [f"small:{model}"]}))
    bot = BotClient(client, data(await client.post("/api/v1/bots", json={"name": "Ada"}))["slug"])
    answer = await bot.say(SAID)
    await bot.post(f"/sessions/{answer['session_id']}/remember")
    await bot.wait_until_idle()
    return [one["fact"] for one in data(await client.get("/api/v1/bots/ada/memories"))]


@pytest.mark.parametrize(
    ("model", "remembered"),
    [("weak-facts", ["The person dislikes coriander."]), ("weak-facts-unquoted", [])],
)
async def test_only_facts_backed_by_a_quote_are_remembered(
    live_forge: Live, model_server: StartModels, model: str, remembered: list[str]
):
    server = model_server(find_script("weak"))
    async with live_forge.client() as client:
        assert await remember(client, server, model) == remembered
    extractions = [entry for entry in server.requests() if entry.scene and "invented" in entry.scene]
    assert len(extractions) == 1  # a dropped fact is no reason for another call
