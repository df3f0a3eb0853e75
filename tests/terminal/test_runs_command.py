import json

import pytest
from tests.support.server import Server, wait_until
from tests.support.terminal import Terminal


def start(forge: Terminal, **given: object) -> str:
    return forge("runs", "start", "self_test", "--input", json.dumps({"step_ms": 0, **given}), "--json").data[
        "id"
    ]


def finish(server: Server, run_id: str) -> None:
    wait_until(
        lambda: server.call("GET", f"/api/v1/runs/{run_id}")["run"]["finished_at"], what="the run's end"
    )


def test_a_run_is_started_and_listed(forge: Terminal):
    run_id = start(forge)
    assert run_id in [run["id"] for run in forge("runs", "list", "--json").data]
    assert run_id in forge("runs", "list").out


def test_runs_are_filtered(forge: Terminal, server: Server):
    finish(server, start(forge))
    completed = forge(
        "runs", "list", "--status", "completed", "--kind", "self_test", "--limit", "1", "--json"
    ).data
    assert [run["status"] for run in completed] == ["completed"]
    assert forge("runs", "list", "--kind", "nope", "--json").data == []
    assert "no such runs" in forge("runs", "list", "--kind", "nope").err


def test_a_run_is_shown_with_its_steps(forge: Terminal, server: Server):
    run_id = start(forge, child=True)
    finish(server, run_id)
    detail = forge("runs", "show", run_id, "--json").data
    assert detail == server.call("GET", f"/api/v1/runs/{run_id}")
    page = forge("runs", "show", run_id).out
    assert all(word in page for word in (run_id, "● completed", "single", "attempt 2", "Children"))


def test_the_beginning_of_an_id_is_enough(forge: Terminal):
    run_id = start(forge)
    assert forge("runs", "show", run_id[:-2], "--json").data["run"]["id"] == run_id


def test_a_beginning_that_fits_several_is_refused(forge: Terminal):
    ids = [start(forge), start(forge)]
    said = forge("runs", "show", "0")
    assert said.code == 2
    assert "Say which" in said.err
    assert len(ids) == 2


@pytest.mark.parametrize("given", ["nope", "01a1dd9e-e17e-75f3-b0a6-6a948f274981", "../keys", "?"])
def test_a_run_that_is_not_there_is_not_found(forge: Terminal, given: str):
    assert forge("runs", "show", given).code == 5


def test_a_run_is_cancelled_once(forge: Terminal):
    run_id = start(forge, ask=True)
    assert forge("runs", "cancel", run_id, "--json").data["status"] == "cancelled"
    said = forge("runs", "cancel", run_id)
    assert (said.code, said.err) == (6, "error: This run is already cancelled.\n")


@pytest.mark.parametrize(
    ("given", "why"),
    [("{", "is not JSON"), ("[1]", "has to be a JSON object"), ('"text"', "has to be a JSON object")],
)
def test_an_input_that_is_no_object_is_refused_here(forge: Terminal, given: str, why: str):
    said = forge("runs", "start", "self_test", "--input", given)
    assert said.code == 2
    assert f"--input {why}" in said.err


def test_an_input_the_kind_does_not_know_is_refused_by_the_server(forge: Terminal):
    assert forge("runs", "start", "self_test", "--input", '{"nope": 1}').code == 2


def test_an_unknown_kind_is_refused(forge: Terminal):
    assert forge("runs", "start", "nope").code == 2


def test_without_a_server_every_command_says_how_to_start_one(elsewhere: Terminal):
    for command in (["runs", "list"], ["gates", "list"], ["keys", "list"], ["status"], ["login", "--link"]):
        said = elsewhere(*command, "--json")
        assert (said.code, said.out) == (3, "")
        assert "forge serve" in said.err


def test_a_server_that_was_killed_is_not_running(elsewhere: Terminal, server: Server, tmp_path):
    data_dir = tmp_path / "elsewhere"
    data_dir.mkdir(mode=0o700)
    left_over = data_dir / "server.json"
    left_over.touch(mode=0o600)
    left_over.write_text(json.dumps({"url": "http://127.0.0.1:1", "key": "forge_old", "pid": 1}))
    said = elsewhere("status")
    assert said.code == 3
    assert "No Forge is running here" in said.err
