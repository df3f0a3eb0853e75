from typing import Any

import pytest
from tests.support.server import Server, wait_until
from tests.support.terminal import Terminal, open_screen


@pytest.fixture
def gate(server: Server) -> dict[str, Any]:
    body = {"kind": "self_test", "input": {"step_ms": 0, "ask": True}}
    run_id = server.call("POST", "/api/v1/runs", body)["id"]
    (gate,) = wait_until(lambda: server.call("GET", f"/api/v1/runs/{run_id}")["gates"], what="the gate")
    return gate


def test_open_gates_are_listed(forge: Terminal, gate: dict[str, Any]):
    assert gate in forge("gates", "list", "--json").data
    assert gate["id"] in forge("gates", "list").out


def test_settled_gates_are_listed_with_all(forge: Terminal, gate: dict[str, Any]):
    forge("gates", "answer", gate["id"], "no")
    assert gate["id"] not in forge("gates", "list").out
    assert gate["id"] in forge("gates", "list", "--all").out


def test_gate_is_shown_with_its_payload_and_options(forge: Terminal, gate: dict[str, Any]):
    output = forge("gates", "show", gate["id"][:-1]).out
    for text in (gate["title"], gate["body"], *gate["payload"].values(), "yes", "no"):
        assert text in output
    assert forge("gates", "show", gate["id"], "--json").data == gate


def test_answer_is_stored_with_its_comment(forge: Terminal, gate: dict[str, Any]):
    result = forge("gates", "answer", gate["id"], "yes", "--comment", "go on", "--json")
    assert result.data["answer"]["option"] == "yes"
    assert result.data["answer"]["comment"] == "go on"
    assert "go on" in forge("gates", "show", gate["id"]).out


def test_question_is_shown_before_the_answer(forge: Terminal, gate: dict[str, Any]):
    result = forge("gates", "answer", gate["id"], "yes")
    assert (result.code, result.out) == (0, "Answered: yes\n")
    assert gate["title"] in result.err


def test_second_answer_is_rejected(forge: Terminal, gate: dict[str, Any]):
    forge("gates", "answer", gate["id"], "yes")
    result = forge("gates", "answer", gate["id"], "no")
    assert (result.code, result.out) == (6, "")
    assert forge("gates", "show", gate["id"], "--json").data["answer"]["option"] == "yes"


def test_unknown_option_error_lists_the_options(forge: Terminal, gate: dict[str, Any]):
    result = forge("gates", "answer", gate["id"], "maybe")
    assert result.code == 2
    assert "yes, no" in result.err


def test_option_is_required_without_a_terminal(forge: Terminal, gate: dict[str, Any]):
    result = forge("gates", "answer", gate["id"])
    assert result.code == 2
    assert "yes, no" in result.err


def test_option_is_prompted_for_in_a_terminal(server: Server, gate: dict[str, Any]):
    with open_screen(server.data_dir, "gates", "answer", gate["id"]) as screen:
        screen.wait_for("Your answer")
        screen.type("yes\n")
        assert screen.end() == 0
        assert gate["title"] in screen.text
    assert server.call("GET", f"/api/v1/gates/{gate['id']}")["answer"]["option"] == "yes"


def test_missing_gate_is_not_found(forge: Terminal):
    assert forge("gates", "show", "nope").code == 5
