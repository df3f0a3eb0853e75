"""Real skills of a bot in a whole Forge, on both databases."""

from typing import Any

import httpx2
from tests.support.chat_client import data, open_bot_client, problem
from tests.support.live_forge import Live
from tests.support.models import StartModels

TITLE = {"match": {"system": "Give the conversation"}, "turns": [{"text": "Numbers"}]}
SKILL_MD = """\
---
name: add-up
description: Adds numbers up. Use it whenever numbers are to be added.
metadata:
  forge-kind: script
  version: 1.2.0
---
Give it `numbers`, a list. See notes/limits.md.
"""
SOURCE = """\
function run(input) {
  if (!Array.isArray(input.numbers)) throw new Error("`numbers` must be a list.");
  return { sum: input.numbers.reduce((sum, one) => sum + one, 0), unit: settings.unit };
}
"""


async def add_skill(client: httpx2.AsyncClient) -> None:
    files = {"SKILL.md": SKILL_MD, "skill.js": SOURCE, "notes/limits.md": "At most a thousand."}
    data(await client.post("/api/v1/skills", json={"name": "add-up", "files": files}))


def results(body: Any) -> list[str]:
    parts = [part for message in body["messages"] for part in message["content"]]
    found = [part["content"] for part in parts if part["type"] == "tool_result"]
    return [text if isinstance(text, str) else text[0]["text"] for text in found]


async def test_bot_opens_and_runs_a_real_script(live_forge: Live, model_server: StartModels):
    turns = [
        {"text": "I add them up.", "tools": [{"use_skill": {"name": "add-up"}}]},
        {"tools": [{"read_skill_file": {"name": "add-up", "path": "notes/limits.md"}}]},
        {"tools": [{"run_skill": {"name": "add-up", "input": {"numbers": [20, 22]}}}]},
        {"tools": [{"run_skill": {"name": "add-up", "input": {"numbers": 1}}}]},
        {"text": "42 apples."},
    ]
    server = model_server({"scenes": {"title": TITLE, "talk": {"turns": turns}}})
    async with live_forge.client() as client:
        bot = await open_bot_client(client, server)
        await add_skill(client)
        body = {"skill_name": "add-up", "version": "^1.2", "overrides": {"unit": "apples"}}
        attached = data(await client.post("/api/v1/bots/ada/skills", json=body))
        assert (attached["is_offered"], attached["kind"], attached["version"], attached["pin"]) == (
            True,
            "script",
            "1.2.0",
            "^1.2",
        )
        answer = await bot.say("What is 20 and 22?")
        sent = [one.body for one in server.requests() if "<soul>" in str(one.body.get("system"))][-1]
        runs = data(await client.get("/api/v1/skills/add-up/runs"))
        assert answer["text"] == "I add them up.\n\n42 apples."
        opened, read, ran, failed = results(sent)
        assert "Give it `numbers`" in opened and "At most a thousand." in read
        assert '"sum": 42' in ran and '"unit": "apples"' in ran
        assert failed.startswith("Error: ") and "`numbers` must be a list." in failed
        assert [(use["how"], use["state"]) for use in answer["answer"]["skills_used"]] == [
            ("opened", "done"),
            ("read", "done"),
            ("ran", "done"),
            ("ran", "failed"),
        ]
        assert [(run["purpose"], run["end"], run["by"]) for run in runs] == [
            ("chat", "raised", "ada"),
            ("chat", "done", "ada"),
        ]


async def test_skills_are_attached_changed_and_detached_over_http(live_forge: Live):
    async with live_forge.client() as client:
        data(await client.post("/api/v1/bots", json={"name": "Ada"}))
        path = "/api/v1/bots/ada/skills"
        assert problem(await client.post(path, json={"skill_name": "nowhere"})) == (404, "not_found")
        assert problem(await client.post(path, json={"skill_name": "summarize", "version": "new"}))[0] == 422
        assert problem(await client.patch(f"{path}/summarize", json={"enabled": False}))[0] == 404
        data(await client.post(path, json={"skill_name": "summarize"}))
        assert problem(await client.post(path, json={"skill_name": "summarize"})) == (409, "conflict")
        off = data(await client.patch(f"{path}/summarize", json={"enabled": False}))
        assert (off["enabled"], off["is_offered"]) == (False, False)
        (card,) = [one for one in data(await client.get("/api/v1/skills")) if one["name"] == "summarize"]
        assert card["bots"] == ["ada"]
        data(await client.delete(f"{path}/summarize"))
        assert data(await client.get(path)) == []
        versions = data(await client.get("/api/v1/bots/ada/skills-file/versions"))
        assert [version["message"] for version in versions] == [
            "Detach summarize",
            "Disable summarize",
            "Attach summarize",
            "Created",
        ]
