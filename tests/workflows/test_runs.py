"""Workflow runs from start to end, through the API, on both databases."""

import asyncio

import pytest
from tests.support.live_forge import Live
from tests.support.timeouts import PATIENCE_S
from tests.workflows.workflow_client import WorkflowClient, code, statuses, step


@pytest.fixture
def workflows(live_forge: Live) -> WorkflowClient:
    return WorkflowClient(live_forge)


async def test_output_is_passed_to_next_step(workflows: WorkflowClient):
    run = await workflows.run(
        "chain",
        [
            code("double", "return {n: input.n * 2, words: ['a', 'b']};", input={"n": "{{ inputs.n }}"}),
            code(
                "report",
                "return input.text;",
                "double",
                input={
                    "text": "{{ steps.double.output.output.n }} {{ steps.double.output.output.words[1] }}"
                },
            ),
        ],
        {"n": 21},
        inputs={"n": {"type": "integer", "required": True}},
        outputs={"text": "{{ steps.report.output.output }}", "n": "{{ steps.double.output.output.n }}"},
    )
    assert run["status"] == "completed", run["error"]
    assert run["output"] == {"text": "42 b", "n": 42}
    steps = await workflows.steps(run)
    assert steps["double"]["input"]["input"] == {"n": 21}
    assert steps["report"]["output"] == {"type": "code", "language": "javascript", "output": "42 b"}


async def test_steps_are_paginated(workflows: WorkflowClient):
    loop = step("each", "loop", items="{{ [1, 2, 3, 4] }}", body_steps=["once"])
    run = await workflows.run("many", [loop, step("once", "wait", seconds=0)])
    assert run["status"] == "completed", run["error"]
    keys, path = list[str](), f"/api/v1/workflow-runs/{run['id']}/steps"
    async with workflows.live.client() as client:
        answer = (await client.get(path, params={"limit": 2})).json()
        while cursor := answer["meta"]["next_cursor"]:
            assert len(answer["data"]) == 2
            keys += [one["key"] for one in answer["data"]]
            answer = (await client.get(path, params={"limit": 2, "cursor": cursor})).json()
        keys += [one["key"] for one in answer["data"]]
    assert sorted(keys) == sorted(statuses(run)) and len(keys) == 5


async def test_approval_pauses_and_resumes_run(workflows: WorkflowClient):
    await workflows.create(
        "ask",
        [
            step("ok", "approval", prompt="Send {{ inputs.what }}?"),
            code("sent", "return input;", "ok", input={"by": "{{ steps.ok.output.comment }}"}),
            step("refused", "wait", seconds=0),
        ],
        inputs={"what": {}},
    )
    run_id = await workflows.trigger("ask", what="it")
    run = await workflows.until(run_id, "waiting")
    (gate,) = run["gates"]
    assert (gate["kind"], gate["body"], gate["payload"]["step"]) == ("approval", "Send it?", "ok")
    await workflows.request("POST", f"/workflow-runs/{run_id}/approve", json={"comment": "go"})
    run = await workflows.until(run_id)
    assert run["status"] == "completed", run["error"]
    assert (await workflows.outputs(run))["sent"]["output"] == {"by": "go"}
    (attempt,) = (await workflows.steps(run))["ok"]["attempts"]
    assert 0 < attempt["waited_ms"] <= attempt["duration_ms"]


async def test_run_is_waiting_only_if_no_step_works(workflows: WorkflowClient):
    await workflows.create("ask", [step("ok", "approval", prompt="Sure?"), code("busy", _BUSY)])
    run_id = await workflows.trigger("ask")
    async with asyncio.timeout(PATIENCE_S):
        while not (run := await workflows.request("GET", f"/workflow-runs/{run_id}"))["gates"]:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.2)
    assert (await workflows.request("GET", f"/workflow-runs/{run_id}"))["status"] == "running"
    run = await workflows.until(run_id, "waiting")
    assert statuses(run) == {"ok": "waiting", "busy": "completed"}


_BUSY = "let n = 0; for (let i = 0; i < 2e7; i++) n += i % 7; return n;"


async def test_sub_workflow_is_a_child_run(workflows: WorkflowClient):
    await workflows.create(
        "inner",
        [code("x", "return input.a + 1;", input={"a": "{{ inputs.a }}"})],
        inputs={"a": {"required": True}},
        outputs={"b": "{{ steps.x.output.output }}"},
    )
    run = await workflows.run("outer", [step("call", "sub_workflow", workflow_name="inner", input={"a": 1})])
    assert run["status"] == "completed", run["error"]
    output = (await workflows.outputs(run))["call"]
    assert output == {
        "type": "sub_workflow",
        "workflow": "inner",
        "run_id": run["children"][0],
        "output": {"b": 2},
    }
    child = await workflows.request("GET", f"/workflow-runs/{run['children'][0]}")
    assert (child["parent_id"], child["trigger"]) == (run["id"], "sub_workflow")


async def test_recursion_depth_is_limited(workflows: WorkflowClient):
    run = await workflows.run("self", [step("again", "sub_workflow", workflow_name="self", input={})])
    assert run["status"] == "failed"
    assert "in a chain of runs" in run["error"]["message"]
    runs = await workflows.request("GET", "/workflows/self/runs")
    assert len(runs) == 6


async def test_cancel_stops_run_and_children(workflows: WorkflowClient):
    await workflows.create("inner", [step("w", "wait", seconds=60)])
    await workflows.create(
        "outer",
        [
            step("call", "sub_workflow", workflow_name="inner", input={}),
            step("each", "loop", items=[1, 2, 3], body_steps=["w"], parallel=3),
            step("w", "wait", seconds=60),
            step("ok", "approval", prompt="?"),
            step("clean", "wait", seconds=0),
        ],
        **{"finally": ["clean"]},
    )
    run_id = await workflows.trigger("outer")
    await workflows.until(run_id, "waiting")
    async with asyncio.timeout(PATIENCE_S):
        run = await workflows.request("POST", f"/workflow-runs/{run_id}/cancel")
        while workflows.live.forge.runs.executing:
            await asyncio.sleep(0.01)
    assert (run["status"], {one["status"] for one in run["steps"]}) == ("cancelled", {"cancelled"})
    assert "clean" not in statuses(run)
    assert [gate["status"] for gate in run["gates"]] == ["closed"]
    (child,) = run["children"]
    assert (await workflows.request("GET", f"/workflow-runs/{child}"))["status"] == "cancelled"


async def test_retry_reuses_completed_steps(workflows: WorkflowClient):
    """This includes the iterations of a loop before the failed one."""
    await workflows.create(
        "repair",
        [
            code("first", "return Math.random();"),
            step("each", "loop", "first", items=[1, 2, 3], body_steps=["part"]),
            code(
                "part",
                "if (input.i === 2) throw new Error('no'); return Math.random();",
                input={"i": "{{ loop.item }}"},
            ),
        ],
    )
    failed = await workflows.until(await workflows.trigger("repair"))
    assert failed["status"] == "failed"
    assert statuses(failed) == {
        "first": "completed",
        "each": "failed",
        "each[0]/part": "completed",
        "each[1]/part": "failed",
    }
    again = await workflows.request("POST", f"/workflow-runs/{failed['id']}/retry")
    run = await workflows.until(again["run_id"])
    assert run["retry_of"] == failed["id"]
    before, after = await workflows.outputs(failed), await workflows.outputs(run)
    assert after["first"] == before["first"]
    assert after["each[0]/part"] == before["each[0]/part"]
    kept = {one["key"] for one in run["steps"] if one["is_kept"]}
    assert kept == {"first", "each[0]/part"}


async def test_only_failed_runs_can_be_retried_but_all_can_be_rerun(workflows: WorkflowClient):
    run = await workflows.run("fine", [code("a", "return input;", input={"n": "{{ trigger.n }}"})], {"n": 1})
    status, error = await workflows.refused("POST", f"/workflow-runs/{run['id']}/retry")
    assert (status, error["message"]) == (
        409,
        "This run is completed; only failed and cancelled runs can be retried.",
    )
    again = await workflows.request("POST", f"/workflow-runs/{run['id']}/rerun", json={"payload": {"n": 2}})
    run = await workflows.until(again["run_id"])
    assert (await workflows.outputs(run))["a"]["output"] == {"n": 2}


async def test_run_keeps_its_version(workflows: WorkflowClient):
    await workflows.create("v", [step("ok", "approval", prompt="?"), code("a", "return 1;", "ok")])
    run_id = await workflows.trigger("v")
    await workflows.until(run_id, "waiting")
    changed = {"name": "v", "steps": [code("b", "return 2;")]}
    assert (await workflows.request("PUT", "/workflows/v", json={"definition": changed}))["number"] == 2
    await workflows.request("POST", f"/workflow-runs/{run_id}/approve", json={})
    run = await workflows.until(run_id)
    assert (run["number"], set(statuses(run))) == (1, {"ok", "a"})


@pytest.mark.parametrize("policy", ["queue", "reject", "cancel_previous"])
async def test_concurrent_runs_are_limited(workflows: WorkflowClient, policy: str):
    await workflows.create(
        "one", [step("ok", "approval", prompt="?")], concurrency=1, concurrency_policy=policy
    )
    first = await workflows.trigger("one")
    await workflows.until(first, "waiting")
    if policy == "reject":
        status, error = await workflows.refused("POST", "/workflows/one/trigger", json={})
        assert (status, error["detail"]) == (409, {"runs": [first]})
        return
    second = await workflows.trigger("one")
    if policy == "queue":
        await workflows.until(second, "waiting")
        assert (await workflows.request("GET", f"/workflow-runs/{second}"))["gates"] == []
        await workflows.request("POST", f"/workflow-runs/{first}/approve", json={})
    assert (await workflows.until(first))["status"] == ("completed" if policy == "queue" else "cancelled")
    async with asyncio.timeout(PATIENCE_S):
        while not (await workflows.request("GET", f"/workflow-runs/{second}"))["gates"]:
            await asyncio.sleep(0.02)


async def test_required_input_with_default_may_be_omitted(workflows: WorkflowClient):
    inputs = {"topic": {"required": True, "default": "tides"}}
    run = await workflows.run(
        "with", [step("w", "wait", seconds=0)], inputs=inputs, outputs={"of": "{{ inputs.topic }}"}
    )
    assert (run["status"], run["output"]) == ("completed", {"of": "tides"})


async def test_cancel_previous_cancels_only_the_oldest_run(workflows: WorkflowClient):
    limits = {"concurrency": 2, "concurrency_policy": "cancel_previous"}
    await workflows.create("two", [step("ok", "approval", prompt="?")], **limits)
    runs: list[str] = []
    for _ in range(3):
        runs.append(await workflows.trigger("two"))
        await workflows.until(runs[-1], "waiting")
    assert (await workflows.until(runs[0]))["status"] == "cancelled"
    remaining = [
        (await workflows.request("GET", f"/workflow-runs/{run_id}"))["status"] for run_id in runs[1:]
    ]
    assert remaining == ["waiting", "waiting"]


async def test_retry_waits_for_free_slot(workflows: WorkflowClient):
    approval = step("ok", "approval", "done", prompt="?", on_reject="fail")
    await workflows.create("one", [step("done", "wait", seconds=0), approval], concurrency=1)
    first = await workflows.trigger("one")
    await workflows.until(first, "waiting")
    await workflows.request("POST", f"/workflow-runs/{first}/reject", json={})
    assert (await workflows.until(first))["status"] == "failed"
    await workflows.until(await workflows.trigger("one"), "waiting")
    again = await workflows.request("POST", f"/workflow-runs/{first}/retry")
    run = await workflows.until(again["run_id"], "waiting")
    assert (statuses(run), run["gates"]) == ({"done": "completed"}, [])


async def test_time_limit_counts_work_not_waiting(workflows: WorkflowClient):
    run = await workflows.run("slow", [code("spin", "while (true) {}")], timeout_secs=0.5)
    assert (run["status"], run["error"]["code"]) == ("failed", "run_timeout")
    run = await workflows.run("patient", [step("w", "wait", seconds=1.5)], timeout_secs=0.5)
    assert run["status"] == "completed"


async def test_every_step_is_published_on_run_stream(workflows: WorkflowClient):
    run = await workflows.run("published", [step("a", "wait", seconds=0), step("b", "wait", "a", seconds=0)])
    published = [event.data["step"] for event in await workflows.events(run) if event.type == "workflow.step"]
    assert [(one["key"], one["status"]) for one in published] == [("a", "completed"), ("b", "completed")]


@pytest.mark.parametrize("policy", ["queue", "cancel_previous"])
async def test_recursive_workflow_does_not_deadlock(workflows: WorkflowClient, policy: str):
    steps = [
        step("again", "sub_workflow", workflow_name="one", input={"n": 1}, condition="!has(trigger.n)"),
        step("end", "wait", "again", seconds=0),
    ]
    run = await workflows.run("one", steps, concurrency=1, concurrency_policy=policy)
    assert run["status"] == "completed", run["error"]
