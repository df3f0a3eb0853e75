import json

import pytest
from tests.support.server import Server, wait_until
from tests.support.terminal import Terminal


def start(forge: Terminal, **reference: object) -> str:
    return forge(
        "runs", "start", "self_test", "--input", json.dumps({"step_ms": 0, **reference}), "--json"
    ).data["id"]


def finish(server: Server, run_id: str) -> None:
    wait_until(
        lambda: server.call("GET", f"/api/v1/runs/{run_id}")["run"]["finished_at"], what="the end of the run"
    )


def test_started_run_is_listed(forge: Terminal):
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
    assert "No runs found" in forge("runs", "list", "--kind", "nope").err


def test_run_is_shown_with_its_steps(forge: Terminal, server: Server):
    run_id = start(forge, child=True)
    finish(server, run_id)
    detail = forge("runs", "show", run_id, "--json").data
    assert detail == server.call("GET", f"/api/v1/runs/{run_id}")
    output = forge("runs", "show", run_id).out
    assert all(text in output for text in (run_id, "● completed", "single", "attempt 2", "Children"))


def test_run_is_found_by_id_prefix(forge: Terminal):
    run_id = start(forge)
    assert forge("runs", "show", run_id[:-2], "--json").data["run"]["id"] == run_id


def test_ambiguous_prefix_is_rejected(forge: Terminal):
    ids = [start(forge), start(forge)]
    result = forge("runs", "show", "0")
    assert result.code == 2
    assert "Choose one" in result.err
    assert len(ids) == 2


@pytest.mark.parametrize("reference", ["nope", "01a1dd9e-e17e-75f3-b0a6-6a948f274981", "../keys", "?"])
def test_missing_run_is_not_found(forge: Terminal, reference: str):
    assert forge("runs", "show", reference).code == 5


def test_cancelled_run_cannot_be_cancelled_again(forge: Terminal):
    run_id = start(forge, ask=True)
    assert forge("runs", "cancel", run_id, "--json").data["status"] == "cancelled"
    result = forge("runs", "cancel", run_id)
    assert (result.code, result.err) == (6, "error: This run is already cancelled.\n")


@pytest.mark.parametrize(
    ("reference", "reason"),
    [("{", "is not JSON"), ("[1]", "must be a JSON object"), ('"text"', "must be a JSON object")],
)
def test_input_must_be_a_json_object(forge: Terminal, reference: str, reason: str):
    result = forge("runs", "start", "self_test", "--input", reference)
    assert result.code == 2
    assert f"--input {reason}" in result.err


def test_unknown_input_field_is_rejected(forge: Terminal):
    assert forge("runs", "start", "self_test", "--input", '{"nope": 1}').code == 2


def test_unknown_kind_is_rejected(forge: Terminal):
    assert forge("runs", "start", "nope").code == 2


def test_commands_without_a_server_hint_at_serve(remote: Terminal):
    for command in (["runs", "list"], ["gates", "list"], ["keys", "list"], ["status"], ["login", "--link"]):
        result = remote(*command, "--json")
        assert (result.code, result.out) == (3, "")
        assert "forge serve" in result.err


def test_stale_server_file_means_no_running_server(remote: Terminal, server: Server, tmp_path):
    data_dir = tmp_path / "elsewhere"
    data_dir.mkdir(mode=0o700)
    stale_file = data_dir / "server.json"
    stale_file.touch(mode=0o600)
    stale_file.write_text(json.dumps({"url": "http://127.0.0.1:1", "key": "forge_old", "pid": 1}))
    result = remote("status")
    assert result.code == 3
    assert "No Forge server is running here" in result.err
