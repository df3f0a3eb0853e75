"""Bots that write to each other in a whole Forge, while a script plays their model."""

import asyncio
from dataclasses import dataclass
from typing import Any

import httpx2
from tests.support.chat_client import connect_models, data
from tests.support.live_forge import Live
from tests.support.models import ModelServer
from tests.support.timeouts import PATIENCE_S

SCENES = {
    "tides": {"match": {"latest": "tide"}, "turns": [{"text": "It turns at six."}]},
    "slow": {"match": {"latest": "slowly"}, "turns": [{"text": "word " * 100, "delay_s": 0.1}]},
    "plain": {"turns": [{"text": "Understood."}]},
}


@dataclass(frozen=True)
class Messaging:
    live: Live
    client: httpx2.AsyncClient
    models: ModelServer

    async def send(self, body: Any, **more: Any) -> Any:
        return data(await self.client.post("/api/v1/messages", json={"body": body, **more}))

    async def message(self, message_id: str) -> Any:
        return data(await self.client.get(f"/api/v1/messages/{message_id}"))

    async def delivered(self, message_id: str) -> Any:
        """Once it has arrived everywhere, well or badly."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                found = await self.message(message_id)
                if all(one["status"] not in ("queued", "delivering") for one in found["deliveries"]):
                    return found
                await asyncio.sleep(0.05)

    async def told(self) -> list[Any]:
        """What the account's stream says about messages."""
        where = {"stream": f"account:{self.live.account_id}", "limit": 10_000}
        events = data(await self.client.get("/api/v1/events", params=where))
        return [event for event in events if event["type"].startswith("message.")]

    async def session(self, session_id: str) -> tuple[Any, list[Any]]:
        found = data(await self.client.get(f"/api/v1/sessions/{session_id}"))
        return found, data(await self.client.get(f"/api/v1/sessions/{session_id}/messages"))

    def asked(self) -> list[Any]:
        """What reached the model as a bot."""
        return [one.body for one in self.models.requests() if "<soul>" in str(one.body.get("system"))]


async def open_messaging(
    live: Live, client: httpx2.AsyncClient, models: ModelServer, *names: str
) -> Messaging:
    await connect_models(client, models)
    for name in names:
        data(await client.post("/api/v1/bots", json={"name": name}))
    return Messaging(live, client, models)
