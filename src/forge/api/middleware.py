"""Middleware: request ids and telemetry, security headers, size and rate limits, session cookies.

Plain ASGI, because it also covers WebSockets and costs little. Rate limits are token buckets in memory: they are reset
on restart, which is good enough against accidents and guessing.
"""

import hashlib
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from forge.accounts.request_authentication import SESSION_COOKIE, needs_secure_cookies, session_cookies
from forge.api.errors import error_response
from forge.errors import TooLarge, TooMany, Unauthenticated
from forge.http.envelope import RequestContext, enter_request
from forge.telemetry import Metrics, Tracing, bind

COMMANDS_AGENT = "forge/"
"""Start of the `User-Agent` of the commands."""
_REQUEST_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")
_CSP = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"
_HEADERS = {
    "Content-Security-Policy": _CSP,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


_API = "/api/v1"
_SHORT_PATHS = re.compile(r"/(auth|repos|projects)(/.*)?")
"""The protocol documents name these paths without a prefix. Some are also pages of the web app."""
_NEVER_A_PAGE = "/auth/github/callback"


class ShortPaths:
    """Serves the paths of the protocol documents from the API, unless a browser asks for a page."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and _SHORT_PATHS.fullmatch(scope["path"]) and not _asks_for_page(scope):
            scope = {**scope, "path": _API + scope["path"], "raw_path": _API.encode() + scope["raw_path"]}
        await self._app(scope, receive, send)


def _asks_for_page(scope: Scope) -> bool:
    if scope["method"] not in ("GET", "HEAD") or scope["path"] == _NEVER_A_PAGE:
        return False
    return "text/html" in Headers(scope=scope).get("accept", "")


class RequestTelemetry:
    """Assigns the request id (`X-Request-ID`), and records metrics and a trace span for each request."""

    def __init__(self, app: ASGIApp, metrics: Metrics, tracing: Tracing) -> None:
        self._app = app
        self._metrics = metrics
        self._tracing = tracing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        context = _context_of(HTTPConnection(scope))
        enter_request(context)
        status = 500

        async def record_status(message: Message) -> None:
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
                await self._app(scope, receive, record_status)
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
    """Rejects a body that is too large: immediately by its Content-Length, else while it is read."""

    def __init__(self, app: ASGIApp, limit: int, larger: Mapping[str, int] | None = None) -> None:
        self._app = app
        self._limit = limit
        self._larger = larger or {}
        """Higher limits by path, for uploads."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = max(self._limit, self._larger.get(scope["path"], 0))
        error = TooLarge(f"A request body may have at most {limit} bytes.")
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

        async def forward(message: Message) -> None:
            if taken <= limit:  # otherwise this is the application's response to the exception raised above
                await send(message)

        await self._app(scope, count, forward)
        if taken > limit:
            await error_response(error)(scope, receive, send)


class RefreshSession:
    """Sets the new cookies when a session's token was rotated while the request was served."""

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


def _context_of(connection: HTTPConnection) -> RequestContext:
    headers = connection.headers
    is_command = headers.get("user-agent", "").startswith(COMMANDS_AGENT)
    context = RequestContext(is_program=not is_command and SESSION_COOKIE not in connection.cookies)
    request_id = headers.get("x-request-id", "")
    return replace(context, request_id=request_id) if _REQUEST_ID.fullmatch(request_id) else context


def _route_of(scope: Scope) -> str | None:
    return getattr(scope.get("route"), "path", None)


LOGIN_PER_MINUTE = 10
FAILURE_FRACTION = 20
"""The limit of failed authentications per address is this fraction of the request limit."""
SWEEP_ABOVE = 10_000
SWEEP_EVERY_S = 1.0
_LOGIN_PATHS = frozenset({"/api/v1/login"})
_UNLIMITED_PREFIXES = ("/assets/", "/health")


@dataclass
class Bucket:
    tokens: float
    filled_at: float


class Buckets:
    def __init__(self, per_minute: int) -> None:
        self._capacity = float(per_minute)
        self._per_second = per_minute / 60
        self._buckets: dict[str, Bucket] = {}
        self._swept_at = 0.0

    def take(self, key: str, at: float) -> float:
        """Take a token. Return 0, or the seconds until one is available."""
        wait_s = self.wait_s(key, at)
        if not wait_s:
            self._buckets[key].tokens -= 1
        return wait_s

    def wait_s(self, key: str, at: float) -> float:
        """Return the seconds until a token is available; 0 if there is one now."""
        bucket = self._buckets.get(key)
        if bucket is None:
            self._sweep(at)
            bucket = self._buckets[key] = Bucket(self._capacity, at)
        bucket.tokens = min(self._capacity, bucket.tokens + (at - bucket.filled_at) * self._per_second)
        bucket.filled_at = at
        return 0.0 if bucket.tokens >= 1 else (1 - bucket.tokens) / self._per_second

    def _sweep(self, at: float) -> None:
        """Drop full buckets, which equal new ones. Runs rarely, because it visits all buckets."""
        if len(self._buckets) < SWEEP_ABOVE or at - self._swept_at < SWEEP_EVERY_S:
            return
        self._swept_at = at
        full_after_s = self._capacity / self._per_second
        self._buckets = {k: b for k, b in self._buckets.items() if at - b.filled_at < full_after_s}


class RateLimit:
    """Limits requests per credential and failed authentications per address.

    Guessing a new credential each time exhausts the address; users behind one address do not exhaust each other's
    requests.
    """

    def __init__(self, app: ASGIApp, per_minute: int) -> None:
        self._app = app
        self._requests = Buckets(per_minute)
        self._failures = Buckets(max(1, per_minute // FAILURE_FRACTION))
        self._logins = Buckets(LOGIN_PER_MINUTE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"].startswith(_UNLIMITED_PREFIXES):
            await self._app(scope, receive, send)
            return
        if wait_s := self._wait_s(scope):
            await _refuse(wait_s, scope, receive, send)
            return

        async def count_failure(message: Message) -> None:
            if message.get("status") == 401 or message.get("code") == Unauthenticated.ws_close_code():
                self._failures.take(_address_of(scope), time.monotonic())
            await send(message)

        await self._app(scope, receive, count_failure)

    def _wait_s(self, scope: Scope) -> float:
        at, address = time.monotonic(), _address_of(scope)
        wait_s = max(self._requests.take(_client_of(scope), at), self._failures.wait_s(address, at))
        if scope["path"] in _LOGIN_PATHS:
            wait_s = max(wait_s, self._logins.take(address, at))
        return wait_s


async def _refuse(wait_s: float, scope: Scope, receive: Receive, send: Send) -> None:
    error = TooMany(
        "Too many requests.", retry_after_s=math.ceil(wait_s), hint="Send fewer requests, or try again later."
    )
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": error.ws_close_code(), "reason": error.message})
    else:
        await error_response(error)(scope, receive, send)


def _client_of(scope: Scope) -> str:
    """Return the hash of the request's credential, else its address."""
    headers = Headers(scope=scope)
    shown = headers.get("authorization") or headers.get("x-api-key") or headers.get("cookie")
    return hashlib.sha256(shown.encode()).hexdigest() if shown else _address_of(scope)


def _address_of(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else "unknown"
