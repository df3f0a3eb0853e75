"""Bots that send messages to each other in a running Forge, with a scripted model."""

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

    async def wait_for_delivery(self, message_id: str) -> Any:
        """Wait until every delivery has ended, and return the message."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                message = await self.message(message_id)
                if all(one["status"] not in ("queued", "delivering") for one in message["deliveries"]):
                    return message
                await asyncio.sleep(0.05)

    async def message_events(self) -> list[Any]:
        """Return the message events of the account."""
        params = {"stream": f"account:{self.live.account_id}", "limit": 10_000}
        events = data(await self.client.get("/api/v1/events", params=params))
        return [event for event in events if event["type"].startswith("message.")]

    async def session(self, session_id: str) -> tuple[Any, list[Any]]:
        session = data(await self.client.get(f"/api/v1/sessions/{session_id}"))
        return session, data(await self.client.get(f"/api/v1/sessions/{session_id}/messages"))

    def bot_requests(self) -> list[Any]:
        """Return the requests of bots that the model received."""
        return [one.body for one in self.models.requests() if "<soul>" in str(one.body.get("system"))]


async def open_messaging(
    live: Live, client: httpx2.AsyncClient, models: ModelServer, *names: str
) -> Messaging:
    await connect_models(client, models)
    for name in names:
        data(await client.post("/api/v1/bots", json={"name": name}))
    return Messaging(live, client, models)
