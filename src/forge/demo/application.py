"""The scripted model server as an ASGI application: the model APIs, and `/_script` to look behind the scenes."""

from collections.abc import Awaitable, Callable
from functools import partial

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from forge.demo.dialect import Dialect
from forge.demo.playback import Player
from forge.demo.stage import Stage, Verb

LOOPBACK = ["127.0.0.1", "localhost"]
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


class _Played(Response):
    """Starlette's door for an answer that is played rather than sent."""

    def __init__(self, player: Player) -> None:
        super().__init__()
        self._player = player

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._player.play(receive, send)


def create_application(stage: Stage) -> Starlette:
    routes = [
        *_behind_the_scenes(stage),
        Route("/v1/messages", _door(stage, stage.answer, stage.anthropic), methods=["POST"]),
        Route(
            "/v1/messages/count_tokens", _door(stage, stage.count_tokens, stage.anthropic), methods=["POST"]
        ),
        Route("/v1/chat/completions", _door(stage, stage.answer, stage.openai), methods=["POST"]),
        Route("/v1/models", _door(stage, stage.list_models)),
        Route("/v1/models/{name:path}", _door(stage, stage.show_model)),
        Route("/{path:path}", _door(stage, stage.unknown_path), methods=METHODS),
    ]
    return Starlette(routes=routes, middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=LOOPBACK)])


def _door(
    stage: Stage, verb: Verb, of_path: Dialect | None = None
) -> Callable[[Request], Awaitable[Response]]:
    """Where a path does not say which API it belongs to, the headers do."""

    async def answer(request: Request) -> Response:
        headers = request.headers
        dialect = of_path or (stage.anthropic if "anthropic-version" in headers else stage.openai)
        entry = stage.log.start(dialect.name, request.url.path, headers, dialect.key(headers))
        raw = await request.body()
        playback = stage.perform(verb, dialect, entry, headers, raw)
        return _Played(Player(playback, stage.stopping, partial(stage.log.finish, entry)))

    return answer


def _behind_the_scenes(stage: Stage) -> list[Route]:
    async def requests(_: Request) -> Response:
        return JSONResponse([entry.model_dump(mode="json") for entry in stage.log.entries])

    async def stats(_: Request) -> Response:
        return JSONResponse(stage.log.stats().model_dump(mode="json"))

    async def reset(_: Request) -> Response:
        stage.reset()
        return JSONResponse({"ok": True})

    async def health(_: Request) -> Response:
        return JSONResponse({"ok": True, "scenes": list(stage.script.scenes)})

    return [
        Route("/_script/requests", requests),
        Route("/_script/stats", stats),
        Route("/_script/reset", reset, methods=["POST"]),
        Route("/_script/health", health),
    ]
