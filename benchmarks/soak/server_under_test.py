"""The server under test: with a scripted model, a bot, a skill, a workspace and a workflow with every type of step."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from tests.audits.git_project import make_project
from tests.support.agents import finish
from tests.support.chat_client import PRICE, REF, data
from tests.support.models import ModelServer, open_models
from tests.workflows.workflow_client import Steps, code, step
from websockets.asyncio.client import connect

from benchmarks.startup import answering, server_file

BOT, SKILL, WORKFLOW, ERRAND, PROJECT = "ada", "add-up", "everything", "errand", "basket"
ROLES = ("bot", "utility", "builder")
CHEAP = {"input": 0.01, "output": 0.01}
"""Budgets must not end the soak."""
SCRIPT: dict[str, Any] = {
    "scenes": {
        "titles": {"match": {"system": "Give the conversation"}, "turns": [{"text": "A talk"}]},
        "facts": {"match": {"system": "You keep the long-term memory"}, "turns": [{"json": {"facts": []}}]},
        "work": {
            "match": {"opening": "Write a note"},
            "turns": [
                {"text": "I look first.", "tools": [{"list_directory": {"path": "."}}]},
                {"text": "I write.", "tools": [{"write_file": {"path": "note.txt", "content": "a note\n"}}]},
                {"text": "I try.", "tools": [{"run_command": {"command": "cat note.txt"}}]},
                {"tools": [finish()]},
            ],
        },
        "talk": {"turns": [{"text": "word " * 100}], "after": "repeat"},
    },
    "delay_s": 0.01,
    "piece_chars": 40,
}
SKILL_FILES = {
    "SKILL.md": f"---\nname: {SKILL}\ndescription: Adds up.\nmetadata:\n  forge-kind: script\n---\nGive it n.\n",
    "skill.js": "function run(input) { console.log('adding'); return { n: input.n + 1 }; }\n",
}


def steps_of(url: str) -> Steps:
    return [
        code("begin", "return { n: 3, items: [1, 2, 3] };"),
        step("fetch", "http", "begin", url=f"{url}/health"),
        step("choose", "conditional", "fetch", condition="true", then_steps=["yes"], else_steps=["no"]),
        code("yes", "return input.n;", None, input={"n": "{{ steps.begin.output.output.n }}"}),
        code("no", "return 0;"),
        step("each", "loop", ["yes", "no"], items="{{ steps.begin.output.output.items }}", parallel=2, body_steps=["add"]),
        step("add", "skill", None, skill=SKILL, input={"n": "{{ loop.item }}"}),
        step("rest", "wait", "each", seconds=0.2),
        step("ask", "agent", "each", bot=BOT, prompt="Say something about {{ workflow.run_id }}."),
        step("errand", "sub_workflow", "each", workflow_name=ERRAND),
        step("tell", "message", "ask", to=BOT, body="Hear this."),
        step("agree", "approval", ["rest", "errand", "tell"], prompt="Go on?"),
        code("broken", "throw new Error('never');", "agree", on_error="continue"),
    ]  # fmt: skip


@dataclass(frozen=True)
class ServerUnderTest:
    url: str
    key: str
    pid: int
    client: httpx2.AsyncClient
    workspace_id: str
    project_id: str
    account_id: str

    def socket(self, path: str = "/ws") -> connect:
        address = self.url.replace("http://", "ws://") + path
        headers = {"Authorization": f"Bearer {self.key}"}
        return connect(address, additional_headers=headers, max_size=None, open_timeout=120)

    async def get(self, path: str, **query: Any) -> Any:
        return data(await self.client.get(path, params=query))

    async def post(self, path: str, body: Any = None) -> Any:
        return data(await self.client.post(path, json=body or {}))


@asynccontextmanager
async def open_server(folder: Path) -> AsyncGenerator[ServerUnderTest]:
    """Start the server. Everything it writes is in `folder`: `data`, `tmp`, its counts and its output."""
    (folder / "tmp").mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FORGE_")} | {
        "TMPDIR": str(folder / "tmp"),
        "FORGE_RATE_LIMIT_PER_MINUTE": "1000000",
        "FORGE_HTTP_ALLOW": "127.0.0.1",
        "FORGE_AUDIT_ROOTS": "[]",
    }
    module, arguments = "benchmarks.contenders.counted_server", ["serve", "--data-dir", str(folder / "data")]
    with (
        open_models(SCRIPT) as models,
        (folder / "server.log").open("wb") as said,
        answering(module, *arguments, environment=environment, output=said) as server,
    ):
        found = server_file(folder / "data")
        headers = {"Authorization": f"Bearer {found['key']}"}
        limits = httpx2.Limits(max_connections=100, max_keepalive_connections=20)
        async with httpx2.AsyncClient(
            base_url=found["url"], headers=headers, timeout=120, limits=limits
        ) as client:
            await _connect(client, models)
            yield await _prepare(client, found, server.pid, make_project(folder / PROJECT))


async def _connect(client: httpx2.AsyncClient, models: ModelServer) -> None:
    provider = {"kind": "anthropic", "base_url": models.url}
    data(await client.put("/api/v1/models/providers/scripted", json=provider))
    data(await client.put("/api/v1/models/prices", params={"model": REF}, json=PRICE | CHEAP))
    for role in ROLES:
        data(await client.put(f"/api/v1/models/roles/{role}", json={"chain": [REF]}))


async def _prepare(
    client: httpx2.AsyncClient, found: dict[str, str], pid: int, project: Path
) -> ServerUnderTest:
    async def post(what: str, **body: Any) -> Any:
        return data(await client.post(f"/api/v1/{what}", json=body))

    await post("bots", name=BOT)
    await post("skills", name=SKILL, files=SKILL_FILES)
    errand = {"name": ERRAND, "steps": [code("there", "return 1;"), code("back", "return 2;", "there")]}
    await post("workflows", definition=errand)
    await post("workflows", definition={"name": WORKFLOW, "steps": steps_of(found["url"])})
    return ServerUnderTest(
        url=found["url"],
        key=found["key"],
        pid=pid,
        client=client,
        workspace_id=(await post("workspaces", name="desk"))["id"],
        project_id=(await post("workspaces", name=PROJECT, path=str(project)))["id"],
        account_id=data(await client.get("/api/v1/me"))["account"]["id"],
    )
