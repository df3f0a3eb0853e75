"""Audits over HTTP, in a complete Forge, on both databases."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.audits.git_project import git, make_project, spoil
from tests.support.live_forge import Live, live, settings_for
from tests.support.timeouts import PATIENCE_S

from forge.audits.routes import AuditQuery

AUDIT = "/audit/run"
CODES = ["A1", "A2", "A3", "A4", "A5", "A6", "A7", "A8", "A9", "W1", "W2", "W3"]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return make_project(tmp_path / "projects" / "basket")


@pytest.fixture
async def live_forge(database_url: str, tmp_path: Path) -> AsyncIterator[Live]:
    """A Forge that may audit folders in `projects`."""
    settings = settings_for(tmp_path / "data", database_url, audit_roots=[tmp_path / "projects"])
    async with live(settings) as running:
        yield running


def data(answer: httpx2.Response) -> Any:
    assert answer.status_code < 300, answer.text
    return answer.json()["data"]


def error(answer: httpx2.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["errors"][0]["code"]


async def ended(client: httpx2.AsyncClient, run_id: str) -> Any:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            detail = data(await client.get(f"/api/v1/runs/{run_id}"))
            if detail["run"]["finished_at"]:
                return detail
            await asyncio.sleep(0.05)


async def events_of(client: httpx2.AsyncClient, run_id: str) -> list[Any]:
    return data(await client.get("/api/v1/events", params={"stream": f"run:{run_id}", "limit": 1000}))


def verdicts(report: Any) -> dict[str, str]:
    return {check["code"]: check["result"] for check in [*report["checks"], *report["warnings"]]}


async def test_an_audit_is_asked_for_and_waited_for(live_forge: Live, project: Path):
    spoil(project)
    async with live_forge.client() as client:
        answer = await client.get(AUDIT, params={"path": str(project), "only": "A4,A9"})
        report = data(answer)
        assert (report["project"], report["overall"]) == ("basket", "FAIL")
        assert verdicts(report) == {"A4": "FAIL", "A9": "FAIL"}
        found = report["checks"][0]["findings"][0]
        assert (found["path"], found["line"], found["excerpt"]) == (
            "app/routers/items.py",
            1,
            "import asyncpg",
        )
        again = await client.get(answer.json()["_links"]["report"])
        assert data(again) == report
    assert not (project / "Forge/evidence").exists()


async def test_an_audit_is_a_run_that_tells_its_checks_and_leaves_one_entry(live_forge: Live, project: Path):
    spoil(project)
    body = {"path": str(project), "phase": "Phase 3", "claimed_files": ["app/routers/items.py"]}
    async with live_forge.client() as client:
        run = data(await client.post(AUDIT, json=body))
        assert (run["kind"], run["title"]) == ("audit", "Audit of basket, Phase 3")
        detail = await ended(client, run["id"])
        events = await events_of(client, run["id"])
        report = data(await client.get(AUDIT, params={"run_id": run["id"]}))
    assert [step["name"] for step in detail["steps"]] == ["audit", "ledger"]
    told = [event for event in events if event["type"].startswith("audit.")]
    once = ["audit.started", *["audit.check"] * 12, "audit.finished", "audit.recorded"]
    assert [event["type"] for event in told] == once
    assert told[0]["data"]["checks"] == CODES
    assert [event["data"]["result"]["code"] for event in told[1:-2]] == CODES
    output = detail["run"]["output"]
    assert told[-1]["data"] == {"entry": 1, "problem": None}
    assert output == told[-2]["data"]["summary"] | {"ledger_entry": 1}
    assert (output["overall"], output["phase"], report["claimed_files"]) == (
        "FAIL",
        "Phase 3",
        ["app/routers/items.py"],
    )
    assert verdicts(report)["A1"] == "PASS"
    assert (project / "Forge/evidence/audit_ledger.md").read_text().count("## Audit Entry") == 1


async def test_partial_audit_is_not_recorded(live_forge: Live, project: Path):
    async with live_forge.client() as client:
        run = data(await client.post(AUDIT, json={"path": str(project), "only": ["W1"]}))
        detail = await ended(client, run["id"])
    assert [step["name"] for step in detail["steps"]] == ["audit"]
    assert (detail["run"]["output"]["only"], detail["run"]["output"]["ledger_problem"]) == (["W1"], None)
    assert not (project / "Forge/evidence").exists()


async def test_a_ledger_that_takes_no_entry_leaves_the_report_and_says_why(live_forge: Live, project: Path):
    evidence = project / "Forge/evidence"
    evidence.mkdir()
    (evidence / "audit_ledger.jsonl").write_text('{"this": "is no entry"}\n')
    async with live_forge.client() as client:
        run = data(await client.post(AUDIT, json={"path": str(project)}))
        detail = await ended(client, run["id"])
        report = data(await client.get(AUDIT, params={"run_id": run["id"]}))
        last = [event for event in await events_of(client, run["id"]) if event["type"] == "audit.recorded"]
    output = detail["run"]["output"]
    assert (detail["run"]["status"], verdicts(report)["W2"]) == ("completed", "FAIL")
    assert "audit_ledger.jsonl" in output["ledger_problem"]
    assert [event["data"] for event in last] == [{"entry": None, "problem": output["ledger_problem"]}]
    assert (evidence / "audit_ledger.jsonl").read_text() == '{"this": "is no entry"}\n'


async def test_reader_sees_audit_roots(live_forge: Live, project: Path):
    async with live_forge.client() as client:
        offered = data(await client.get("/audit/roots"))
    assert offered == {"roots": [str(project.parent)], "projects": [str(project)], "start": None}


async def test_a_workspace_is_audited_against_its_own_history(live_forge: Live):
    async with live_forge.client() as client:
        workspace = data(await client.post("/api/v1/workspaces", json={"name": "play"}))
        (Path(workspace["path"]) / "app.py").write_text("import nothing_of_the_kind\n")
        params = {"workspace_id": workspace["id"], "claimed_files": "app.py", "only": "A1,A2"}
        report = data(await client.get(AUDIT, params=params))
    assert (report["project"], report["changed_files"], verdicts(report)["A1"]) == ("play", 1, "PASS")


async def test_changes_are_counted_from_the_base(live_forge: Live, project: Path):
    spoil(project)
    git(project, "commit", "--quiet", "--all", "-m", "Spoil")
    async with live_forge.client() as client:
        params = {"path": str(project), "only": "A2"}
        now = data(await client.get(AUDIT, params=params))
        before = data(await client.get(AUDIT, params={**params, "base": "HEAD~1"}))
    assert (now["changed_files"], before["changed_files"]) == (0, 1)


async def test_a_read_key_may_ask_for_an_audit_but_not_start_one(live_forge: Live, project: Path):
    async with live_forge.client() as client:
        key = data(await client.post("/api/v1/keys", json={"name": "reader", "scopes": ["read"]}))["key"]
    async with live_forge.client(Authorization=f"Bearer {key}") as client:
        body = {"path": str(project), "only": ["A2"]}
        assert error(await client.post(AUDIT, json=body)) == (403, "denied")
        assert data(await client.get(AUDIT, params={"path": str(project), "only": "A2"}))["overall"] == "PASS"


REFUSED: list[tuple[dict[str, Any], tuple[int, str]]] = [
    ({}, (422, "invalid")),
    ({"path": "/etc"}, (403, "denied")),
    ({"path": "{projects}/../data"}, (403, "denied")),
    ({"path": "{projects}"}, (422, "invalid")),
    ({"path": "{projects}/basket", "only": ["", " "]}, (422, "invalid")),
    ({"path": "{projects}/none"}, (404, "not_found")),
    ({"path": "{projects}/basket", "workspace_id": "x"}, (422, "invalid")),
    ({"workspace_id": "00000000-0000-7000-8000-000000000000"}, (404, "not_found")),
    ({"path": "{projects}/basket", "only": ["A99"]}, (422, "invalid")),
    ({"path": "{projects}/basket", "claimed_files": []}, (422, "invalid")),
    ({"path": "{projects}/basket", "claimed_files": ["/etc/passwd"]}, (422, "invalid")),
    ({"path": "{projects}/basket", "phase": "a\x00b"}, (422, "invalid")),
    ({"path": "a\x00b"}, (422, "invalid")),
    ({"path": "{projects}/basket", "more": 1}, (422, "invalid")),
]


async def test_what_cannot_be_audited_is_refused_before_there_is_a_run(live_forge: Live, project: Path):
    async with live_forge.client() as client:
        for body, expected in REFUSED:
            if "path" in body:
                body = {**body, "path": body["path"].replace("{projects}", str(project.parent))}
            assert error(await client.post(AUDIT, json=body)) == expected, body
        for none in (",", "," * 640):
            asked = {"path": str(project), "only": none}
            assert error(await client.get(AUDIT, params=asked)) == (422, "invalid")
        assert data(await client.get("/api/v1/runs", params={"kind": "audit"})) == []


def test_all_query_parameters_are_accepted():
    longest = {"path": "p" * 2048, "claimed_files": "c" * 4096, "phase": "p" * 200, "base": "b" * 200}
    for only in ("x" * 640, "x," * 320):
        asked = AuditQuery(**longest, only=only, file="f" * 2048).audit()
        assert (asked.ledger, asked.claimed_files) == (False, ["c" * 4096])


async def test_what_the_audit_itself_finds_wrong_is_the_answer(live_forge: Live, project: Path):
    async with live_forge.client() as client:
        params = {"path": str(project), "only": "A2"}
        unknown = await client.get(AUDIT, params={**params, "base": "no-such-branch"})
        assert error(unknown) == (404, "not_found")
        (project / "Forge/Contracts/audit_baseline.json").write_text("{")
        broken = data(await client.get(AUDIT, params={**params, "only": "A9"}))
    assert (broken["overall"], verdicts(broken)) == ("FAIL", {"A9": "ERROR"})
    assert "audit_baseline.json" in broken["checks"][0]["findings"][0]["message"]


async def test_only_an_audit_has_a_report(live_forge: Live):
    async with live_forge.client() as client:
        run = data(await client.post("/api/v1/runs", json={"kind": "self_test"}))
        assert error(await client.get(AUDIT, params={"run_id": run["id"]})) == (404, "not_found")
        assert error(await client.get(AUDIT, params={"run_id": run["id"], "only": "A4"})) == (422, "invalid")
        direct = await client.post("/api/v1/runs", json={"kind": "audit", "input": {}})
        assert error(direct) == (422, "invalid")


async def test_every_check_has_proven_itself_soon_after_the_start(live_forge: Live):
    async with live_forge.client() as client, asyncio.timeout(PATIENCE_S):
        while (told := data(await client.get("/api/v1/status"))["audit_checks"]) is None:
            await asyncio.sleep(0.05)
    assert told == {"sound": len(CODES), "unsound": {}}
