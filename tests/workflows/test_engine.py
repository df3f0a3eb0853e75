"""Order, branches, loops, errors and retries of steps, through the API."""

import asyncio
from typing import Any

import pytest
from tests.support.live_forge import Live
from tests.support.timeouts import PATIENCE_S
from tests.workflows.workflow_client import WorkflowClient, code, statuses, step

from forge.workflows.engine import execution_context

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture
def workflows(live_forge: Live) -> WorkflowClient:
    return WorkflowClient(live_forge)


async def test_step_starts_when_its_dependencies_are_settled(workflows: WorkflowClient):
    """It does not wait for unrelated slower steps."""
    run = await workflows.run(
        "race",
        [
            step("slow", "wait", seconds=1.0),
            step("quick", "wait", seconds=0),
            step("after_quick", "wait", "quick", seconds=0),
            step("both", "wait", ["slow", "after_quick"], seconds=0),
        ],
    )
    steps = {one["key"]: one for one in run["steps"]}
    assert steps["after_quick"]["finished_at"] < steps["slow"]["finished_at"] <= steps["both"]["started_at"]


async def test_conditional_runs_chosen_branch_and_join(workflows: WorkflowClient):
    steps = [
        step("check", "conditional", condition="inputs.n > 10", then_steps=["big"], else_steps=["small"]),
        step("big", "wait", seconds=0),
        step("small", "wait", seconds=0),
        step("after_small", "wait", "small", seconds=0),
        step("join", "wait", ["big", "after_small"], seconds=0),
    ]
    run = await workflows.run("branch", steps, {"n": 11}, inputs={"n": {}})
    assert statuses(run) == {
        "check": "completed",
        "big": "completed",
        "small": "skipped",
        "after_small": "skipped",
        "join": "completed",
    }
    assert (await workflows.outputs(run))["check"] == {
        "type": "branch",
        "condition_met": True,
        "selected_steps": ["big"],
    }


async def test_false_condition_skips_step_and_sole_dependents(workflows: WorkflowClient):
    run = await workflows.run(
        "conditions",
        [
            step("a", "wait", seconds=0, condition="trigger.go"),
            step("b", "wait", "a", seconds=0),
            step("c", "wait", seconds=0),
            step("d", "wait", ["a", "c"], seconds=0),
        ],
        {"go": False},
    )
    assert statuses(run) == {"a": "skipped", "b": "skipped", "c": "completed", "d": "completed"}


async def test_loop_over_items_has_scope_per_item(workflows: WorkflowClient):
    run = await workflows.run(
        "each",
        [
            step("each", "loop", items="{{ inputs.words }}", body_steps=["shout", "count"], parallel=2),
            code("shout", "return input.w + '!';", input={"w": "{{ loop.item }}"}),
            code(
                "count",
                "return input;",
                "shout",
                input={"i": "{{ loop.index }}", "w": "{{ steps.shout.output.output }}"},
            ),
            code(
                "after",
                "return input;",
                "each",
                input={
                    "all": "{{ steps.each.output.results.map(r, r.shout.output) }}",
                    "last": "{{ steps.count.output.output.w }}",
                    "second": "{{ steps.each.iterations[1].count.output.i }}",
                },
            ),
        ],
        {"words": ["a", "b", "c"]},
        inputs={"words": {"type": "array"}},
    )
    assert run["status"] == "completed", run["error"]
    outputs = await workflows.outputs(run)
    assert outputs["each"] == {"type": "loop", "iterations": 3, "completed": True}
    assert outputs["each[1]/count"]["output"] == {"i": 1, "w": "b!"}
    assert outputs["after"]["output"] == {"all": ["a!", "b!", "c!"], "last": "c!", "second": 1}


async def test_while_loop_ends_by_condition_or_maximum(workflows: WorkflowClient):
    body = code("inc", "return input.i + 1;", input={"i": "{{ loop.index }}"})
    run = await workflows.run(
        "until", [step("again", "loop", condition="loop.index < 3", body_steps=["inc"]), body]
    )
    assert (await workflows.outputs(run))["again"] == {"type": "loop", "iterations": 3, "completed": True}
    run = await workflows.run(
        "capped", [step("again", "loop", condition="true", max_iterations=5, body_steps=["inc"]), body]
    )
    assert (await workflows.outputs(run))["again"] == {"type": "loop", "iterations": 5, "completed": False}


async def test_failure_cancels_other_steps_and_runs_finally(workflows: WorkflowClient):
    run = await workflows.run(
        "fails",
        [
            step("slow", "wait", seconds=60),
            code("bad", "throw new Error('no');"),
            step("never", "wait", "bad", seconds=0),
            code("clean", "return input;", input={"how": "{{ workflow.status }}: {{ workflow.error.code }}"}),
        ],
        None,
        **{"finally": ["clean"]},
    )
    assert (run["status"], run["error"]["code"]) == ("failed", "code_raised")
    assert statuses(run) == {"bad": "failed", "slow": "cancelled", "clean": "completed"}
    assert (await workflows.outputs(run))["clean"]["output"] == {"how": "failed: code_raised"}


CALL_STEP = step("call", "sub_workflow", workflow_name="inner", input={})
LOOP_OVER_CALL = step("each", "loop", items=[1], body_steps=["call"], timeout_secs=3, on_error="continue")


@pytest.mark.parametrize(
    ("steps", "more"),
    [
        ([CALL_STEP, code("spin", "while (true) {}", timeout_secs=3)], {}),
        ([CALL_STEP, code("spin", "while (true) {}")], {"timeout_secs": 3}),
        ([LOOP_OVER_CALL, CALL_STEP], {}),
    ],
    ids=["parallel step failed", "run timed out", "loop timed out"],
)
async def test_interrupted_step_cancels_its_run(
    workflows: WorkflowClient, steps: list[dict[str, Any]], more: dict[str, Any]
):
    """The child is cancelled immediately, not when the run itself ends."""
    await workflows.create("inner", [step("w", "wait", seconds=3600)])
    approval = step("ok", "approval", prompt="?")
    await workflows.create("outer", [*steps, approval], **{"finally": ["ok"]}, **more)
    run_id = await workflows.trigger("outer")
    async with asyncio.timeout(PATIENCE_S):
        while not (run := await workflows.request("GET", f"/workflow-runs/{run_id}"))["gates"]:
            await asyncio.sleep(0.02)
    (child,) = run["children"]
    assert (await workflows.until(child))["status"] == "cancelled"


async def test_finally_can_use_failed_step(workflows: WorkflowClient):
    input_template = {
        "how": "{{ steps.bad.status }}: {{ steps.bad.error.code }}",
        "loop": "{{ steps.each.status }}",
    }
    run = await workflows.run(
        "fails",
        [
            code("bad", "throw new Error('no');", on_error="continue"),
            step("each", "loop", "bad", items=[1], body_steps=["worse"]),
            code("worse", "throw new Error('no');"),
            code("report", "return input;", input=input_template),
        ],
        None,
        **{"finally": ["report"]},
    )
    assert statuses(run)["report"] == "completed"
    assert (await workflows.outputs(run))["report"]["output"] == {
        "how": "failed: code_raised",
        "loop": "failed",
    }


async def test_run_with_too_many_steps_stops(workflows: WorkflowClient, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(execution_context, "MAX_STEP_RUNS", 2)
    run = await workflows.run("wide", [step(f"w{i}", "wait", seconds=60) for i in range(3)])
    assert (run["status"], run["error"]["code"]) == ("failed", "too_many_steps")
    assert [task for task in asyncio.all_tasks() if "Stepping.run" in repr(task.get_coro())] == []


async def test_on_error_continue_and_goto(workflows: WorkflowClient):
    run = await workflows.run(
        "errors",
        [
            code("a", "throw new Error('no');", on_error="continue"),
            code("b", "return input;", "a", input={"why": "{{ steps.a.error.code }}"}),
            code("c", "throw new Error('no');", on_error={"goto": "repair"}),
            step("d", "wait", "c", seconds=0),
            code("repair", "return 'repaired';"),
        ],
    )
    assert run["status"] == "completed", run["error"]
    assert statuses(run) == {
        "a": "failed",
        "b": "completed",
        "c": "failed",
        "d": "skipped",
        "repair": "completed",
    }
    assert (await workflows.outputs(run))["b"]["output"] == {"why": "code_raised"}


async def test_unused_error_handler_is_skipped(workflows: WorkflowClient):
    run = await workflows.run(
        "fine", [step("c", "wait", seconds=0, on_error={"goto": "repair"}), step("repair", "wait", seconds=0)]
    )
    assert statuses(run) == {"c": "completed", "repair": "skipped"}


async def test_unresolved_reference_fails_step(workflows: WorkflowClient):
    run = await workflows.run("typo", [code("a", "return 1;", input={"x": "{{ trigger.nope.deep }}"})])
    assert run["status"] == "failed"
    assert "trigger.nope" in run["error"]["message"]


async def test_attempts_are_stored_with_backoff(workflows: WorkflowClient):
    retry = {"max_attempts": 3, "delay_secs": 0.05, "retry_on": ["code_raised"], "jitter": 0}
    run = await workflows.run("again", [code("bad", "throw new Error('no');", retry=retry)])
    steps = await workflows.steps(run)
    attempts = steps["bad"]["attempts"]
    assert [(one["number"], one["error"]["code"], one["retry_in_s"]) for one in attempts] == [
        (1, "code_raised", 0.05),
        (2, "code_raised", 0.1),
        (3, "code_raised", None),
    ]
    assert (run["status"], steps["bad"]["attempt"]) == ("failed", 3)


async def test_logs_are_published_when_step_fails(workflows: WorkflowClient):
    retry = {"max_attempts": 2, "delay_secs": 0.01, "retry_on": ["code_raised"]}
    body = "console.log('x'.repeat(5000)); if (input.fails) throw new Error('no');"
    steps = [
        code("good", body, input={"fails": False}),
        code("bad", body, "good", input={"fails": True}, retry=retry),
    ]
    run = await workflows.run("logs", steps)
    logged = [event.data for event in await workflows.events(run) if event.type == "workflow.log"]
    kept = {key: one["logs"] for key, one in (await workflows.steps(run)).items()}
    assert [one["key"] for one in logged] == ["good", "bad", "bad"]
    assert {key: len(lines) for key, lines in kept.items()} == {"good": 1, "bad": 2}
    assert [line for one in logged for line in one["lines"]] == [*kept["good"], *kept["bad"]]


async def test_rejection_skips_dependents_and_runs_rejected_steps(workflows: WorkflowClient):
    await workflows.create(
        "ask",
        [
            step("ok", "approval", prompt="Sure?", rejected_steps=["sorry"]),
            step("sent", "wait", "ok", seconds=0),
            step("sorry", "wait", seconds=0),
        ],
    )
    run_id = await workflows.trigger("ask")
    await workflows.until(run_id, "waiting")
    await workflows.request("POST", f"/workflow-runs/{run_id}/reject", json={"comment": "no"})
    run = await workflows.until(run_id)
    assert statuses(run) == {"ok": "completed", "sent": "skipped", "sorry": "completed"}
    status, error = await workflows.refused("POST", f"/workflow-runs/{run_id}/approve", json={})
    assert (status, error["message"]) == (409, "No step is waiting for an approval.")


async def test_approval_timeout_is_not_a_rejection(workflows: WorkflowClient):
    run = await workflows.run("ask", [step("ok", "approval", prompt="Sure?", timeout_secs=0.2)])
    assert (run["status"], run["error"]["code"]) == ("failed", "approval_expired")


async def test_step_times_out(workflows: WorkflowClient):
    run = await workflows.run("slow", [code("spin", "while (true) {}", timeout_secs=0.3)])
    assert (run["status"], run["error"]["code"]) == ("failed", "timeout")


async def test_dry_run_has_no_effects(workflows: WorkflowClient):
    await workflows.create(
        "dry",
        [
            step(
                "get",
                "http",
                method="POST",
                url="https://example.com/{{ inputs.id }}",
                headers={"X": "{{ secrets.KEY }}"},
            ),
            code("use", "return 1;", "get", input={"n": "{{ steps.get.output.status }}"}),
            step("ok", "approval", "use", prompt="Sure?"),
            step("w", "wait", "ok", seconds=100),
        ],
        inputs={"id": {}},
    )
    body: dict[str, Any] = {"payload": {"id": 7}, "samples": {"use": {"type": "code", "output": 3}}}
    found = await workflows.request("POST", "/workflows/dry/dry-run", json=body)
    steps = {one["key"]: one for one in found["steps"]}
    assert found["error"] is None
    assert steps["get"]["output"]["url"] == "https://example.com/7"
    assert steps["get"]["output"]["headers"] == {"X": "{{ secrets.KEY }}"}
    assert steps["use"]["input"]["input"] == {"n": "pending_execution"}
    assert steps["use"]["output"] == {"type": "code", "output": 3}
    assert await workflows.request("GET", "/workflows/dry/runs") == []
