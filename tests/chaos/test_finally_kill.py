"""Kill -9 while a run that has failed does what is to be done finally: it goes on there, and stays failed."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.server import Server, wait_until
from tests.workflows.making import Steps, code, step

pytestmark = pytest.mark.chaos

StartServer = Callable[..., Server]


def ran_with_a_kill(server: Server, steps: Steps, *, dead_until: float = 0.0, **more: Any) -> Any:
    """The run as it ends; its process died while the first of its last steps asked for approval."""
    last = [step("ok", "approval", prompt="?"), code("tell", "return input;", "ok", input=more.pop("told"))]
    definition = {"name": "fails", "steps": [*steps, *last], "finally": ["ok", "tell"], **more}
    server.call("POST", "/api/v1/workflows", {"definition": definition})
    run_id = server.call("POST", "/api/v1/workflows/fails/trigger", {})["run_id"]
    wait_until(lambda: shown(server, run_id)["gates"], what="the question")
    server.kill()
    wait_until(lambda: time.time() > dead_until, what="that moment")
    server.start()
    wait_until(lambda: server.call("GET", f"/api/v1/runs/{run_id}")["run"]["attempt"] > 1, what="going on")
    server.call("POST", f"/api/v1/workflow-runs/{run_id}/approve", {})
    wait_until(lambda: shown(server, run_id)["finished_at"], what="the end")
    return shown(server, run_id)


def shown(server: Server, run_id: str) -> Any:
    return server.call("GET", f"/api/v1/workflow-runs/{run_id}")


def told(server: Server, run: Any) -> Any:
    steps = server.call("GET", f"/api/v1/workflow-runs/{run['id']}/steps")
    return next(one["output"]["output"] for one in steps if one["key"] == "tell")


def test_what_is_done_finally_after_a_kill_sees_how_the_steps_ended(start_server: StartServer):
    server = start_server()
    run = ran_with_a_kill(
        server,
        [code("fine", "return 1;"), code("bad", "throw new Error('no');", "fine")],
        told={"fine": "{{ steps.fine.output.output }}", "bad": "{{ steps.bad.error.code }}"},
    )
    assert (run["status"], run["error"]["code"]) == ("failed", "code_raised")
    assert told(server, run) == {"fine": 1, "bad": "code_raised"}


def test_a_run_whose_time_was_up_does_not_complete_after_a_kill(start_server: StartServer):
    server = start_server()
    spin, until = "while (Date.now() < input.until) {} return 1;", time.time() + 10
    run = ran_with_a_kill(
        server,
        [code("spin", spin, input={"until": until * 1000})],
        dead_until=until,
        told={"status": "{{ workflow.status }}", "why": "{{ workflow.error.code }}"},
        timeout_secs=0.5,
    )
    assert (run["status"], run["error"]["code"]) == ("failed", "run_timeout")
    assert told(server, run) == {"status": "failed", "why": "run_timeout"}
