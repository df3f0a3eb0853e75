"""Triggers in a running Forge, from saving a workflow to the run."""

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import sqlalchemy as sa
from pydantic import SecretStr
from tests.support.live_forge import Live, live, settings_for
from tests.support.timeouts import PATIENCE_S

from forge.kernel.clock import now
from forge.workflows.tables import workflow_runs
from forge.workflows.triggers.delivery import SAME_BODY_WINDOW

pytestmark = pytest.mark.anyio

STEPS = [{"id": "pause", "type": "wait", "config": {"type": "wait", "seconds": 0}}]


@pytest.fixture
async def live_forge(database_url: str, tmp_path: Path) -> AsyncIterator[Live]:
    """Allow workflows to watch folders of the test."""
    async with live(settings_for(tmp_path / "data", database_url, audit_roots=[tmp_path])) as running:
        yield running


@pytest.fixture
async def client(live_forge: Live) -> AsyncIterator[httpx2.AsyncClient]:
    async with live_forge.client() as client:
        yield client


async def save(
    client: httpx2.AsyncClient, name: str, *triggers: dict[str, Any], **more: Any
) -> dict[str, Any]:
    definition = {"name": name, "triggers": list(triggers), "steps": STEPS, **more}
    answer = await client.post("/api/v1/workflows", json={"definition": definition})
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


async def runs_of(client: httpx2.AsyncClient, name: str, count: int) -> list[dict[str, Any]]:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            found = (await client.get(f"/api/v1/workflows/{name}/runs")).json()["data"]
            if sum(run["status"] == "completed" for run in found) >= count:
                return found
            await asyncio.sleep(0.05)


async def test_webhook_is_active_while_workflow_exists(live_forge: Live, client: httpx2.AsyncClient):
    await live_forge.forge.accounts.vault.of(live_forge.account_id).set("HOOK", SecretStr("s3cret"))
    trigger = {
        "type": "webhook",
        "path": "/deploy/api",
        "auth": {"type": "hmac_sha256", "secret_name": "HOOK"},
    }
    outputs = {"who": "{{ trigger.who }}", "event": "{{ workflow.trigger.headers['x-github-event'] }}"}
    saved = await save(client, "deploy", trigger, outputs=outputs)
    (view,) = saved["triggers"]
    assert view["url"].endswith("/webhooks/deploy/api")
    body = json.dumps({"who": "me"}).encode()
    code = hmac.new(b"s3cret", body, hashlib.sha256).hexdigest()
    headers = {
        "Content-Type": "application/json",
        "X-Hub-Signature-256": f"sha256={code}",
        "X-GitHub-Delivery": "1",
        "X-GitHub-Event": "push",
        "Origin": "https://elsewhere.example",
    }
    async with httpx2.AsyncClient(base_url=live_forge.url) as sender:
        refused = await sender.post("/webhooks/deploy/api", content=body)
        assert (refused.status_code, refused.json()["errors"][0]["code"]) == (401, "unauthenticated")
        answers = [await sender.post("/webhooks/deploy/api", content=body, headers=headers) for _ in range(2)]
        first, again = (answer.json()["data"] for answer in answers)
        assert [answer.status_code for answer in answers] == [202, 202]
        assert first["status"] == "submitted" and again == {
            **first,
            "status": "duplicate",
            "is_duplicate": True,
        }
        too_large = await sender.post("/webhooks/deploy/api", content=b"x" * (1 << 20 | 1), headers=headers)
        assert too_large.status_code == 413
        (run,) = await runs_of(client, "deploy", 1)
        detail = (await client.get(f"/api/v1/workflow-runs/{run['id']}")).json()["data"]
        assert (run["id"], detail["output"]) == (first["run_id"], {"who": "me", "event": "push"})
        await client.patch("/api/v1/workflows/deploy", json={"is_enabled": False})
        assert (await sender.post("/webhooks/deploy/api", content=body, headers=headers)).status_code == 404
        await client.patch("/api/v1/workflows/deploy", json={"is_enabled": True})
        assert (await sender.post("/webhooks/deploy/api", content=body, headers=headers)).status_code == 202
        await client.delete("/api/v1/workflows/deploy")
        assert (await sender.post("/webhooks/deploy/api", content=body, headers=headers)).status_code == 404


async def test_same_signed_body_is_a_new_delivery_after_some_minutes(
    live_forge: Live, client: httpx2.AsyncClient
):
    await live_forge.forge.accounts.vault.of(live_forge.account_id).set("HOOK", SecretStr("s3cret"))
    auth = {"type": "hmac_sha256", "secret_name": "HOOK"}
    await save(client, "deploy", {"type": "webhook", "path": "/deploy", "auth": auth})
    signature = hmac.new(b"s3cret", b"{}", hashlib.sha256).hexdigest()

    async def deliver() -> dict[str, Any]:
        headers = {"Content-Type": "application/json", "X-Hub-Signature-256": f"sha256={signature}"}
        return (await client.post("/webhooks/deploy", content=b"{}", headers=headers)).json()["data"]

    first, again = await deliver(), await deliver()
    assert (again["status"], again["run_id"]) == ("duplicate", first["run_id"])
    async with live_forge.forge.store.begin() as tx:
        await tx.execute(sa.update(workflow_runs).values(created_at=now() - SAME_BODY_WINDOW))
    later = await deliver()
    assert (later["status"], later["run_id"] != first["run_id"]) == ("submitted", True)


async def test_only_allowed_folders_can_be_watched(live_forge: Live, client: httpx2.AsyncClient):
    created = await client.post("/api/v1/keys", json={"name": "writer", "scopes": ["write"]})
    async with live_forge.client(Authorization=f"Bearer {created.json()['data']['key']}") as writer:
        await save(writer, "own")
        for path in ("/etc", "/", "/proc/self", "relative/path", str(live_forge.forge.settings.data_dir)):
            trigger = {"type": "file_watch", "paths": [path]}
            body = {"definition": {"name": "own", "triggers": [trigger], "steps": STEPS}}
            for method, route in (("POST", "/workflows"), ("PUT", "/workflows/own")):
                answer = await writer.request(method, f"/api/v1{route}", json=body)
                (error,) = answer.json()["errors"]
                assert (answer.status_code, path in error["message"]) == (422, True), answer.text
            (problem,) = (await writer.post("/api/v1/workflows/read", json=body)).json()["data"]["problems"]
            assert (problem["is_warning"], path in problem["message"]) == (False, True)


async def test_new_triggers_are_active_without_restart(client: httpx2.AsyncClient, tmp_path: Path):
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    await save(client, "tick", {"type": "cron", "schedule": "every second"})
    await save(client, "after", {"type": "event", "event_type": "run.completed", "source": "workflow:drop"})
    await save(client, "drop", {"type": "file_watch", "paths": [str(inbox)], "patterns": ["*.txt"]})
    assert {run["trigger"] for run in await runs_of(client, "tick", 1)} == {"cron"}
    await client.delete("/api/v1/workflows/tick")
    async with asyncio.timeout(PATIENCE_S):
        number = 0
        while not (await client.get("/api/v1/workflows/drop/runs")).json()["data"]:
            (inbox / f"{number}.txt").write_text("1")  # files are ignored until the watch is active
            number += 1
            await asyncio.sleep(1)
    assert (await runs_of(client, "drop", 1))[0]["source"].startswith(str(inbox))
    assert (await runs_of(client, "after", 1))[0]["trigger"] == "event"


async def test_invalid_trigger_is_rejected(client: httpx2.AsyncClient):
    for trigger, word in (
        ({"type": "cron", "schedule": "every blue moon"}, "every blue moon"),
        ({"type": "cron", "schedule": "daily", "timezone": "Mars/Olympus"}, "Mars/Olympus"),
        ({"type": "event", "event_type": "run.finished"}, "run.finished"),
        ({"type": "file_watch", "paths": ["relative/path"]}, "it is a relative path"),
        ({"type": "file_watch", "paths": ["/"]}, "outside the folders that may be watched"),
        ({"type": "file_watch", "paths": ["/proc/self"]}, "/proc/self"),
        ({"type": "file_watch", "paths": ["/etc"]}, "FORGE_AUDIT_ROOTS"),
    ):
        definition = {"name": "bad", "triggers": [trigger], "steps": STEPS}
        answer = await client.post("/api/v1/workflows", json={"definition": definition})
        assert answer.status_code == 422 and word in answer.text
    assert (await client.get("/api/v1/workflows")).json()["data"] == []
