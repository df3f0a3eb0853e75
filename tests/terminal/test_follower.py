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


def start(server: Server, **given: Any) -> str:
    return server.call("POST", "/api/v1/runs", {"kind": "self_test", "input": {"step_ms": 0, **given}})["id"]


def until(events: Iterator[Event], type: str) -> list[Event]:
    seen: list[Event] = []
    for event in events:
        seen.append(event)
        if event.type == type:
            break
    return seen


def test_a_stream_comes_from_its_first_event_without_a_gap(server: Server, client: Client):
    run_id = start(server)
    with closing(client.follow(f"run:{run_id}", Event)) as events:
        seen = until(events, "run.completed")
    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
    stored = client.get("/events", list[Event], {"stream": f"run:{run_id}"})
    assert seen == stored


def test_following_goes_on_where_it_was_after_the_server_was_started_again(
    start_server: Callable[..., Server], tmp_path: Path
):
    server = start_server()
    run_id = start(server, ask=True)
    lost: list[ForgeError] = []
    with (
        connect(ClientSettings(data_dir=server.data_dir)) as client,
        closing(client.follow(f"run:{run_id}", Event, on_lost=lost.append)) as events,
    ):
        seen = until(events, "run.waiting")
        while seen[-1].data != {"reason": "gate", "until": seen[-1].data.get("until")}:
            seen += until(events, "run.waiting")
        old_key = server.key
        server.kill()
        server.start()
        assert server.key != old_key
        (gate,) = server.call("GET", "/api/v1/gates?status=open")
        answer = {"option": "yes", "shown_hash": gate["shown_hash"]}
        server.call("POST", f"/api/v1/gates/{gate['id']}/answer", answer)
        seen += until(events, "run.completed")
    assert lost
    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))


def test_a_stream_that_is_not_there_is_not_found(client: Client):
    with pytest.raises(NotFound):
        next(client.follow("run:nope", Event))


def test_a_wrong_key_is_not_tried_again(server: Server):
    with connect_to(server.url, "forge_wrong") as client, pytest.raises(Unauthenticated):
        next(client.follow("run:nope", Event))


def test_a_server_that_never_was_there_is_not_waited_for():
    with connect_to("http://127.0.0.1:1", "k") as client, pytest.raises(Unavailable):
        next(client.follow("run:nope", Event))


def test_patience_has_an_end_when_nothing_comes(server: Server, client: Client):
    run_id = start(server, ask=True)
    with pytest.raises(Unavailable, match="in time"):
        list(client.follow(f"run:{run_id}", Event, within_s=1.5))
    server.call("POST", f"/api/v1/runs/{run_id}/cancel")
