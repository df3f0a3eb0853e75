"""uvicorn and DBOS log once through Forge's handlers, whatever they configure themselves."""

import asyncio
import logging
import logging.config
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from uvicorn.config import LOGGING_CONFIG

from forge.telemetry import configure_logs

Entries = Callable[..., list[dict[str, Any]]]

LAUNCH_DBOS = """
import logging, sys
from pathlib import Path
from dbos import DBOS
from forge.telemetry import configure_logs

data_dir = Path(sys.argv[1])
config = {"name": "forge", "system_database_url": f"sqlite:///{data_dir}/dbos.db", "application_version": "1"}
if sys.argv[2] == "dbos first":
    DBOS(config=config)
logs = configure_logs(data_dir, "info", terminal=False)
if sys.argv[2] == "logs first":
    DBOS(config=config)

@DBOS.workflow()
def work() -> None:
    DBOS.logger.info("chatter")
    DBOS.logger.warning("heard")

DBOS.launch()
handle = DBOS.start_workflow(work)
handle.get_result()
print(handle.workflow_id)
DBOS.destroy()
logs.close()
"""


@pytest.mark.parametrize("order", ["dbos first", "logs first"])
def test_dbos_is_logged_once_from_warning_on(read_entries: Entries, tmp_path: Path, order: str):
    command = [sys.executable, "-c", LAUNCH_DBOS, str(tmp_path), order]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    heard = [entry for entry in read_entries() if entry["logger"] == "dbos"]
    for entry in heard:
        del entry["at"]
    assert heard == [
        {"level": "warning", "logger": "dbos", "message": "heard", "run_id": done.stdout.strip()}
    ]
    lines = done.stderr.splitlines()
    assert [line for line in lines if "heard" in line or "chatter" in line or "launched" in line] == [
        line for line in lines if line.endswith(f"WARNING dbos: heard run_id={done.stdout.strip()}")
    ]
    assert done.stderr.count("heard") == 1


async def hello(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"hello"})


async def serve_one_request() -> None:
    server = uvicorn.Server(uvicorn.Config(hello, log_config=None, lifespan="off"))
    listening = socket.create_server(("127.0.0.1", 0))
    serving = asyncio.create_task(server.serve([listening]))
    reader, writer = await asyncio.open_connection(*listening.getsockname())
    writer.write(b"GET /asked HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
    assert (await reader.read()).count(b"hello") == 1
    writer.close()
    await writer.wait_closed()
    server.should_exit = True
    await serving


async def test_uvicorn_is_logged_once_without_access_log(
    read_entries: Entries, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    logging.config.dictConfig(LOGGING_CONFIG)
    logs = configure_logs(tmp_path, "info", terminal=False)
    try:
        await serve_one_request()
        logging.getLogger("uvicorn.error").warning("odd")
    finally:
        logs.close()
        for name in LOGGING_CONFIG["loggers"]:
            logging.getLogger(name).handlers = []
            logging.getLogger(name).propagate = True
    heard = [entry for entry in read_entries() if entry["logger"].startswith("uvicorn")]
    assert heard == [{"at": heard[0]["at"], "level": "warning", "logger": "uvicorn.error", "message": "odd"}]
    shown = capfd.readouterr().err
    assert shown.count("odd") == 1 and "/asked" not in shown and "Started" not in shown
