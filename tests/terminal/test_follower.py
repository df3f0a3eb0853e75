from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.support.server import Server

from forge.config import ClientSettings
from forge.errors import ForgeError, NotFound, Unauthenticated, Unavailable
from forge.events.models import Event
from forge.terminal.client import Client, connect, connect_to


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    with connect(ClientSettings(data_dir=server.data_dir)) as client:
        yield client


def start(server: Server, **run_input: Any) -> str:
    return server.call("POST", "/api/v1/runs", {"kind": "self_test", "input": {"step_ms": 0, **run_input}})[
        "id"
    ]


def read_until(events: Iterator[Event], type: str) -> list[Event]:
    received: list[Event] = []
    for event in events:
        received.append(event)
        if event.type == type:
            break
    return received


def test_stream_is_followed_from_its_first_event_without_gaps(server: Server, client: Client):
    run_id = start(server)
    with closing(client.follow(f"run:{run_id}", Event)) as events:
        received = read_until(events, "run.completed")
    assert [event.seq for event in received] == list(range(1, len(received) + 1))
    stored = client.get("/events", list[Event], {"stream": f"run:{run_id}"})
    assert received == stored


def test_follower_continues_after_a_server_restart(start_server: Callable[..., Server], tmp_path: Path):
    server = start_server()
    run_id = start(server, ask=True)
    errors: list[ForgeError] = []
    with (
        connect(ClientSettings(data_dir=server.data_dir)) as client,
        closing(client.follow(f"run:{run_id}", Event, on_lost=errors.append)) as events,
    ):
        received = read_until(events, "run.waiting")
        while received[-1].data != {"reason": "gate", "until": received[-1].data.get("until")}:
            received += read_until(events, "run.waiting")
        old_key = server.key
        server.kill()
        server.start()
        assert server.key != old_key
        (gate,) = server.call("GET", "/api/v1/gates?status=open")
        body = {"option": "yes", "shown_hash": gate["shown_hash"]}
        server.call("POST", f"/api/v1/gates/{gate['id']}/answer", body)
        received += read_until(events, "run.completed")
    assert errors
    assert [event.seq for event in received] == list(range(1, len(received) + 1))


def test_missing_stream_is_not_found(client: Client):
    with pytest.raises(NotFound):
        next(client.follow("run:nope", Event))


def test_wrong_key_is_not_retried(server: Server):
    with connect_to(server.url, "forge_wrong") as client, pytest.raises(Unauthenticated):
        next(client.follow("run:nope", Event))


def test_unreachable_server_is_unavailable_immediately():
    with connect_to("http://127.0.0.1:1", "k") as client, pytest.raises(Unavailable):
        next(client.follow("run:nope", Event))


def test_follower_times_out_without_events(server: Server, client: Client):
    run_id = start(server, ask=True)
    with pytest.raises(Unavailable, match="in time"):
        list(client.follow(f"run:{run_id}", Event, within_s=1.5))
    server.call("POST", f"/api/v1/runs/{run_id}/cancel")
