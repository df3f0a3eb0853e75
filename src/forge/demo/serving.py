"""The scripted model server in a thread of its own, with its own event loop, on a loopback port."""

import asyncio
import logging
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from forge.demo.application import create_application
from forge.demo.log import Entry, RequestLog, Stats
from forge.demo.script import Script
from forge.demo.stage import Stage

HOST = "127.0.0.1"
GRACE_S = 2
_CUT = "ASGI callable returned without completing response."


def _is_news(record: logging.LogRecord) -> bool:
    """A response that is not completed is a fault of the script, not of the server."""
    return record.getMessage() != _CUT


class _Http(HttpToolsProtocol):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.logger = logging.getLogger("forge.demo.http")
        self.logger.addFilter(_is_news)


class _Server(uvicorn.Server):
    """Says when it is up and goes down at once: uvicorn would look ten times a second whether it should, and wait
    for what still plays, a stall perhaps.
    """

    def __init__(self, stage: Stage) -> None:
        super().__init__(_config(stage))
        self.is_up = threading.Event()
        self._stage = stage
        self._leave = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        try:
            await super().startup(sockets)
        finally:
            self.is_up.set()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self._leave.wait()

    def stop(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._leave.set)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stage.stopping.set()
        await super().shutdown(sockets)


class ModelServer:
    """A running scripted server."""

    def __init__(self, stage: Stage, port: int) -> None:
        self._stage = stage
        self.url = f"http://{HOST}:{port}"

    def requests(self) -> list[Entry]:
        return list(self._stage.log.entries)

    def stats(self) -> Stats:
        return self._stage.log.stats()

    def reset(self) -> None:
        self._stage.reset()


@contextmanager
def open_model_server(script: Script, *, port: int = 0, log: Path | None = None) -> Generator[ModelServer]:
    stage = Stage(script, RequestLog(log))
    with socket.create_server((HOST, port)) as listener:
        server = _Server(stage)
        thread = threading.Thread(target=server.run, args=([listener],), name="scripted-models")
        thread.start()
        try:
            server.is_up.wait()
            yield ModelServer(stage, listener.getsockname()[1])
        finally:
            server.stop()
            thread.join()


def _config(stage: Stage) -> uvicorn.Config:
    return uvicorn.Config(
        create_application(stage),
        http=_Http,
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )
