"""Agents over HTTP on a complete server with both databases."""

import asyncio
import os
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.support.agents import finish
from tests.support.live_forge import Live
from tests.support.models import ModelServer, StartModels
from tests.support.timeouts import PATIENCE_S

AGENTS = "/api/v1/agents"
PRICE = {"input": 3, "output": 15}


def data(answer: httpx2.Response) -> Any:
    assert answer.status_code < 300, answer.text
    return answer.json()["data"]


def error(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["errors"][0]["code"]


async def prepare(client: httpx2.AsyncClient, server: ModelServer) -> str:
    """Configure a builder that follows the script, and return the id of a new workspace."""
    provider = {"kind": "anthropic", "base_url": server.url}
    data(await client.put("/api/v1/models/providers/scripted", json=provider))
    ref = "scripted:scripted"
    data(await client.put("/api/v1/models/prices", params={"model": ref}, json=PRICE))
    data(await client.put("/api/v1/models/roles/builder", json={"chain": [ref]}))
    return data(await client.post("/api/v1/workspaces", json={"name": "play"}))["id"]


async def ended(client: httpx2.AsyncClient, run_id: str) -> Any:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            run = data(await client.get(f"/api/v1/runs/{run_id}"))["run"]
            if run["finished_at"]:
                return run
            await asyncio.sleep(0.05)


async def asked(server: ModelServer) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not server.requests():
            await asyncio.sleep(0.02)


async def test_agent_runs_task_and_receives_message(live_forge: Live, model_server: StartModels):
    turns = [
        {"text": "I write it.", "tools": [{"write_file": {"path": "hello.txt", "content": "hello\n"}}]},
        {"tools": [finish("It is written.")]},
    ]
    server = model_server({"scenes": {"only": {"turns": turns}}, "delay_s": 0.05, "piece_chars": 1})
    async with live_forge.client() as client:
        workspace = await prepare(client, server)
        task = {"workspace_id": workspace, "task": "Write hello.txt.\nThen say so."}
        run = data(await client.post(AGENTS, json=task))
        assert (run["kind"], run["title"], run["status"]) == ("agent", "Write hello.txt.", "pending")
        await asked(server)
        message = data(await client.post(f"{AGENTS}/{run['id']}/messages", json={"text": "In English."}))
        run = await ended(client, run["id"])
        assert (run["status"], run["output"]["end"], run["output"]["text"]) == (
            "completed",
            "done",
            "It is written.",
        )
        file = data(await client.get(f"/api/v1/workspaces/{workspace}/file", params={"path": "hello.txt"}))
        assert file["text"] == "hello\n"
        events = data(
            await client.get("/api/v1/events", params={"stream": f"run:{run['id']}", "limit": 1000})
        )
        heard = [event["data"]["messages"] for event in events if event["type"] == "agent.heard"]
        assert [[one["id"] for one in messages] for messages in heard] == [[message["id"]]]
        calls = data(await client.get("/api/v1/models/calls", params={"run_id": run["id"]}))
        assert sum(call["cost_micros"] for call in calls) == run["output"]["cost_micros"] > 0
        late = await client.post(f"{AGENTS}/{run['id']}/messages", json={"text": "Too late."})
        assert error(late) == (409, "conflict")


async def test_data_directory_beside_program_is_not_readable(
    live_forge: Live,
    model_server: StartModels,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
):
    data_dir, project = live_forge.forge.settings.data_dir, tmp_path_factory.mktemp("project")
    program = data_dir.parent / "bin/node"
    for folder in (program.parent, data_dir.parent / "lib"):
        folder.mkdir()
    program.touch(0o755)
    (data_dir / "secret.txt").write_text("a secret")
    (project / "link").symlink_to(data_dir / "secret.txt")
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    turns = [{"tools": [{"run_command": {"command": "cat link"}}]}, {"text": "It is not there."}]
    server = model_server({"scenes": {"only": {"turns": turns}}})
    async with live_forge.client() as client:
        await prepare(client, server)
        adopted = {"name": "adopted", "path": str(project)}
        workspace = data(await client.post("/api/v1/workspaces", json=adopted))["id"]
        run = data(await client.post(AGENTS, json={"workspace_id": workspace, "task": "Look."}))
        await ended(client, run["id"])
        stream = {"stream": f"run:{run['id']}", "limit": 1000}
        events = data(await client.get("/api/v1/events", params=stream))
    [tool] = [event["data"] for event in events if event["type"] == "agent.tool"]
    assert (tool["detail"]["end"], tool["detail"]["exit_code"]) == ("exited", 1)


async def test_cancel_closes_stream_and_records_cost(live_forge: Live, model_server: StartModels):
    server = model_server({"scenes": {"only": {"turns": [{"text": "word " * 2000}]}}, "delay_s": 0.05})
    async with live_forge.client() as client:
        workspace = await prepare(client, server)
        run = data(await client.post(AGENTS, json={"workspace_id": workspace, "task": "Talk."}))
        await asked(server)
        assert data(await client.post(f"/api/v1/runs/{run['id']}/cancel"))["status"] == "cancelled"
        async with asyncio.timeout(PATIENCE_S):
            while server.stats().disconnected == 0:
                await asyncio.sleep(0.02)
            calls = [{"status": "open"}]
            while [call["status"] for call in calls] == ["open"]:
                calls = data(await client.get("/api/v1/models/calls", params={"run_id": run["id"]}))
    assert [call["status"] for call in calls] == ["failed"]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"workspace_id": "00000000-0000-7000-8000-000000000000", "task": "x"}, (404, "not_found")),
        ({"workspace_id": "x", "task": ""}, (422, "invalid")),
        ({"workspace_id": "x", "task": " \n"}, (422, "invalid")),
        ({"workspace_id": "x", "task": "a\x00b"}, (422, "invalid")),
        ({"workspace_id": "x"}, (422, "invalid")),
        ({"workspace_id": "x", "task": "x", "role": "king"}, (422, "invalid")),
        ({"workspace_id": "x", "task": "x", "limits": {"turns": 0}}, (422, "invalid")),
        ({"workspace_id": "x", "task": "x", "more": 1}, (422, "invalid")),
        ({"workspace_id": "x", "task": "x", "verify": " "}, (422, "invalid")),
    ],
)
async def test_invalid_task_is_refused(live_forge: Live, body: dict[str, Any], expected: tuple[int, str]):
    async with live_forge.client() as client:
        assert error(await client.post(AGENTS, json=body)) == expected


async def test_message_to_other_run_kind_is_refused(live_forge: Live):
    async with live_forge.client() as client:
        run = data(await client.post("/api/v1/runs", json={"kind": "self_test"}))
        response = await client.post(f"{AGENTS}/{run['id']}/messages", json={"text": "hello"})
        assert error(response) == (404, "not_found")
        nowhere = await client.post(f"{AGENTS}/none/messages", json={"text": "hello"})
        assert error(nowhere) == (404, "not_found")
        direct = await client.post("/api/v1/runs", json={"kind": "agent", "input": {}})
        assert error(direct) == (422, "invalid")


async def test_verify_accepts_only_test_commands_and_likely_ones_are_listed(live_forge: Live):
    async with live_forge.client() as client:
        workspace = data(await client.post("/api/v1/workspaces", json={"name": "play"}))
        (Path(workspace["path"]) / "test_a.py").touch()
        found = await client.get(f"{AGENTS}/verify-commands", params={"workspace_id": workspace["id"]})
        assert data(found) == {"commands": ["python3 -m unittest"]}
        task = {"workspace_id": workspace["id"], "task": "x", "verify": "pip install x"}
        refused = await client.post(AGENTS, json=task)
        assert (error(refused), refused.json()["errors"][0]["field"]) == ((422, "invalid"), "verify")
        elsewhere = await client.get(f"{AGENTS}/verify-commands", params={"workspace_id": "none"})
        assert error(elsewhere) == (404, "not_found")
