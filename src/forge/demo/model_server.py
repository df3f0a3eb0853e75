"""The scripted model server: an ASGI application with the model APIs and `/_script` for inspection."""

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from forge.demo.dialect import Dialect
from forge.demo.loopback_server import LOOPBACK, open_loopback_server
from forge.demo.model_script import Script
from forge.demo.playback import Player
from forge.demo.request_log import Entry, RequestLog, Stats
from forge.demo.responder import Operation, Responder

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
        Route("/{path:path}", _endpoint(responder, responder.other_path), methods=METHODS),
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


class ModelServer:
    """A running scripted model server."""

    def __init__(self, responder: Responder, url: str) -> None:
        self._responder = responder
        self.url = url

    def requests(self) -> list[Entry]:
        return list(self._responder.log.entries)

    def stats(self) -> Stats:
        return self._responder.log.stats()

    def reset(self) -> None:
        self._responder.reset()


@contextmanager
def open_model_server(script: Script, *, port: int = 0, log: Path | None = None) -> Generator[ModelServer]:
    responder = Responder(script, RequestLog(log))
    application = create_application(responder)

    async def stop() -> None:
        responder.stopping.set()

    with open_loopback_server(application, port=port, name="scripted-models", on_shutdown=stop) as server:
        yield ModelServer(responder, server.url)
