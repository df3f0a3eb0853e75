from typing import Any

import pytest
from tests.support.server import Server, wait_until
from tests.support.terminal import Terminal, open_screen


@pytest.fixture
def gate(server: Server) -> dict[str, Any]:
    given = {"kind": "self_test", "input": {"step_ms": 0, "ask": True}}
    run_id = server.call("POST", "/api/v1/runs", given)["id"]
    (found,) = wait_until(lambda: server.call("GET", f"/api/v1/runs/{run_id}")["gates"], what="the gate")
    return found


def test_open_gates_are_listed(forge: Terminal, gate: dict[str, Any]):
    assert gate in forge("gates", "list", "--json").data
    assert gate["id"] in forge("gates", "list").out


def test_settled_gates_are_listed_when_asked_for(forge: Terminal, gate: dict[str, Any]):
    forge("gates", "answer", gate["id"], "no")
    assert gate["id"] not in forge("gates", "list").out
    assert gate["id"] in forge("gates", "list", "--all").out


def test_a_gate_is_shown_with_all_that_an_answer_is_bound_to(forge: Terminal, gate: dict[str, Any]):
    page = forge("gates", "show", gate["id"][:-1]).out
    for words in (gate["title"], gate["body"], *gate["payload"].values(), "yes", "no"):
        assert words in page
    assert forge("gates", "show", gate["id"], "--json").data == gate


def test_an_answer_goes_through(forge: Terminal, gate: dict[str, Any]):
    said = forge("gates", "answer", gate["id"], "yes", "--comment", "go on", "--json")
    assert said.data["answer"]["option"] == "yes"
    assert said.data["answer"]["comment"] == "go on"
    assert "go on" in forge("gates", "show", gate["id"]).out


def test_the_question_is_shown_before_it_is_answered(forge: Terminal, gate: dict[str, Any]):
    said = forge("gates", "answer", gate["id"], "yes")
    assert (said.code, said.out) == (0, "Answered: yes\n")
    assert gate["title"] in said.err


def test_the_first_answer_wins(forge: Terminal, gate: dict[str, Any]):
    forge("gates", "answer", gate["id"], "yes")
    said = forge("gates", "answer", gate["id"], "no")
    assert (said.code, said.out) == (6, "")
    assert forge("gates", "show", gate["id"], "--json").data["answer"]["option"] == "yes"


def test_an_answer_that_is_no_option_names_the_options(forge: Terminal, gate: dict[str, Any]):
    said = forge("gates", "answer", gate["id"], "maybe")
    assert said.code == 2
    assert "yes, no" in said.err


def test_without_a_terminal_an_option_is_needed(forge: Terminal, gate: dict[str, Any]):
    said = forge("gates", "answer", gate["id"])
    assert said.code == 2
    assert "yes, no" in said.err


def test_in_a_terminal_one_is_asked(server: Server, gate: dict[str, Any]):
    with open_screen(server.data_dir, "gates", "answer", gate["id"]) as screen:
        screen.wait_for("Your answer")
        screen.type("yes\n")
        assert screen.end() == 0
        assert gate["title"] in screen.text
    assert server.call("GET", f"/api/v1/gates/{gate['id']}")["answer"]["option"] == "yes"


def test_a_gate_that_is_not_there_is_not_found(forge: Terminal):
    assert forge("gates", "show", "nope").code == 5
