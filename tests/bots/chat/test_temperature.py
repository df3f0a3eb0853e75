"""The shown temperature is the one sent to the model; some models accept none."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support.chat_client import PRICE, data, open_bot_client
from tests.support.live_forge import Live
from tests.support.models import StartModels

MODELS = {
    "anthropic": ("claude-opus-4-6", "claude-opus-4-7", "claude-sonnet-5"),
    "openai": ("gpt-4o", "gpt-5", "gpt-5.1", "o3", "llama3"),
}
SCRIPT = {"scenes": {"talk": {"turns": [{"text": "Tea."}], "after": "repeat"}}}


@pytest.fixture
def database_url(tmp_path: Path, new_database: Callable[[str, Path], str]) -> str:
    """Use SQLite only: this test checks what is sent, not how it is stored."""
    return new_database("sqlite", tmp_path / "data")


async def test_shown_temperature_is_the_sent_one(live_forge: Live, model_server: StartModels):
    server = model_server(SCRIPT)
    temperatures: dict[str, tuple[float | None, float | None]] = {}
    async with live_forge.client() as client:
        bot = await open_bot_client(client, server)
        for kind, names in MODELS.items():
            address = server.url + ("/v1" if kind == "openai" else "")
            body = {"kind": kind, "base_url": address}
            data(await client.put(f"/api/v1/models/providers/{kind}-script", json=body))
            for name in names:
                ref = f"{kind}-script:{name}"
                data(await client.put("/api/v1/models/prices", params={"model": ref}, json=PRICE))
                data(await client.patch("/api/v1/bots/ada", json={"model": ref, "temperature": 0.4}))
                answer = await bot.say("What do you drink?")
                (sent,) = (one.body for one in server.requests() if _asks(one.body, name))
                temperatures[name] = (sent.get("temperature"), answer["answer"]["temperature"])
    assert {name: shown for name, (_, shown) in temperatures.items()} == {
        name: sent for name, (sent, _) in temperatures.items()
    }
    assert {name for name, (sent, _) in temperatures.items() if sent is None} == {
        "claude-opus-4-7",
        "claude-sonnet-5",
        "gpt-5",
        "o3",
    }


def _asks(body: dict[str, object], model: str) -> bool:
    return body.get("model") == model and "<soul>" in str(body)
