"""The same workflows as Prefect flows, with a separate server on the given database.

Runs in a separate environment and imports nothing of Forge. The state of a task is sent to the server asynchronously,
so a flow is done when the server has recorded all of its tasks: if the process dies earlier, they are lost. Nothing
is resumed automatically.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

# As in shapes.py, but with a tenth of the chains at once: a hundred would take minutes.
STEPS = 10
BRANCHES = 50
CHAINS = 10
ALONE = 1

START_S = 120
POLL_S = 0.05
COMPLETED = {"task_runs": {"state": {"type": {"any_": ["COMPLETED"]}}}}


class Server:
    """Counts the tasks that the server has recorded as done."""

    def __init__(self, url: str, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self._url = f"http://127.0.0.1:{port}/api"
        os.environ.update(_settings(url, folder, self._url))
        command = [
            sys.executable,
            "-m",
            "prefect",
            "server",
            "start",
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
        ]
        self._process = subprocess.Popen(command, stdout=sys.stderr, stdin=subprocess.DEVNULL)

    def wait_until_up(self) -> None:
        until = time.monotonic() + START_S
        while self._process.poll() is None and time.monotonic() < until:
            try:
                urllib.request.urlopen(f"{self._url}/health", timeout=5).close()
            except OSError:
                time.sleep(POLL_S)
            else:
                return
        raise SystemExit("Prefect's server did not come up.")

    def completed(self) -> int:
        request = urllib.request.Request(
            f"{self._url}/task_runs/count",
            json.dumps(COMPLETED).encode(),
            {"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(30)


def _settings(url: str, folder: Path, api: str) -> dict[str, str]:
    scheme, _, rest = url.partition("://")
    driver = "sqlite+aiosqlite" if scheme == "sqlite" else "postgresql+asyncpg"
    return {
        "PREFECT_HOME": str(folder),
        "PREFECT_API_URL": api,
        "PREFECT_API_DATABASE_CONNECTION_URL": f"{driver}://{rest}",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "PREFECT_LOGGING_LEVEL": "ERROR",
        "PREFECT_LOGGING_TO_API_ENABLED": "false",
        "DO_NOT_TRACK": "1",
    }


class Flows:
    def __init__(self, server: Server) -> None:
        from prefect import flow, task  # pyright: ignore[reportMissingImports]  # forge: allow-import

        @task
        async def noop(number: int) -> int:
            return number

        @flow
        async def chain() -> None:
            for i in range(STEPS):
                await noop(i)

        @flow
        async def fan() -> None:
            await asyncio.gather(*map(noop, range(BRANCHES)))

        self._server = server
        self._shapes: dict[str, tuple[Any, int, int]] = {
            "chain": (chain, ALONE, STEPS),
            "fan": (fan, ALONE, BRANCHES),
            "many": (chain, CHAINS, STEPS),
        }

    async def measure(self, request: str) -> dict[str, float]:
        flow, runs, steps = self._shapes[request]
        target = await asyncio.to_thread(self._server.completed) + runs * steps
        began = time.perf_counter()
        await asyncio.gather(*(flow() for _ in range(runs)))
        while await asyncio.to_thread(self._server.completed) < target:  # noqa: ASYNC110
            await asyncio.sleep(POLL_S)
        seconds = time.perf_counter() - began
        return {"speed": runs * steps / seconds, "step_ms": 1000 * seconds / (runs * steps)}


async def main(url: str, folder: Path) -> None:
    server = Server(url, folder)
    try:
        server.wait_until_up()
        flows = Flows(server)
        for request in ("chain", "fan"):
            await flows.measure(request)  # warm up, so that no contender is measured cold
        print(json.dumps("ready"), flush=True)
        while request := (await asyncio.to_thread(sys.stdin.readline)).strip():
            print(json.dumps(await flows.measure(request)), flush=True)
    finally:
        server.stop()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="forge-bench-") as home:
        asyncio.run(main(sys.argv[1], Path(home)))
