"""Forge in a separate process."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import httpx2
from tests.support.fork_server import ForkedProcess, start_forge
from tests.support.timeouts import PATIENCE_S

T = TypeVar("T")
POLL_S = 0.05
"""Most probes send a request to a server; a shorter interval would slow it down."""


def wait_until(probe: Callable[[], T | None], *, timeout_s: float = PATIENCE_S, what: str = "it") -> T:
    """Poll until the probe returns a true value and return it; fail with `what` on timeout."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        if value := probe():
            return value
        time.sleep(POLL_S)
    raise AssertionError(f"{what} did not happen within {timeout_s} s")


class Server:
    """`forge serve` or another command, with its own data directory and environment."""

    def __init__(self, data_dir: Path, *, command: str = "serve", **environment: str) -> None:
        self.data_dir = data_dir
        self._command = command
        defaults = {
            "FORGE_RATE_LIMIT_PER_MINUTE": "1000000",
            "FORGE_AUDIT_ROOTS": "[]",  # not this checkout
            "FORGE_GITHUB_URL": "http://127.0.0.1:9",  # no test may leave this machine
        }
        self._environment = {**defaults, **environment}
        self._process: ForkedProcess | None = None
        self.log = data_dir.parent / f"{data_dir.name}.{command}.log"

    def start(self) -> None:
        arguments: list[str] = []
        if self._command == "serve":
            (self.data_dir / "server.json").unlink(missing_ok=True)
            arguments = ["--port", "0"]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("FORGE_")}
        self.log.parent.mkdir(parents=True, exist_ok=True)
        arguments = [self._command, "--data-dir", str(self.data_dir), *arguments]
        self._process = start_forge(*arguments, environment=environment | self._environment, log=self.log)
        if self._command == "serve":
            wait_until(self._is_ready, timeout_s=120, what="the start of the server")

    @property
    def process(self) -> ForkedProcess:
        assert self._process is not None
        return self._process

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def url(self) -> str:
        return self._info()["url"]

    @property
    def key(self) -> str:
        return self._info()["key"]

    @property
    def output(self) -> str:
        return self.log.read_text()

    def client(self, **headers: str) -> httpx2.Client:
        """Return a client that is authenticated as the owner."""
        # Loading certificates takes 20 ms of CPU time, and tests create thousands of clients.
        headers = {"Authorization": f"Bearer {self.key}", **headers}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=60, verify=False)

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and return the `data` of its successful response."""
        with self.client() as client:
            response = client.request(method, path, json=body)
        assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
        return response.json()["data"]

    def pages(self, path: str) -> Iterator[Any]:
        """Yield all items of a paginated list."""
        page = {"limit": "200"}
        with self.client() as client:
            while True:
                response = client.get(path, params=page).raise_for_status().json()
                yield from response["data"]
                if (cursor := response["meta"]["next_cursor"]) is None:
                    return
                page["cursor"] = cursor

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> None:
        if self.is_running:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=PATIENCE_S)

    def _is_ready(self) -> bool:
        if self.process.poll() is not None:
            raise AssertionError(f"the server ended with {self.process.returncode}:\n{self.output}")
        return (self.data_dir / "server.json").exists()

    def _info(self) -> dict[str, Any]:
        return json.loads((self.data_dir / "server.json").read_text())
