"""How steps follow one another, through the API."""

import asyncio
from typing import Any

import pytest
from tests.support.live import Live
from tests.support.patience import PATIENCE_S
from tests.workflows.making import Bench, code, statuses, step

from forge.workflows.engine import ground

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@pytest.fixture
def bench(live_forge: Live) -> Bench:
    return Bench(live_forge)


async def test_a_step_begins_as_soon_as_its_own_dependencies_are_settled(bench: Bench):
    """Not with the slowest of its wave."""
    run = await bench.run(
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


async def test_only_the_chosen_branch_runs_and_the_join_runs_after_it(bench: Bench):
    steps = [
        step("check", "conditional", condition="inputs.n > 10", then_steps=["big"], else_steps=["small"]),
        step("big", "wait", seconds=0),
        step("small", "wait", seconds=0),
        step("after_small", "wait", "small", seconds=0),
        step("join", "wait", ["big", "after_small"], seconds=0),
    ]
    run = await bench.run("branch", steps, {"n": 11}, inputs={"n": {}})
    assert statuses(run) == {
        "check": "completed",
        "big": "completed",
        "small": "skipped",
        "after_small": "skipped",
        "join": "completed",
    }
    assert (await bench.outputs(run))["check"] == {
        "type": "branch",
        "condition_met": True,
        "selected_steps": ["big"],
    }


async def test_a_condition_that_is_false_skips_its_step_and_what_depends_on_it_alone(bench: Bench):
    run = await bench.run(
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


async def test_a_loop_over_items_has_a_scope_for_each(bench: Bench):
    run = await bench.run(
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
    outputs = await bench.outputs(run)
    assert outputs["each"] == {"type": "loop", "iterations": 3, "completed": True}
    assert outputs["each[1]/count"]["output"] == {"i": 1, "w": "b!"}
    assert outputs["after"]["output"] == {"all": ["a!", "b!", "c!"], "last": "c!", "second": 1}


async def test_a_loop_goes_on_while_its_condition_is_true_and_ends_at_its_cap(bench: Bench):
    body = code("inc", "return input.i + 1;", input={"i": "{{ loop.index }}"})
    run = await bench.run(
        "until", [step("again", "loop", condition="loop.index < 3", body_steps=["inc"]), body]
    )
    assert (await bench.outputs(run))["again"] == {"type": "loop", "iterations": 3, "completed": True}
    run = await bench.run(
        "capped", [step("again", "loop", condition="true", max_iterations=5, body_steps=["inc"]), body]
    )
    assert (await bench.outputs(run))["again"] == {"type": "loop", "iterations": 5, "completed": False}


async def test_a_failure_stops_what_else_runs_and_what_is_done_finally_is_done(bench: Bench):
    run = await bench.run(
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
    assert (await bench.outputs(run))["clean"]["output"] == {"how": "failed: code_raised"}


ERRAND = step("call", "sub_workflow", workflow_name="inner", input={})
EACH = step("each", "loop", items=[1], body_steps=["call"], timeout_secs=3, on_error="continue")


@pytest.mark.parametrize(
    ("steps", "more"),
    [
        ([ERRAND, code("spin", "while (true) {}", timeout_secs=3)], {}),
        ([ERRAND, code("spin", "while (true) {}")], {"timeout_secs": 3}),
        ([EACH, ERRAND], {}),
    ],
    ids=["its neighbour failed", "the time of the run was up", "the time of its loop was up"],
)
async def test_a_step_that_is_ended_stops_the_run_it_waits_for(
    bench: Bench, steps: list[dict[str, Any]], more: dict[str, Any]
):
    """At once, and not when the run itself has ended."""
    await bench.create("inner", [step("w", "wait", seconds=3600)])
    asks = step("ok", "approval", prompt="?")
    await bench.create("outer", [*steps, asks], **{"finally": ["ok"]}, **more)
    run_id = await bench.trigger("outer")
    async with asyncio.timeout(PATIENCE_S):
        while not (run := await bench.ask("GET", f"/workflow-runs/{run_id}"))["gates"]:
            await asyncio.sleep(0.02)
    (child,) = run["children"]
    assert (await bench.until(child))["status"] == "cancelled"


async def test_what_is_done_finally_sees_the_step_that_failed(bench: Bench):
    told = {"how": "{{ steps.bad.status }}: {{ steps.bad.error.code }}", "loop": "{{ steps.each.status }}"}
    run = await bench.run(
        "fails",
        [
            code("bad", "throw new Error('no');", on_error="continue"),
            step("each", "loop", "bad", items=[1], body_steps=["worse"]),
            code("worse", "throw new Error('no');"),
            code("tell", "return input;", input=told),
        ],
        None,
        **{"finally": ["tell"]},
    )
    assert statuses(run)["tell"] == "completed"
    assert (await bench.outputs(run))["tell"]["output"] == {"how": "failed: code_raised", "loop": "failed"}


async def test_nothing_of_a_run_with_too_many_steps_goes_on(bench: Bench, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ground, "MAX_STEP_RUNS", 2)
    run = await bench.run("wide", [step(f"w{i}", "wait", seconds=60) for i in range(3)])
    assert (run["status"], run["error"]["code"]) == ("failed", "too_many_steps")
    assert [task for task in asyncio.all_tasks() if "Stepping.run" in repr(task.get_coro())] == []


async def test_an_error_may_be_gone_past_or_go_to_a_handler(bench: Bench):
    run = await bench.run(
        "errors",
        [
            code("a", "throw new Error('no');", on_error="continue"),
            code("b", "return input;", "a", input={"why": "{{ steps.a.error.code }}"}),
            code("c", "throw new Error('no');", on_error={"goto": "mend"}),
            step("d", "wait", "c", seconds=0),
            code("mend", "return 'mended';"),
        ],
    )
    assert run["status"] == "completed", run["error"]
    assert statuses(run) == {
        "a": "failed",
        "b": "completed",
        "c": "failed",
        "d": "skipped",
        "mend": "completed",
    }
    assert (await bench.outputs(run))["b"]["output"] == {"why": "code_raised"}


async def test_a_handler_nobody_needs_is_skipped(bench: Bench):
    run = await bench.run(
        "fine", [step("c", "wait", seconds=0, on_error={"goto": "mend"}), step("mend", "wait", seconds=0)]
    )
    assert statuses(run) == {"c": "completed", "mend": "skipped"}


async def test_an_unresolved_reference_is_an_error_that_names_it(bench: Bench):
    run = await bench.run("typo", [code("a", "return 1;", input={"x": "{{ trigger.nope.deep }}"})])
    assert run["status"] == "failed"
    assert "trigger.nope" in run["error"]["message"]


async def test_attempts_are_kept_and_back_off(bench: Bench):
    retry = {"max_attempts": 3, "delay_secs": 0.05, "retry_on": ["code_raised"], "jitter": 0}
    run = await bench.run("again", [code("bad", "throw new Error('no');", retry=retry)])
    steps = await bench.steps(run)
    attempts = steps["bad"]["attempts"]
    assert [(one["number"], one["error"]["code"], one["retry_in_s"]) for one in attempts] == [
        (1, "code_raised", 0.05),
        (2, "code_raised", 0.1),
        (3, "code_raised", None),
    ]
    assert (run["status"], steps["bad"]["attempt"]) == ("failed", 3)


async def test_what_a_step_logged_is_told_also_when_it_fails(bench: Bench):
    retry = {"max_attempts": 2, "delay_secs": 0.01, "retry_on": ["code_raised"]}
    body = "console.log('x'.repeat(5000)); if (input.fails) throw new Error('no');"
    steps = [
        code("good", body, input={"fails": False}),
        code("bad", body, "good", input={"fails": True}, retry=retry),
    ]
    run = await bench.run("logs", steps)
    told = [event.data for event in await bench.events(run) if event.type == "workflow.log"]
    kept = {key: one["logs"] for key, one in (await bench.steps(run)).items()}
    assert [one["key"] for one in told] == ["good", "bad", "bad"]
    assert {key: len(lines) for key, lines in kept.items()} == {"good": 1, "bad": 2}
    assert [line for one in told for line in one["lines"]] == [*kept["good"], *kept["bad"]]


async def test_a_rejection_skips_what_depends_on_it_and_runs_what_is_meant_for_it(bench: Bench):
    await bench.create(
        "ask",
        [
            step("ok", "approval", prompt="Sure?", rejected_steps=["sorry"]),
            step("sent", "wait", "ok", seconds=0),
            step("sorry", "wait", seconds=0),
        ],
    )
    run_id = await bench.trigger("ask")
    await bench.until(run_id, "waiting")
    await bench.ask("POST", f"/workflow-runs/{run_id}/reject", json={"comment": "no"})
    run = await bench.until(run_id)
    assert statuses(run) == {"ok": "completed", "sent": "skipped", "sorry": "completed"}
    status, error = await bench.refused("POST", f"/workflow-runs/{run_id}/approve", json={})
    assert (status, error["message"]) == (409, "Nothing here waits for an approval.")


async def test_time_that_is_over_is_no_refusal(bench: Bench):
    run = await bench.run("ask", [step("ok", "approval", prompt="Sure?", timeout_secs=0.2)])
    assert (run["status"], run["error"]["code"]) == ("failed", "approval_expired")


async def test_a_step_ends_when_its_time_is_over(bench: Bench):
    run = await bench.run("slow", [code("spin", "while (true) {}", timeout_secs=0.3)])
    assert (run["status"], run["error"]["code"]) == ("failed", "timeout")


async def test_a_dry_run_does_nothing_and_says_what_would_be_done(bench: Bench):
    await bench.create(
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
    found = await bench.ask("POST", "/workflows/dry/dry-run", json=body)
    steps = {one["key"]: one for one in found["steps"]}
    assert found["error"] is None
    assert steps["get"]["output"]["url"] == "https://example.com/7"
    assert steps["get"]["output"]["headers"] == {"X": "{{ secrets.KEY }}"}
    assert steps["use"]["input"]["input"] == {"n": "pending_execution"}
    assert steps["use"]["output"] == {"type": "code", "output": 3}
    assert await bench.ask("GET", "/workflows/dry/runs") == []
