"""Ephemeral events in the terminal: passed to a callback, and not replayed."""

import json
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from websockets.sync.server import Server, ServerConnection, serve

from forge.events.models import Event
from forge.terminal.client import connect_to

STREAM = "run:r1"
GOING_AWAY = 1012


class ScriptedSocket:
    """Send events and ephemeral events, close the connection, and send more after the reconnection."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def __call__(self, socket: ServerConnection) -> None:
        self.asked.append(json.loads(socket.recv(timeout=60)))
        if len(self.asked) == 1:
            self._send_events(socket, 1, None)
            self._send_events(socket, 2, None)
            socket.close(GOING_AWAY)
        else:
            self._send_events(socket, None, 3)
            socket.recv(timeout=60)

    def _send_events(self, socket: ServerConnection, *numbers: int | None) -> None:
        at = "2026-01-01T00:00:00Z"
        events = [
            {"stream": STREAM, "seq": seq, "at": at, "type": "test.event", "data": {}} for seq in numbers
        ]
        socket.send(json.dumps({"type": "events", "events": events}))


@pytest.fixture
def scripted_socket() -> ScriptedSocket:
    return ScriptedSocket()


@pytest.fixture
def url(scripted_socket: ScriptedSocket) -> Iterator[str]:
    server: Server = serve(scripted_socket, "127.0.0.1", 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.socket.getsockname()[1]}"
    server.shutdown()
    thread.join()


def test_ephemeral_events_arrive_in_order_and_are_not_replayed(scripted_socket: ScriptedSocket, url: str):
    received: list[int | None] = []
    with (
        connect_to(url, "key") as client,
        closing(
            client.follow(STREAM, Event, on_ephemeral=lambda event: received.append(event["seq"]))
        ) as events,
    ):
        while not received or received[-1] != 3:
            received.append(next(events).seq)
    assert received == [1, None, 2, None, None, 3]
    assert [subscription["after"] for subscription in scripted_socket.asked] == [0, 2]


def test_ephemeral_events_are_skipped_without_a_callback(url: str):
    with connect_to(url, "key") as client, closing(client.follow(STREAM, Event)) as events:
        assert [next(events).seq for _ in range(3)] == [1, 2, 3]
