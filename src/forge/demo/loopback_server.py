"""Run an ASGI application on a loopback port, in a thread with its own event loop."""

import asyncio
import logging
import socket
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

HOST = "127.0.0.1"
LOOPBACK = [HOST, "localhost"]
GRACE_S = 2
_CUT = "ASGI callable returned without completing response."


@dataclass(frozen=True)
class LoopbackServer:
    """A running server."""

    port: int
    loop: asyncio.AbstractEventLoop

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"


@contextmanager
def open_loopback_server(
    application: ASGIApp, *, port: int = 0, name: str, on_shutdown: Callable[[], Awaitable[None]]
) -> Generator[LoopbackServer]:
    """Serve until the end of the block. `on_shutdown` is called first and ends what responses wait for."""
    # asyncio sends without delay (TCP_NODELAY) only if the socket names its protocol.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen()
        server = _Server(application, on_shutdown)
        thread = threading.Thread(target=server.run, args=([listener],), name=name)
        thread.start()
        try:
            yield LoopbackServer(listener.getsockname()[1], server.wait_for_loop())
        finally:
            server.stop()
            thread.join()


def _is_not_deliberate_cut(record: logging.LogRecord) -> bool:
    """Drop uvicorn's error for incomplete responses, which are injected faults."""
    return record.getMessage() != _CUT


class _Http(HttpToolsProtocol):
    """Lets the application close the connection without a response: `scope["state"]["abort"]()`."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.logger = logging.getLogger("forge.demo.http")
        self.logger.addFilter(_is_not_deliberate_cut)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope.setdefault("state", {})["abort"] = self.transport.abort


class _Server(uvicorn.Server):
    """uvicorn with an event for being up and an immediate shutdown: uvicorn polls ten times a second and waits for running
    responses, which may be stalled.
    """

    def __init__(self, application: ASGIApp, on_shutdown: Callable[[], Awaitable[None]]) -> None:
        super().__init__(_config(application))
        self._on_shutdown = on_shutdown
        self._is_up = threading.Event()
        self._shutdown_requested = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    def wait_for_loop(self) -> asyncio.AbstractEventLoop:
        """Wait until the server is up and return its event loop."""
        self._is_up.wait()
        if self._loop is None:
            raise RuntimeError("The server did not start.")
        return self._loop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        try:
            await super().startup(sockets)
        finally:
            self._is_up.set()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self._shutdown_requested.wait()

    def stop(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._shutdown_requested.set)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await self._on_shutdown()
        await super().shutdown(sockets)


def _config(application: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        application,
        http=_Http,
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )
