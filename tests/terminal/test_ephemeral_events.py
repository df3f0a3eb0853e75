"""Whispers in the terminal: handed on where they are asked for, and nothing to remember."""

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


class Script:
    """A server that says 1, a whisper and 2, goes away, and says 3 and another whisper to whoever comes back."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []

    def __call__(self, socket: ServerConnection) -> None:
        self.asked.append(json.loads(socket.recv(timeout=60)))
        if len(self.asked) == 1:
            self._say(socket, 1, None)
            self._say(socket, 2, None)
            socket.close(GOING_AWAY)
        else:
            self._say(socket, None, 3)
            socket.recv(timeout=60)

    def _say(self, socket: ServerConnection, *numbers: int | None) -> None:
        at = "2026-01-01T00:00:00Z"
        events = [
            {"stream": STREAM, "seq": seq, "at": at, "type": "test.said", "data": {}} for seq in numbers
        ]
        socket.send(json.dumps({"type": "events", "events": events}))


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def url(script: Script) -> Iterator[str]:
    server: Server = serve(script, "127.0.0.1", 0)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.socket.getsockname()[1]}"
    server.shutdown()
    thread.join()


def test_whispers_come_in_their_place_and_are_not_asked_for_again(script: Script, url: str):
    seen: list[int | None] = []
    with (
        connect_to(url, "key") as client,
        closing(client.follow(STREAM, Event, on_ephemeral=lambda event: seen.append(event["seq"]))) as events,
    ):
        while not seen or seen[-1] != 3:
            seen.append(next(events).seq)
    assert seen == [1, None, 2, None, None, 3]
    assert [asked["after"] for asked in script.asked] == [0, 2]


def test_who_does_not_listen_for_whispers_gets_the_events_alone(url: str):
    with connect_to(url, "key") as client, closing(client.follow(STREAM, Event)) as events:
        assert [next(events).seq for _ in range(3)] == [1, 2, 3]
