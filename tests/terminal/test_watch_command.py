import json
import signal
from pathlib import Path

import pytest
from tests.support.server import Server, wait_until
from tests.support.terminal import Screen, Terminal, open_screen

SLOWLY = {"step_ms": 200}


def start(server: Server, **given: object) -> str:
    return server.call("POST", "/api/v1/runs", {"kind": "self_test", "input": {"step_ms": 0, **given}})["id"]


def open_gate(server: Server, run_id: str) -> dict[str, str]:
    (gate,) = wait_until(lambda: server.call("GET", f"/api/v1/runs/{run_id}")["gates"], what="the gate")
    return gate


def test_a_run_that_completes_ends_well(forge: Terminal):
    said = forge("runs", "start", "self_test", "--watch")
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0].endswith("run.created")
    assert "run.completed" in lines[-1]
    assert any("5 flaky, error after" in line for line in lines)
    assert any("5 flaky, attempt 2" in line for line in lines)


def test_a_run_that_does_not_complete_ends_with_1(forge: Terminal, server: Server):
    run_id = start(server, ask=True)
    server.call("POST", f"/api/v1/runs/{run_id}/cancel")
    assert forge("runs", "watch", run_id).code == 1


def test_events_are_printed_as_lines_of_json(forge: Terminal, server: Server):
    run_id = start(server)
    said = forge("runs", "watch", run_id, "--json")
    events = [json.loads(line) for line in said.out.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events == server.call("GET", f"/api/v1/events?stream=run:{run_id}")


def test_a_question_is_printed_with_the_way_to_answer_it(forge: Terminal, server: Server):
    run_id = start(server, ask=True)
    gate = open_gate(server, run_id)
    server.call("POST", f"/api/v1/runs/{run_id}/cancel")
    said = forge("runs", "watch", run_id)
    assert f"forge gates answer {gate['id']} OPTION" in said.out


@pytest.fixture
def watching(server: Server):
    """A terminal that watches a run which waits for an answer."""
    run_id = start(server, ask=True, step_ms=50)
    with open_screen(server.data_dir, "runs", "watch", run_id) as screen:
        screen.wait_for("waits for a gate")
        screen.wait_for("forge gates answer")
        yield run_id, screen


def test_the_screen_shows_what_happens_and_ends_with_the_run(watching: tuple[str, Screen], server: Server):
    run_id, screen = watching
    gate = open_gate(server, run_id)
    answer = {"option": "yes", "shown_hash": gate["shown_hash"]}
    server.call("POST", f"/api/v1/gates/{gate['id']}/answer", answer)
    assert screen.end() == 0
    assert "● completed" in screen.text
    assert "clean up" in screen.text


def test_ctrl_c_stops_watching_and_not_the_run(watching: tuple[str, Screen], server: Server):
    run_id, screen = watching
    screen.type("\x03")
    assert screen.end() == 128 + signal.SIGINT
    assert f"forge runs watch {run_id}" in screen.text
    assert server.call("GET", f"/api/v1/runs/{run_id}")["run"]["status"] == "waiting"


def test_a_cancelled_run_waits_for_nobody(watching: tuple[str, Screen], server: Server):
    run_id, screen = watching
    server.call("POST", f"/api/v1/runs/{run_id}/cancel")
    assert screen.end() == 1
    assert "forge gates answer" not in screen.text.rpartition("● cancelled")[2]


def test_no_colour_means_no_colour(server: Server):
    with open_screen(server.data_dir, "status", NO_COLOR="1") as screen:
        assert screen.end() == 0
        assert "\x1b[3" not in screen.text


def test_a_pipe_gets_no_colour_either(forge: Terminal, tmp_path: Path):
    assert "\x1b" not in forge("status").out
