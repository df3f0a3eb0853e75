"""Ephemeral events over the WebSocket: in order, once, and never replayed."""

import asyncio
import json
from typing import Any, ClassVar

import pytest
from tests.support.live_forge import ClientConnection, Live
from tests.support.timeouts import PATIENCE_S

from forge.events.models import EventData
from forge.runs.models import RunResumed


class EphemeralText(EventData):
    type: ClassVar[str] = "test.ephemeral"
    is_durable: ClassVar[bool] = False

    text: str


@pytest.fixture
def stream(live_forge: Live) -> str:
    return f"account:{live_forge.account_id}"


async def append(live: Live, stream: str) -> None:
    async with live.forge.store.begin() as tx:
        await live.forge.events.append(tx, stream, RunResumed())


async def publish_ephemeral(live: Live, stream: str, text: str) -> None:
    await live.forge.events.publish_ephemeral(stream, EphemeralText(text=text))


async def subscribe(socket: ClientConnection, stream: str, after: int | None) -> None:
    await socket.send(json.dumps({"type": "subscribe", "stream": stream, "after": after}))
    assert json.loads(await socket.recv())["type"] == "subscribed"


async def receive_events(socket: ClientConnection, until: int) -> list[dict[str, Any]]:
    received: list[dict[str, Any]] = []
    async with asyncio.timeout(PATIENCE_S):
        while not received or received[-1]["seq"] != until:
            message = json.loads(await socket.recv())
            assert message["type"] == "events"
            received += message["events"]
    return received


def contents(events: list[dict[str, Any]]) -> list[Any]:
    return [event["seq"] or event["data"]["text"] for event in events]


async def test_ephemeral_events_arrive_once_in_order(live_forge: Live, stream: str):
    async with live_forge.socket() as socket:
        await subscribe(socket, stream, 0)
        for n in range(1, 31):
            await publish_ephemeral(live_forge, stream, f"before {n}")
            await append(live_forge, stream)
        received = await receive_events(socket, until=30)
    assert contents(received) == [part for n in range(1, 31) for part in (f"before {n}", n)]
    assert received[0] == {
        "stream": stream,
        "seq": None,
        "at": received[0]["at"],
        "type": "test.ephemeral",
        "data": {"text": "before 1"},
    }


async def test_replaying_client_gets_no_ephemeral_events(live_forge: Live, stream: str):
    async with live_forge.socket() as socket:
        await subscribe(socket, stream, 0)
        await append(live_forge, stream)
        assert contents(await receive_events(socket, until=1)) == [1]
    await publish_ephemeral(live_forge, stream, "to no subscriber")
    await append(live_forge, stream)
    async with live_forge.socket() as connected, live_forge.socket() as socket:
        await subscribe(connected, stream, None)
        await publish_ephemeral(live_forge, stream, "to the connected client")
        await subscribe(socket, stream, 1)
        await publish_ephemeral(live_forge, stream, "to both")
        await append(live_forge, stream)
        assert contents(await receive_events(socket, until=3)) == [2, "to both", 3]
        assert contents(await receive_events(connected, until=3)) == ["to the connected client", "to both", 3]


async def test_history_contains_no_ephemeral_events(live_forge: Live, stream: str):
    async with live_forge.socket() as socket, live_forge.client() as client:
        await subscribe(socket, stream, 0)
        await publish_ephemeral(live_forge, stream, "a")
        await append(live_forge, stream)
        assert contents(await receive_events(socket, until=1)) == ["a", 1]
        history = (await client.get("/api/v1/events", params={"stream": stream})).json()["data"]
    assert contents(history) == [1]
