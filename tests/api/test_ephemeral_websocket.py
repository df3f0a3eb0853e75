"""Whispers over the WebSocket: among the events they belong to, once, and gone for those who were away."""

import asyncio
import json
from typing import Any, ClassVar

import pytest
from tests.support.live_forge import ClientConnection, Live
from tests.support.timeouts import PATIENCE_S

from forge.events.models import EventData
from forge.runs.models import RunResumed


class Murmur(EventData):
    type: ClassVar[str] = "test.murmur"
    is_durable: ClassVar[bool] = False

    text: str


@pytest.fixture
def stream(live_forge: Live) -> str:
    return f"account:{live_forge.account_id}"


async def append(live: Live, stream: str) -> None:
    async with live.forge.store.begin() as tx:
        await live.forge.events.append(tx, stream, RunResumed())


async def whisper(live: Live, stream: str, text: str) -> None:
    await live.forge.events.publish_ephemeral(stream, Murmur(text=text))


async def subscribe(socket: ClientConnection, stream: str, after: int | None) -> None:
    await socket.send(json.dumps({"type": "subscribe", "stream": stream, "after": after}))
    assert json.loads(await socket.recv())["type"] == "subscribed"


async def heard(socket: ClientConnection, until: int) -> list[dict[str, Any]]:
    seen: list[dict[str, Any]] = []
    async with asyncio.timeout(PATIENCE_S):
        while not seen or seen[-1]["seq"] != until:
            message = json.loads(await socket.recv())
            assert message["type"] == "events"
            seen += message["events"]
    return seen


def words(events: list[dict[str, Any]]) -> list[Any]:
    return [event["seq"] or event["data"]["text"] for event in events]


async def test_ephemeral_events_arrive_once_in_order(live_forge: Live, stream: str):
    async with live_forge.socket() as socket:
        await subscribe(socket, stream, 0)
        for n in range(1, 31):
            await whisper(live_forge, stream, f"before {n}")
            await append(live_forge, stream)
        seen = await heard(socket, until=30)
    assert words(seen) == [part for n in range(1, 31) for part in (f"before {n}", n)]
    assert seen[0] == {
        "stream": stream,
        "seq": None,
        "at": seen[0]["at"],
        "type": "test.murmur",
        "data": {"text": "before 1"},
    }


async def test_replaying_client_gets_no_ephemeral_events(live_forge: Live, stream: str):
    async with live_forge.socket() as socket:
        await subscribe(socket, stream, 0)
        await append(live_forge, stream)
        assert words(await heard(socket, until=1)) == [1]
    await whisper(live_forge, stream, "to nobody")
    await append(live_forge, stream)
    async with live_forge.socket() as staying, live_forge.socket() as socket:
        await subscribe(staying, stream, None)
        await whisper(live_forge, stream, "to the one who stays")
        await subscribe(socket, stream, 1)
        await whisper(live_forge, stream, "to both")
        await append(live_forge, stream)
        assert words(await heard(socket, until=3)) == [2, "to both", 3]
        assert words(await heard(staying, until=3)) == ["to the one who stays", "to both", 3]


async def test_history_contains_no_ephemeral_events(live_forge: Live, stream: str):
    async with live_forge.socket() as socket, live_forge.client() as client:
        await subscribe(socket, stream, 0)
        await whisper(live_forge, stream, "a")
        await append(live_forge, stream)
        assert words(await heard(socket, until=1)) == ["a", 1]
        history = (await client.get("/api/v1/events", params={"stream": stream})).json()["data"]
    assert words(history) == [1]
