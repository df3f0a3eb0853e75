"""A client that chats with a bot over HTTP, with a scripted model."""

import asyncio
from dataclasses import dataclass
from typing import Any

import httpx2
from tests.support.models import ModelServer
from tests.support.timeouts import PATIENCE_S

REF = "scripted:scripted"
PRICE = {"input": 3, "output": 15, "context_window": 200_000}
ROLES = ("bot", "utility")


def data(response: httpx2.Response) -> Any:
    assert response.status_code < 300, response.text
    return response.json()["data"]


def problem(response: httpx2.Response) -> tuple[int, str]:
    return response.status_code, response.json()["errors"][0]["code"]


async def connect_models(client: httpx2.AsyncClient, server: ModelServer, **price_overrides: Any) -> None:
    """Use the scripted server for the roles `bot` and `utility`."""
    provider = {"kind": "anthropic", "base_url": server.url}
    data(await client.put("/api/v1/models/providers/scripted", json=provider))
    data(await client.put("/api/v1/models/prices", params={"model": REF}, json=PRICE | price_overrides))
    for role in ROLES:
        data(await client.put(f"/api/v1/models/roles/{role}", json={"chain": [REF]}))


@dataclass
class BotClient:
    """Send messages to one bot and read its sessions."""

    client: httpx2.AsyncClient
    slug: str

    async def ask(self, text: str, session_id: str | None = None, **options: Any) -> Any:
        body = {"text": text, "session_id": session_id, **options}
        return data(await self.client.post(f"/api/v1/bots/{self.slug}/chat", json=body))

    async def messages(self, session_id: str) -> list[Any]:
        return data(await self.client.get(f"/api/v1/sessions/{session_id}/messages"))

    async def session(self, session_id: str) -> Any:
        return data(await self.client.get(f"/api/v1/sessions/{session_id}"))

    async def wait_for_answer(self, session_id: str) -> Any:
        """Wait until the last message of the session is complete, and return it."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                last = (await self.messages(session_id))[-1]
                if last["status"] != "writing":
                    return last
                await asyncio.sleep(0.03)

    async def say(self, text: str, session_id: str | None = None, **options: Any) -> Any:
        """Send a message and wait for the answer."""
        turn = await self.ask(text, session_id, **options)
        return await self.wait_for_answer(turn["session"]["id"])

    async def post(self, path: str, body: Any = None) -> Any:
        return data(await self.client.post(f"/api/v1{path}", json=body if body is not None else {}))

    async def wait_until_idle(self) -> None:
        """Wait until no run is active, so that titles and memories have been written."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                runs = data(await self.client.get("/api/v1/runs", params={"limit": 200}))
                if all(run["finished_at"] for run in runs):
                    return
                await asyncio.sleep(0.05)


async def open_bot_client(
    client: httpx2.AsyncClient, server: ModelServer, name: str = "Ada", **price_overrides: Any
) -> BotClient:
    await connect_models(client, server, **price_overrides)
    bot = data(await client.post("/api/v1/bots", json={"name": name}))
    return BotClient(client, bot["slug"])
