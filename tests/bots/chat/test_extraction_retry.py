"""The extraction of facts survives an outage of the provider. On both databases."""

from typing import Any

import pytest
from tests.support.chat_client import data, open_bot_client
from tests.support.live_forge import Live
from tests.support.models import StartModels

from forge.bots.chat import completion
from forge.bots.chat.completion import EXCHANGES_PER_EXTRACTION
from forge.bots.chat.side_calls import RETRY
from forge.runs.attempt import Retry

FACT = {
    "quote": "I am allergic to hazelnuts.",
    "fact": "The person is allergic to hazelnuts.",
    "category": "fact",
    "importance": 5,
}


def script(faults: int) -> dict[str, Any]:
    kept = {"tools": [{"answer": {"facts": [FACT]}}], "fault": {"kind": "529", "times": faults}}
    return {
        "scenes": {
            "facts": {"match": {"system": "long-term memory"}, "turns": [kept]},
            "titles": {"match": {"system": "Give the conversation"}, "turns": [{"text": "Cakes"}]},
            "talk": {"turns": [{"text": "I see."}], "after": "repeat"},
        }
    }


@pytest.fixture(autouse=True)
def short_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the number of attempts, but shorten the delays."""
    for name in ("RETRY", "EXTRACTION_RETRY"):
        original: Retry = getattr(completion, name)
        monkeypatch.setattr(
            completion, name, Retry(attempts=original.attempts, first_delay_s=0.01, factor=1.0)
        )


async def test_extraction_is_retried_after_outage(live_forge: Live, model_server: StartModels):
    async with live_forge.client() as client:
        bot = await open_bot_client(
            client, model_server(script(faults=completion.EXTRACTION_RETRY.attempts - 1))
        )
        answer = await bot.say("I am allergic to hazelnuts.")
        await bot.post(f"/sessions/{answer['session_id']}/remember")
        await bot.wait_until_idle()
        assert [one["fact"] for one in data(await client.get("/api/v1/bots/ada/memories"))] == [FACT["fact"]]


async def test_failed_extraction_releases_messages(live_forge: Live, model_server: StartModels):
    async with live_forge.client() as client:
        bot = await open_bot_client(client, model_server(script(faults=RETRY.attempts)))
        session_id = (await bot.say("I am allergic to hazelnuts."))["session_id"]
        for _ in range(EXCHANGES_PER_EXTRACTION - 1):
            await bot.say("Go on.", session_id)
        await bot.wait_until_idle()
        assert data(await client.get("/api/v1/bots/ada/memories")) == []
        await bot.post(f"/sessions/{session_id}/remember")
        await bot.wait_until_idle()
        assert [one["fact"] for one in data(await client.get("/api/v1/bots/ada/memories"))] == [FACT["fact"]]


async def test_invalid_extraction_is_not_retried_for_hours(live_forge: Live, model_server: StartModels):
    server = model_server({"scenes": {"talk": {"turns": [{"text": "I see."}], "after": "repeat"}}})
    async with live_forge.client() as client:
        bot = await open_bot_client(client, server)
        answer = await bot.say("I am allergic to hazelnuts.")
        await bot.post(f"/sessions/{answer['session_id']}/remember")
        await bot.wait_until_idle()
    requests = [entry for entry in server.requests() if "long-term memory" in str(entry.body.get("system"))]
    assert len(requests) == 2  # one attempt and one correction
