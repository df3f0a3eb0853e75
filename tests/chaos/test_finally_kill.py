"""kill -9 during the finally steps of a failed run: it continues there and stays failed."""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from tests.support.server import Server, wait_until
from tests.workflows.workflow_client import Steps, code, step

pytestmark = pytest.mark.chaos

StartServer = Callable[..., Server]


def ran_with_a_kill(
    server: Server, steps: Steps, *, while_dead: Callable[[], None] = lambda: None, **more: Any
) -> Any:
    """The run as it ends; its process died while the first of its last steps asked for approval."""
    last = [step("ok", "approval", prompt="?"), code("tell", "return input;", "ok", input=more.pop("told"))]
    definition = {"name": "fails", "steps": [*steps, *last], "finally": ["ok", "tell"], **more}
    server.call("POST", "/api/v1/workflows", {"definition": definition})
    run_id = server.call("POST", "/api/v1/workflows/fails/trigger", {})["run_id"]
    wait_until(lambda: shown(server, run_id)["gates"], what="the question")
    server.kill()
    while_dead()
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


@contextmanager
def slow_at_first() -> Generator[tuple[str, threading.Event]]:
    """URL of a server that does not respond until released."""
    quick = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            quick.wait(120)
            with suppress(OSError):  # the client may be dead
                self.send_response(204)
                self.end_headers()

        def log_message(self, format: str, *args: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{http.server_port}", quick
        quick.set()
        http.shutdown()


def test_a_run_whose_time_was_up_does_not_complete_after_a_kill(start_server: StartServer):
    with slow_at_first() as (place, quick):
        server = start_server(FORGE_HTTP_ALLOW=place)
        run = ran_with_a_kill(
            server,
            [step("get", "http", url=f"http://{place}")],
            told={"status": "{{ workflow.status }}", "why": "{{ workflow.error.code }}"},
            while_dead=quick.set,
            timeout_secs=0.5,
        )
        assert (run["status"], run["error"]["code"]) == ("failed", "run_timeout")
        assert told(server, run) == {"status": "failed", "why": "run_timeout"}
