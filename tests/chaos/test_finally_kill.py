"""Kill -9 while a run that has failed does what is to be done finally: it goes on there, and stays failed."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.support.server import Server, wait_until
from tests.workflows.making import Steps, code, step

pytestmark = pytest.mark.chaos

StartServer = Callable[..., Server]


def ran_with_a_kill(server: Server, steps: Steps, **more: Any) -> Any:
    """The run as it ends; its process died while the first of its last steps asked for approval."""
    last = [step("ok", "approval", prompt="?"), code("tell", "return input;", "ok", input=more.pop("told"))]
    definition = {"name": "fails", "steps": [*steps, *last], "finally": ["ok", "tell"], **more}
    server.call("POST", "/api/v1/workflows", {"definition": definition})
    run_id = server.call("POST", "/api/v1/workflows/fails/trigger", {})["run_id"]
    wait_until(lambda: shown(server, run_id)["gates"], what="the question")
    server.kill()
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
