"""Event streams over the WebSocket: every event once, and only for authorized clients."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.support.live_forge import Live
from tests.support.timeouts import PATIENCE_S
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.frames import Frame, Opcode

from forge.api import websocket
from forge.http import websocket_connection
from forge.runs.models import RunProgressed

EVENTS = 10_000
MIN_CUTS = 100


@pytest.fixture
async def stream(live_forge: Live) -> str:
    """A stream that its owner can subscribe to and a test can append to."""
    return f"account:{live_forge.account_id}"


async def append(live: Live, stream: str, count: int) -> None:
    async with live.forge.store.begin() as tx:
        events = [RunProgressed(done=n, total=10_000_000, note="") for n in range(count)]
        await live.forge.events.append(tx, stream, *events)


async def messages(socket: ClientConnection) -> AsyncIterator[dict[str, Any]]:
    async for text in socket:
        yield json.loads(text)


async def subscribe(socket: ClientConnection, stream: str, after: int = 0) -> dict[str, Any]:
    await socket.send(json.dumps({"type": "subscribe", "stream": stream, "after": after}))
    return json.loads(await asyncio.wait_for(socket.recv(), PATIENCE_S))


async def test_reconnecting_client_gets_every_event_once(live_forge: Live, stream: str):
    chance = random.Random(3)
    received: list[int] = []
    cuts = 0

    async def write() -> None:
        for _ in range(EVENTS // 50):
            await append(live_forge, stream, 50)

    async def follow_until_cut() -> None:
        cut_after = chance.randrange(1, EVENTS // MIN_CUTS)
        async with live_forge.socket() as socket:
            await subscribe(socket, stream, received[-1] if received else 0)
            count = 0
            async for message in messages(socket):
                numbers = [event["seq"] for event in message.get("events", [])]
                # Keep only a part of the message, as if the client failed between receiving and storing it.
                accepted = numbers[: cut_after - count] if cuts < MIN_CUTS else numbers
                received.extend(accepted)
                count += len(accepted)
                if (cuts < MIN_CUTS and count >= cut_after) or (received and received[-1] == EVENTS):
                    socket.transport.abort()
                    return

    writing = asyncio.create_task(write())
    async with asyncio.timeout(PATIENCE_S):
        while not received or received[-1] < EVENTS:
            await follow_until_cut()
            cuts += 1
        await writing
    assert cuts >= MIN_CUTS
    assert received == list(range(1, EVENTS + 1))


async def test_subscription_gets_confirmation_history_and_live_events(live_forge: Live, stream: str):
    await append(live_forge, stream, 3)
    async with live_forge.socket() as socket:
        assert await subscribe(socket, stream, 1) == {"type": "subscribed", "stream": stream, "last_seq": 3}
        history = json.loads(await socket.recv())
        assert [event["seq"] for event in history["events"]] == [2, 3]
        await append(live_forge, stream, 1)
        (event,) = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE_S))["events"]
        assert event == {
            "stream": stream,
            "seq": 4,
            "at": event["at"],
            "type": "run.progress",
            "data": {"done": 0, "total": 10_000_000, "note": ""},
        }


async def test_client_can_follow_from_now_on(live_forge: Live, stream: str):
    await append(live_forge, stream, 3)
    async with live_forge.socket() as socket:
        await socket.send(json.dumps({"type": "subscribe", "stream": stream, "after": None}))
        assert json.loads(await socket.recv())["last_seq"] == 3
        await append(live_forge, stream, 1)
        (event,) = json.loads(await asyncio.wait_for(socket.recv(), PATIENCE_S))["events"]
        assert event["seq"] == 4


async def test_unsubscribing_ends_one_stream_only(live_forge: Live, stream: str):
    async with live_forge.socket() as socket:
        await subscribe(socket, stream)
        await socket.send(json.dumps({"type": "unsubscribe", "stream": stream}))
        await socket.send(json.dumps({"type": "subscribe", "stream": "run:unknown"}))
        assert json.loads(await socket.recv())["code"] == "not_found"
        await append(live_forge, stream, 1)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(socket.recv(), 0.3)


@pytest.mark.parametrize("stream", ["run:0198", "account:another-account", "nothing:1"])
async def test_foreign_stream_looks_missing(live_forge: Live, stream: str):
    async with live_forge.socket() as socket:
        response = await subscribe(socket, stream)
    assert (response["type"], response["code"], response["stream"]) == ("error", "not_found", stream)


async def test_future_cursor_is_an_error_of_its_stream_only(live_forge: Live, stream: str):
    async with live_forge.socket() as socket:
        assert (await subscribe(socket, stream, 99))["code"] == "conflict"
        assert (await subscribe(socket, stream, 0))["type"] == "subscribed"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("{not json", 4400),
        ('{"type":"dance"}', 4422),
        ('{"type":"subscribe","stream":"run:../../etc"}', 4422),
        ('{"type":"subscribe","stream":"run:a","after":-1}', 4422),
        ('{"type":"subscribe","stream":"run:a","after":1e300}', 4422),
        ("[]", 4422),
        ('{"type":"' + "é" * 200 + '"}', 4422),
        ('"' + "x" * 5000 + '"', 4413),
    ],
)
async def test_protocol_violation_closes_the_connection_with_an_error(live_forge: Live, text: str, code: int):
    async with live_forge.socket() as socket:
        await socket.send(text)
        with pytest.raises(ConnectionClosed):
            await asyncio.wait_for(socket.recv(), PATIENCE_S)
        assert socket.close_code == code
        assert socket.close_reason


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer forge_wrong"}, {"Cookie": "forge_session=x"}]
)
async def test_unauthenticated_websocket_is_closed(live_forge: Live, headers: dict[str, str]):
    address = live_forge.url.replace("http", "ws") + "/ws"
    async with connect(address, additional_headers=headers, open_timeout=PATIENCE_S) as socket:
        with pytest.raises(ConnectionClosed):
            await asyncio.wait_for(socket.recv(), PATIENCE_S)
        assert socket.close_code in {4401, 4403}


async def test_pings_are_sent_and_a_revoked_key_closes_the_connection(
    live_forge: Live, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(websocket_connection, "HEARTBEAT_S", 0.1)
    async with live_forge.client() as client:
        created = (
            await client.post("/api/v1/keys", json={"name": "short-lived", "scopes": ["read"]})
        ).json()["data"]
        address = live_forge.url.replace("http", "ws") + "/ws"
        async with connect(
            address, additional_headers={"X-API-Key": created["key"]}, open_timeout=PATIENCE_S
        ) as socket:
            assert json.loads(await asyncio.wait_for(socket.recv(), PATIENCE_S)) == {"type": "ping"}
            await client.delete(f"/api/v1/keys/{created['api_key']['id']}")
            with pytest.raises(ConnectionClosed):
                while True:
                    await asyncio.wait_for(socket.recv(), PATIENCE_S)
            assert socket.close_code == 4401


async def test_slow_client_is_disconnected_and_can_return(
    live_forge: Live, stream: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(websocket_connection, "SEND_TIMEOUT_S", 0.5)
    reader, writer = await open_without_reading(live_forge)
    message = json.dumps({"type": "subscribe", "stream": stream}).encode()
    writer.write(Frame(Opcode.TEXT, message).serialize(mask=True))
    async with asyncio.timeout(PATIENCE_S):
        while clients(live_forge) == 0:
            await asyncio.sleep(0.01)
        while clients(live_forge) > 0:  # until the server disconnects it
            async with live_forge.forge.store.begin() as tx:
                events = [RunProgressed(done=0, total=1, note="x" * 10_000)] * 50
                await live_forge.forge.events.append(tx, stream, *events)
        while await reader.read(1_000_000):
            pass  # data sent before the end
    writer.close()
    async with live_forge.socket() as socket:
        assert (await subscribe(socket, stream))["type"] == "subscribed"


async def open_without_reading(live: Live) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open a WebSocket whose client reads only the handshake."""
    address = urlsplit(live.url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port, limit=1024)
    lines = (
        "GET /ws HTTP/1.1",
        f"Host: {address.netloc}",
        f"Authorization: Bearer {live.key}",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    )
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
    await reader.readuntil(b"\r\n\r\n")
    return reader, writer


def clients(live: Live) -> float:
    text = live.forge.telemetry.metrics.render()[0].decode()
    (line,) = [line for line in text.splitlines() if line.startswith("forge_websocket_clients ")]
    return float(line.split()[1])


async def test_number_of_streams_per_socket_is_limited(
    live_forge: Live, stream: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(websocket, "MAX_STREAMS", 1)
    async with live_forge.socket() as socket:
        await subscribe(socket, stream)
        await subscribe(socket, stream)  # a repeated subscription does not count twice
        await socket.send(json.dumps({"type": "subscribe", "stream": "run:another"}))
        with pytest.raises(ConnectionClosed):
            await asyncio.wait_for(socket.recv(), PATIENCE_S)
        assert socket.close_code == 4429
