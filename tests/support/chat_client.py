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


def data(answer: httpx2.Response) -> Any:
    assert answer.status_code < 300, answer.text
    return answer.json()["data"]


def problem(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["errors"][0]["code"]


async def connect_models(client: httpx2.AsyncClient, server: ModelServer, **price: Any) -> None:
    """Bots, and the small questions beside a conversation, go to the scripted server."""
    provider = {"kind": "anthropic", "base_url": server.url}
    data(await client.put("/api/v1/models/providers/scripted", json=provider))
    data(await client.put("/api/v1/models/prices", params={"model": REF}, json=PRICE | price))
    for role in ROLES:
        data(await client.put(f"/api/v1/models/roles/{role}", json={"chain": [REF]}))


@dataclass
class Talk:
    """One bot, and whatever is said to it."""

    client: httpx2.AsyncClient
    slug: str

    async def ask(self, text: str, session_id: str | None = None, **more: Any) -> Any:
        body = {"text": text, "session_id": session_id, **more}
        return data(await self.client.post(f"/api/v1/bots/{self.slug}/chat", json=body))

    async def messages(self, session_id: str) -> list[Any]:
        return data(await self.client.get(f"/api/v1/sessions/{session_id}/messages"))

    async def session(self, session_id: str) -> Any:
        return data(await self.client.get(f"/api/v1/sessions/{session_id}"))

    async def answered(self, session_id: str) -> Any:
        """The last message, once nothing is being written any more."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                last = (await self.messages(session_id))[-1]
                if last["status"] != "writing":
                    return last
                await asyncio.sleep(0.03)

    async def say(self, text: str, session_id: str | None = None, **more: Any) -> Any:
        """Ask and wait for the answer."""
        turn = await self.ask(text, session_id, **more)
        return await self.answered(turn["session"]["id"])

    async def post(self, path: str, body: Any = None) -> Any:
        return data(await self.client.post(f"/api/v1{path}", json=body if body is not None else {}))

    async def quiet(self) -> None:
        """Until no run is under way: titles and memories are there."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                runs = data(await self.client.get("/api/v1/runs", params={"limit": 200}))
                if all(run["finished_at"] for run in runs):
                    return
                await asyncio.sleep(0.05)


async def open_talk(client: httpx2.AsyncClient, server: ModelServer, name: str = "Ada", **price: Any) -> Talk:
    await connect_models(client, server, **price)
    bot = data(await client.post("/api/v1/bots", json={"name": name}))
    return Talk(client, bot["slug"])
