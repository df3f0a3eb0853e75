"""The scripted model server: an ASGI application with the model APIs and `/_script` for inspection, run in a thread
with its own event loop on a loopback port."""

import asyncio
import logging
import socket
import threading
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from forge.demo.dialect import Dialect
from forge.demo.model_script import Script
from forge.demo.playback import Player
from forge.demo.request_log import Entry, RequestLog, Stats
from forge.demo.responder import Operation, Responder

LOOPBACK = ["127.0.0.1", "localhost"]
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


class _PlaybackResponse(Response):
    """A Starlette response that plays a playback."""

    def __init__(self, player: Player) -> None:
        super().__init__()
        self._player = player

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._player.play(receive, send)


def create_application(responder: Responder) -> Starlette:
    routes = [
        *_inspection_routes(responder),
        Route("/v1/messages", _endpoint(responder, responder.answer, responder.anthropic), methods=["POST"]),
        Route(
            "/v1/messages/count_tokens",
            _endpoint(responder, responder.count_tokens, responder.anthropic),
            methods=["POST"],
        ),
        Route(
            "/v1/chat/completions", _endpoint(responder, responder.answer, responder.openai), methods=["POST"]
        ),
        Route("/v1/models", _endpoint(responder, responder.list_models)),
        Route("/v1/models/{name:path}", _endpoint(responder, responder.show_model)),
        Route("/{path:path}", _endpoint(responder, responder.unknown_path), methods=METHODS),
    ]
    return Starlette(routes=routes, middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=LOOPBACK)])


def _endpoint(
    responder: Responder, verb: Operation, path_dialect: Dialect | None = None
) -> Callable[[Request], Awaitable[Response]]:
    """Make an endpoint. Where both APIs share a path, the headers tell them apart."""

    async def answer(request: Request) -> Response:
        headers = request.headers
        dialect = path_dialect or (
            responder.anthropic if "anthropic-version" in headers else responder.openai
        )
        entry = responder.log.start(dialect.name, request.url.path, headers, dialect.key(headers))
        raw = await request.body()
        playback = responder.respond(verb, dialect, entry, headers, raw)
        return _PlaybackResponse(Player(playback, responder.stopping, partial(responder.log.finish, entry)))

    return answer


def _inspection_routes(responder: Responder) -> list[Route]:
    async def requests(_: Request) -> Response:
        return JSONResponse([entry.model_dump(mode="json") for entry in responder.log.entries])

    async def stats(_: Request) -> Response:
        return JSONResponse(responder.log.stats().model_dump(mode="json"))

    async def reset(_: Request) -> Response:
        responder.reset()
        return JSONResponse({"ok": True})

    async def health(_: Request) -> Response:
        return JSONResponse({"ok": True, "scenes": list(responder.script.scenes)})

    return [
        Route("/_script/requests", requests),
        Route("/_script/stats", stats),
        Route("/_script/reset", reset, methods=["POST"]),
        Route("/_script/health", health),
    ]


HOST = "127.0.0.1"
GRACE_S = 2
_CUT = "ASGI callable returned without completing response."


def _is_not_scripted_cut(record: logging.LogRecord) -> bool:
    """Drop uvicorn's error for incomplete responses, which are scripted faults."""
    return record.getMessage() != _CUT


class _Http(HttpToolsProtocol):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.logger = logging.getLogger("forge.demo.http")
        self.logger.addFilter(_is_not_scripted_cut)


class _Server(uvicorn.Server):
    """uvicorn with an event for being up and an immediate shutdown: uvicorn polls ten times a second and waits for running
    responses, which may be stalled.
    """

    def __init__(self, responder: Responder) -> None:
        super().__init__(_config(responder))
        self.is_up = threading.Event()
        self._stage = responder
        self._shutdown_requested = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        try:
            await super().startup(sockets)
        finally:
            self.is_up.set()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await self._shutdown_requested.wait()

    def stop(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._shutdown_requested.set)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stage.stopping.set()
        await super().shutdown(sockets)


class ModelServer:
    """A running scripted model server."""

    def __init__(self, responder: Responder, port: int) -> None:
        self._stage = responder
        self.url = f"http://{HOST}:{port}"

    def requests(self) -> list[Entry]:
        return list(self._stage.log.entries)

    def stats(self) -> Stats:
        return self._stage.log.stats()

    def reset(self) -> None:
        self._stage.reset()


@contextmanager
def open_model_server(script: Script, *, port: int = 0, log: Path | None = None) -> Generator[ModelServer]:
    responder = Responder(script, RequestLog(log))
    with socket.create_server((HOST, port)) as listener:
        server = _Server(responder)
        thread = threading.Thread(target=server.run, args=([listener],), name="scripted-models")
        thread.start()
        try:
            server.is_up.wait()
            yield ModelServer(responder, listener.getsockname()[1])
        finally:
            server.stop()
            thread.join()


def _config(responder: Responder) -> uvicorn.Config:
    return uvicorn.Config(
        create_application(responder),
        http=_Http,
        loop="asyncio",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=GRACE_S,
    )
