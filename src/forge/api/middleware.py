"""What happens around every request. Plain ASGI: it works for WebSockets and costs little."""

import re
import time
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from forge.accounts.cookies import session_cookies
from forge.accounts.recognition import needs_secure_cookies
from forge.api.errors import error_response
from forge.errors import TooLarge
from forge.http.context import RequestContext, enter_request
from forge.telemetry import Metrics, Tracing, bind

_REQUEST_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_CSP = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"
_HEADERS = {
    "Content-Security-Policy": _CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


class Observe:
    """Gives the request its id (`X-Request-ID` in and out), counts it, times it, traces it."""

    def __init__(self, app: ASGIApp, metrics: Metrics, tracing: Tracing) -> None:
        self._app = app
        self._metrics = metrics
        self._tracing = tracing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        context = _context_of(headers.get("x-request-id"))
        enter_request(context)
        status = 500

        async def note_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = context.request_id
            await send(message)

        name = f"{scope.get('method', 'WS')} {scope['path']}"
        with (
            bind(request_id=context.request_id),
            self._tracing.span(name, traceparent=headers.get("traceparent"), request_id=context.request_id),
        ):
            try:
                await self._app(scope, receive, note_status)
            finally:
                if scope["type"] == "http":
                    seconds = time.perf_counter() - context.started
                    self._metrics.request_served(scope["method"], _route_of(scope), status, seconds)


class SecurityHeaders:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def add_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith("/api/"):
                    headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, add_headers)


class BodyLimit:
    """Refuses a body that is too large: at once when it says so, else as soon as it is."""

    def __init__(self, app: ASGIApp, limit: int, larger: Mapping[str, int] | None = None) -> None:
        self._app = app
        self._limit = limit
        self._larger = larger or {}
        """By path: what is no JSON may be more."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = max(self._limit, self._larger.get(scope["path"], 0))
        error = TooLarge(f"A request body may have {limit} bytes at most.")
        announced = Headers(scope=scope).get("content-length", "0")
        if announced.isdigit() and int(announced) > limit:
            await error_response(error)(scope, receive, send)
            return
        taken = 0

        async def count() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > limit:
                raise error
            return message

        async def pass_on(message: Message) -> None:
            if taken <= limit:  # else it is the application's own idea of what went wrong
                await send(message)

        await self._app(scope, count, pass_on)
        if taken > limit:
            await error_response(error)(scope, receive, send)


class RefreshSession:
    """Hands out the new cookie when a session's token was replaced while serving the request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)

        async def set_cookie(message: Message) -> None:
            token: str | None = getattr(connection.state, "new_session_token", None)
            if message["type"] == "http.response.start" and token:
                accounts = scope["app"].state.accounts
                headers = MutableHeaders(scope=message)
                secure = needs_secure_cookies(connection, accounts)
                for cookie in session_cookies(token, secure=secure, days=accounts.session_days):
                    headers.append("Set-Cookie", cookie)
            await send(message)

        await self._app(scope, receive, set_cookie)


def _context_of(given: str | None) -> RequestContext:
    if given and _REQUEST_ID.fullmatch(given):
        return RequestContext(request_id=given)
    return RequestContext()


def _route_of(scope: Scope) -> str | None:
    return getattr(scope.get("route"), "path", None)
