"""Models that write tool calls as text, through the whole stack: HTTP API, engine, client, tools, sandbox."""

from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.agents.test_routes import AGENTS, data, ended
from tests.support.live_forge import Live
from tests.support.models import ModelServer, StartModels

from forge.demo.model_script import find_script

BROKEN = "def add(a, b):\n    return a - b\n"
TEST = """import unittest

from calc import add


class AddTest(unittest.TestCase):
    def test_sum(self):
        self.assertEqual(add(2, 3), 5)
"""
DIALECTS = ("bare", "fenced", "tagged", "function", "parameters", "token", "attributes")


@pytest.fixture
def server(model_server: StartModels) -> ModelServer:
    return model_server(find_script("text-calls"))


async def fix_the_test(
    client: httpx2.AsyncClient, server: ModelServer, model: str, *, kind: str = "openai", **price: Any
) -> tuple[Any, Path]:
    """Give a model the task to repair a failing test; return its finished run and the workspace."""
    base = f"{server.url}/v1" if kind == "openai" else server.url
    data(await client.put("/api/v1/models/providers/local", json={"kind": kind, "base_url": base}))
    ref = f"local:{model}"
    terms = {"input": 1, "output": 2, "context_window": 100_000, **price}
    data(await client.put("/api/v1/models/prices", params={"model": ref}, json=terms))
    data(await client.put("/api/v1/models/roles/builder", json={"chain": [ref]}))
    workspace = data(await client.post("/api/v1/workspaces", json={"name": "calc"}))
    root = Path(workspace["path"])
    (root / "calc.py").write_text(BROKEN)
    (root / "test_calc.py").write_text(TEST)
    task = {"workspace_id": workspace["id"], "task": "Make the test pass."}
    return await ended(client, data(await client.post(AGENTS, json=task))["id"]), root


async def event_data(client: httpx2.AsyncClient, run: Any, kind: str) -> list[Any]:
    found = data(await client.get("/api/v1/events", params={"stream": f"run:{run['id']}", "limit": 1000}))
    return [event["data"] for event in found if event["type"] == kind]


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_agent_fixes_failing_test_with_calls_written_as_text(
    live_forge: Live, server: ModelServer, dialect: str
):
    async with live_forge.client() as client:
        run, root = await fix_the_test(client, server, f"text-{dialect}")
        turns = await event_data(client, run, "agent.turn")
        used = await event_data(client, run, "agent.tool")
        calls = data(await client.get("/api/v1/models/calls", params={"run_id": run["id"]}))
    output = run["output"]
    assert (run["status"], run["outcome"], output["end"]) == ("completed", None, "done")
    assert (output["text"], output["verified"]) == ("add returns the sum.", True)
    assert (root / "calc.py").read_text() == BROKEN.replace("-", "+")
    assert [one["is_error"] for one in used if one["name"] == "run_tests"] == [True, False]
    assert all(call["as_text"] for turn in turns for call in turn["tools"])
    assert {turn["text"] for turn in turns} <= {"", "I begin with the tests."}
    sent = [entry.usage for entry in server.requests() if entry.usage]
    counted = [
        (call["usage"]["input"] + call["usage"]["cache_read"], call["usage"]["output"]) for call in calls
    ]
    assert counted[::-1] == [(usage.prompt_tokens, usage.output_tokens) for usage in sent]
    total = output["usage"]
    assert (total["input"] + total["cache_read"], total["output"]) == (
        sum(usage.prompt_tokens for usage in sent),
        sum(usage.output_tokens for usage in sent),
    )


async def test_text_that_talks_about_a_tool_is_reminded_of_the_format_once(
    live_forge: Live, server: ModelServer
):
    async with live_forge.client() as client:
        run, _ = await fix_the_test(client, server, "text-reminded")
        [reminder] = await event_data(client, run, "agent.reminded")
    assert run["output"]["end"] == "done"
    assert '{"name": "run_tests", "arguments": {"command": "<command>"}}' in reminder["text"]
    second = server.requests()[1].body["messages"]
    assert second[-1] == {"role": "user", "content": reminder["text"]}


async def test_model_that_refuses_to_use_tools_is_pushed_back_once_and_ends_unfinished(
    live_forge: Live, server: ModelServer
):
    async with live_forge.client() as client:
        run, root = await fix_the_test(client, server, "text-refusal")
        [reminder] = await event_data(client, run, "agent.reminded")
        [listed] = data(await client.get("/api/v1/runs", params={"kind": "agent"}))
    assert (run["status"], run["outcome"]) == ("completed", "unfinished")
    assert (run["output"]["end"], run["output"]["turns"], run["output"]["verified"]) == (
        "unfinished",
        2,
        None,
    )
    assert listed["outcome"] == "unfinished"
    assert "You have not run anything yet" in reminder["text"]
    assert (root / "calc.py").read_text() == BROKEN


@pytest.mark.parametrize(
    ("kind", "price", "end"),
    [
        ("anthropic", {}, "unfinished"),
        ("anthropic", {"text_tool_calls": True}, "done"),
        ("openai", {"text_tool_calls": False}, "unfinished"),
    ],
)
async def test_text_calls_are_executed_only_for_models_that_need_it(
    live_forge: Live, server: ModelServer, kind: str, price: dict[str, bool], end: str
):
    async with live_forge.client() as client:
        run, root = await fix_the_test(client, server, "text-tagged", kind=kind, **price)
    assert run["output"]["end"] == end
    assert ((root / "calc.py").read_text() == BROKEN) == (end == "unfinished")


@pytest.mark.parametrize("fault", ["repetition", "max_tokens"])
async def test_complete_call_in_a_cut_off_text_is_executed_once(
    live_forge: Live, model_server: StartModels, fault: str
):
    call = '{"name": "run_tests", "arguments": {"command": "python3 -m unittest"}}\n'
    finish = '{"name": "finish", "arguments": {"summary": "It fails.", "verified": false}}'
    text = call if fault == "repetition" else call * 3
    turns = [{"text": text, "fault": {"kind": fault, "times": 1}}, {"text": finish}]
    server = model_server({"scenes": {"only": {"turns": turns}}})
    async with live_forge.client() as client:
        run, _ = await fix_the_test(client, server, "scripted")
        first, *_ = await event_data(client, run, "agent.turn")
        used = await event_data(client, run, "agent.tool")
    assert [call["name"] for call in first["tools"]] == ["run_tests"]
    assert [one["name"] for one in used if one["turn"] == 1] == ["run_tests"]
    assert run["output"]["end"] == "unfinished"
