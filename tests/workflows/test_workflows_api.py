"""The HTTP API of workflow definitions."""

import asyncio
from typing import Any

import pytest
from tests.support.live_forge import Live
from tests.workflows.workflow_client import WorkflowClient, code, statuses, step

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)

SOURCE = """\
# What the morning begins with
name: morning # every day
steps:
  - id: look # first of all
    type: wait
    config: { seconds: 0 }
"""


@pytest.fixture
def workflows(live_forge: Live) -> WorkflowClient:
    return WorkflowClient(live_forge)


async def test_yaml_comments_are_preserved(workflows: WorkflowClient):
    created = await workflows.request("POST", "/workflows", json={"source": SOURCE})
    assert (created["source"], created["number"], created["name"]) == (SOURCE, 1, "morning")
    changed = created["definition"]
    changed["description"] = "Looks around."
    changed["steps"].append({"id": "again", "type": "wait", "depends_on": ["look"], "config": {"seconds": 1}})
    found = await workflows.request(
        "PUT", "/workflows/morning", json={"definition": changed, "expected_number": 1}
    )
    assert found["number"] == 2
    for comment in ("# What the morning begins with", "# every day", "# first of all"):
        assert comment in found["source"]
    again = await workflows.request("POST", "/workflows/read", json={"source": found["source"]})
    assert (again["is_usable"], again["definition"]) == (True, found["definition"])
    versions = await workflows.request("GET", "/workflows/morning/versions")
    assert [one["number"] for one in versions] == [2, 1]
    assert (await workflows.request("GET", "/workflows/morning/versions/1"))["source"] == SOURCE


async def test_saving_unchanged_definition_creates_no_version(workflows: WorkflowClient):
    await workflows.request("POST", "/workflows", json={"source": SOURCE})
    assert (await workflows.request("PUT", "/workflows/morning", json={"source": SOURCE}))["number"] == 1


async def test_concurrent_update_is_a_conflict(workflows: WorkflowClient):
    await workflows.create("mine", [step("a", "wait", seconds=0)])
    changed: dict[str, Any] = {"name": "mine", "steps": [step("b", "wait", seconds=0)]}
    await workflows.request("PUT", "/workflows/mine", json={"definition": changed, "expected_number": 1})
    changed["description"] = "Mine"
    status, error = await workflows.refused(
        "PUT", "/workflows/mine", json={"definition": changed, "expected_number": 1}
    )
    assert (status, error["detail"]) == (409, {"number": 2})


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([step("a", "wait", "b", seconds=0), step("b", "wait", "a", seconds=0)], "depend on each other"),
        ([step("a", "wait", "nope", seconds=0)], "nope"),
        ([code("a", "return 1;", input="{{ steps.b.output }}")], "no step `b`"),
        ([step(f"s{i}", "wait", seconds=0) for i in range(10_000)], "1,000"),
        ([step("a", "wait", seconds=0, condition="1 +")], "condition"),
    ],
    ids=["cycle", "unknown step", "unknown reference", "too many", "invalid expression"],
)
async def test_invalid_definition_is_rejected_with_position(
    workflows: WorkflowClient, steps: list[dict[str, Any]], message: str
):
    body = {"definition": {"name": "bad", "steps": steps}}
    status, error = await workflows.refused("POST", "/workflows", json=body)
    assert status == 422
    first = error["detail"]["problems"][0]
    assert message.lower() in (first["message"] + first["path"] + (first["hint"] or "")).lower()
    assert first["line"] >= 1 and first["column"] >= 1
    assert await workflows.request("GET", "/workflows") == []


async def test_name_is_unique_and_free_after_deletion(workflows: WorkflowClient):
    await workflows.create("one", [step("a", "wait", seconds=0)])
    status, _ = await workflows.refused(
        "POST", "/workflows", json={"definition": {"name": "one", "steps": [step("a", "wait", seconds=0)]}}
    )
    assert status == 409
    await workflows.request("DELETE", "/workflows/one")
    await workflows.create("one", [step("a", "wait", seconds=0)])


async def test_delete_cancels_active_and_keeps_finished_runs(workflows: WorkflowClient):
    await workflows.create("gone", [step("ok", "approval", prompt="?")])
    done = await workflows.trigger("gone")
    await workflows.until(done, "waiting")
    await workflows.request("POST", f"/workflow-runs/{done}/approve", json={})
    await workflows.until(done)
    active = await workflows.trigger("gone")
    await workflows.until(active, "waiting")
    await workflows.request("DELETE", "/workflows/gone")
    assert (await workflows.until(active))["status"] == "cancelled"
    shown = await workflows.request("GET", f"/workflow-runs/{done}")
    assert (shown["status"], shown["workflow_name"], statuses(shown)) == (
        "completed",
        "gone",
        {"ok": "completed"},
    )
    assert (await workflows.refused("GET", "/workflows/gone"))[0] == 404
    assert (await workflows.refused("POST", f"/workflow-runs/{active}/retry"))[0] == 404


async def test_payload_is_validated(workflows: WorkflowClient):
    inputs = {
        "n": {"type": "integer", "required": True},
        "how": {"enum": ["fast", "slow"], "default": "slow"},
    }
    await workflows.create(
        "typed", [code("a", "return input;", input={"how": "{{ inputs.how }}"})], inputs=inputs
    )
    status, error = await workflows.refused("POST", "/workflows/typed/trigger", json={"how": "odd"})
    assert status == 422
    assert error["detail"]["problems"] == ["n is missing", 'how must be one of "fast", "slow"']
    status, _ = await workflows.refused(
        "POST", "/workflows/typed/trigger", json={"n": 1, "x": "y" * 1_100_000}
    )
    assert status == 413
    assert await workflows.request("GET", "/workflows/typed/runs") == []
    run = await workflows.until(await workflows.trigger("typed", n=3))
    assert (run["inputs"], run["payload"]) == ({"n": 3, "how": "slow"}, {"n": 3})


async def test_card_has_last_runs_and_open_gates(workflows: WorkflowClient):
    await workflows.create("busy", [step("ok", "approval", prompt="?", condition="trigger.ask")])
    for ask in (False, True):
        await workflows.until(await workflows.trigger("busy", ask=ask), "completed", "waiting")
    (card,) = await workflows.request("GET", "/workflows", params={"q": "BUS"})
    assert [one["status"] for one in card["last_runs"]] == ["completed", "waiting"]
    assert (card["open_gates"], card["steps"], card["triggers"][0]["type"]) == (1, 1, "manual")
    assert await workflows.request("GET", "/workflows", params={"q": "else"}) == []


async def test_unknown_name_is_a_warning_with_position(workflows: WorkflowClient):
    source = SOURCE.replace(
        "type: wait\n    config: { seconds: 0 }", "type: agent\n    config: { bot: unknown, prompt: Hi }"
    )
    read = await workflows.request("POST", "/workflows/read", json={"source": source})
    assert read["is_usable"]
    (warning,) = read["problems"]
    assert (warning["line"], warning["step"], warning["is_warning"]) == (6, "look", True)
    assert warning["message"] == "There is no bot named unknown."


async def test_missing_secret_is_a_warning_with_position(workflows: WorkflowClient):
    config = (
        'config: { url: "https://example.org", headers: { Authorization: "Bearer {{ secrets.TOKEN }}" } }'
    )
    source = SOURCE.replace("type: wait\n    config: { seconds: 0 }", f"type: http\n    {config}")
    (warning,) = (await workflows.request("POST", "/workflows/read", json={"source": source}))["problems"]
    assert (warning["message"], warning["line"]) == ("There is no secret named TOKEN.", 6)
    await workflows.request("PUT", "/secrets/TOKEN", json={"value": "secret of a bot", "scope": "bot:ada"})
    (warning,) = (await workflows.request("POST", "/workflows/read", json={"source": source}))["problems"]
    assert warning["message"] == "There is no secret named TOKEN.", "steps use only global secrets"
    await workflows.request("PUT", "/secrets/TOKEN", json={"value": "a long enough secret"})
    assert (await workflows.request("POST", "/workflows/read", json={"source": source}))["problems"] == []


async def test_agent_step_fails_for_unknown_bot(workflows: WorkflowClient):
    run = await workflows.run("lonely", [step("ask", "agent", bot="unknown", prompt="Hi")])
    assert (run["status"], run["error"]["code"]) == ("failed", "unknown_bot")


async def test_only_one_of_two_concurrent_decisions_counts(workflows: WorkflowClient):
    await workflows.create("ask", [step("ok", "approval", prompt="?")])
    run_id = await workflows.trigger("ask")
    await workflows.until(run_id, "waiting")

    async def decide(how: str) -> int:
        async with workflows.live.client() as client:
            return (await client.post(f"/api/v1/workflow-runs/{run_id}/{how}", json={})).status_code

    found = await asyncio.gather(decide("approve"), decide("reject"))
    assert sorted(found) == [200, 409]
