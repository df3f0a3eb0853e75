"""`forge agents` against a real server: what is printed, and the exit code."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.agent_server import AgentServer, open_agent_server
from tests.support.agents import finish
from tests.support.server import Server
from tests.support.terminal import Terminal

from forge.kernel.ids import new_id

TEST = "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertEqual({}, 5)\n"


def write(number: int) -> dict[str, Any]:
    return {"write_file": {"path": "test_it.py", "content": TEST.format(number)}}


SCENES: dict[str, Any] = {
    "repairing": {
        "match": {"opening": "Repair it"},
        "turns": [{"tools": [write(5), finish("It is **repaired**.")]}],
    },
    "spoiling": {"match": {"opening": "Spoil it"}, "turns": [{"tools": [write(4), finish("It passes.")]}]},
    "claiming": {"match": {"opening": "Claim it"}, "turns": [{"text": "All tests pass."}]},
    "boasting": {"match": {"opening": "Boast"}, "turns": [{"tools": [finish("Verified.", verified=True)]}]},
}


@pytest.fixture(scope="module")
def agent_server(server: Server) -> Iterator[AgentServer]:
    with open_agent_server(server, SCENES, test_it__py=TEST.format(4)) as running:
        yield running


@pytest.fixture
def forge(server: Server) -> Terminal:
    return Terminal(server.data_dir)


def work(forge: Terminal, agent_server: AgentServer, task: str, *options: str) -> Any:
    return forge("agents", "run", f"{task} {new_id()}", "--workspace", agent_server.workspace_id, *options)


def newest(forge: Terminal) -> Any:
    return forge("runs", "list", "--kind", "agent", "--limit", "1", "--json").data[0]


def test_finished_agent_has_exit_code_0_and_prints_its_summary(forge: Terminal, agent_server: AgentServer):
    said = work(forge, agent_server, "Repair it")
    assert said.code == 0, said
    assert "It is **repaired**." in said.out and "done after 1 turns, 2 tool calls" in said.out
    assert newest(forge)["outcome"] is None


@pytest.mark.parametrize(
    ("task", "outcome"), [("Claim it", "unfinished"), ("Boast", "unverified"), ("Spoil it", "unfinished")]
)
def test_doubtful_end_has_exit_code_1_and_is_shown_in_lists(
    forge: Terminal, agent_server: AgentServer, task: str, outcome: str
):
    said = work(forge, agent_server, task, "--verify", "python3 -m unittest")
    assert said.code == 1 and f"{outcome} after " in said.out, said
    run = newest(forge)
    assert (run["status"], run["outcome"]) == ("completed", outcome)
    assert f"completed {outcome}" in forge("runs", "list", "--kind", "agent", "--limit", "1").out
    assert f"completed {outcome}" in forge("runs", "show", run["id"]).out
    for group in ("runs", "agents"):
        assert forge(group, "watch", run["id"]).code == 1


def test_verification_is_found_run_and_printed(forge: Terminal, agent_server: AgentServer):
    said = work(forge, agent_server, "Repair it", "--verify", "auto")
    assert said.code == 0, said
    assert "Verifying with: python3 -m unittest" in said.err
    assert "✓ verified by Forge  python3 -m unittest: exit code 0" in said.out


def test_command_that_is_no_test_command_is_refused(forge: Terminal, agent_server: AgentServer):
    said = work(forge, agent_server, "Repair it", "--verify", "rm -rf .")
    assert said.code == 2 and "rm" in said.err
