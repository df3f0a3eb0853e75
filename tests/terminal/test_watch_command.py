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


def test_watching_a_completed_run_exits_with_0(forge: Terminal):
    result = forge("runs", "start", "self_test", "--watch")
    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0].endswith("run.created")
    assert "run.completed" in lines[-1]
    assert any("5 flaky, error after" in line for line in lines)
    assert any("5 flaky, attempt 2" in line for line in lines)


def test_watching_a_failed_run_exits_with_1(forge: Terminal, server: Server):
    run_id = start(server, ask=True)
    server.call("POST", f"/api/v1/runs/{run_id}/cancel")
    assert forge("runs", "watch", run_id).code == 1


def test_events_are_printed_as_json_lines(forge: Terminal, server: Server):
    run_id = start(server)
    result = forge("runs", "watch", run_id, "--json")
    events = [json.loads(line) for line in result.out.splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events == server.call("GET", f"/api/v1/events?stream=run:{run_id}")


def test_gate_is_printed_with_the_command_to_answer_it(forge: Terminal, server: Server):
    run_id = start(server, ask=True)
    gate = open_gate(server, run_id)
    server.call("POST", f"/api/v1/runs/{run_id}/cancel")
    result = forge("runs", "watch", run_id)
    assert f"forge gates answer {gate['id']} OPTION" in result.out


@pytest.fixture
def open_watch(server: Server):
    """A terminal that watches a run with an open gate."""
    run_id = start(server, ask=True, step_ms=50)
    with open_screen(server.data_dir, "runs", "watch", run_id) as screen:
        screen.wait_for("waiting for a gate")
        screen.wait_for("forge gates answer")
        yield run_id, screen


def test_screen_shows_progress_until_the_run_ends(open_watch: tuple[str, Screen], server: Server):
    run_id, screen = open_watch
    gate = open_gate(server, run_id)
    answer = {"option": "yes", "shown_hash": gate["shown_hash"]}
    server.call("POST", f"/api/v1/gates/{gate['id']}/answer", answer)
    assert screen.end() == 0
    assert "● completed" in screen.text
    assert "clean up" in screen.text


def test_ctrl_c_stops_watching_but_not_the_run(open_watch: tuple[str, Screen], server: Server):
    run_id, screen = open_watch
    screen.type("\x03")
    assert screen.end() == 128 + signal.SIGINT
    assert f"forge runs watch {run_id}" in screen.text
    assert server.call("GET", f"/api/v1/runs/{run_id}")["run"]["status"] == "waiting"


def test_cancelled_run_shows_no_gate(open_watch: tuple[str, Screen], server: Server):
    run_id, screen = open_watch
    server.call("POST", f"/api/v1/runs/{run_id}/cancel")
    assert screen.end() == 1
    assert "forge gates answer" not in screen.text.rpartition("● cancelled")[2]


def test_no_color_disables_color(server: Server):
    with open_screen(server.data_dir, "status", NO_COLOR="1") as screen:
        assert screen.end() == 0
        assert "\x1b[3" not in screen.text


def test_piped_output_has_no_color(forge: Terminal, tmp_path: Path):
    assert "\x1b" not in forge("status").out
