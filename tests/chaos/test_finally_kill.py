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


def run_with_kill(
    server: Server, steps: Steps, *, while_down: Callable[[], None] = lambda: None, **options: Any
) -> Any:
    """Run a workflow whose server is killed while its first finally step waits for approval; return the ended run."""
    finally_steps = [
        step("ok", "approval", prompt="?"),
        code("tell", "return input;", "ok", input=options.pop("reported")),
    ]
    definition = {"name": "fails", "steps": [*steps, *finally_steps], "finally": ["ok", "tell"], **options}
    server.call("POST", "/api/v1/workflows", {"definition": definition})
    run_id = server.call("POST", "/api/v1/workflows/fails/trigger", {})["run_id"]
    wait_until(lambda: get_run(server, run_id)["gates"], what="the gate")
    server.kill()
    while_down()
    server.start()
    wait_until(
        lambda: server.call("GET", f"/api/v1/runs/{run_id}")["run"]["attempt"] > 1,
        what="the recovery of the run",
    )
    server.call("POST", f"/api/v1/workflow-runs/{run_id}/approve", {})
    wait_until(lambda: get_run(server, run_id)["finished_at"], what="the end of the run")
    return get_run(server, run_id)


def get_run(server: Server, run_id: str) -> Any:
    return server.call("GET", f"/api/v1/workflow-runs/{run_id}")


def reported_input(server: Server, run: Any) -> Any:
    steps = server.call("GET", f"/api/v1/workflow-runs/{run['id']}/steps")
    return next(step_view["output"]["output"] for step_view in steps if step_view["key"] == "tell")


def test_finally_steps_after_a_kill_receive_step_results(start_server: StartServer):
    server = start_server()
    run = run_with_kill(
        server,
        [code("fine", "return 1;"), code("bad", "throw new Error('no');", "fine")],
        reported={"fine": "{{ steps.fine.output.output }}", "bad": "{{ steps.bad.error.code }}"},
    )
    assert (run["status"], run["error"]["code"]) == ("failed", "code_raised")
    assert reported_input(server, run) == {"fine": 1, "bad": "code_raised"}


@contextmanager
def blocked_server() -> Generator[tuple[str, threading.Event]]:
    """Serve HTTP without a response until the event is set; yield host and event."""
    released = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            released.wait(120)
            with suppress(OSError):  # the client may have been killed
                self.send_response(204)
                self.end_headers()

        def log_message(self, format: str, *args: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{http.server_port}", released
        released.set()
        http.shutdown()


def test_timed_out_run_stays_failed_after_a_kill(start_server: StartServer):
    with blocked_server() as (host, released):
        server = start_server(FORGE_HTTP_ALLOW=host)
        run = run_with_kill(
            server,
            [step("get", "http", url=f"http://{host}")],
            reported={"status": "{{ workflow.status }}", "why": "{{ workflow.error.code }}"},
            while_down=released.set,
            timeout_secs=0.5,
        )
        assert (run["status"], run["error"]["code"]) == ("failed", "run_timeout")
        assert reported_input(server, run) == {"status": "failed", "why": "run_timeout"}
