"""A token bucket per client, in memory: enough against accidents and guessing, forgotten on restart."""

import hashlib
import math
import time
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from forge.api.errors import error_response
from forge.errors import TooMany, Unauthenticated

LOGIN_PER_MINUTE = 10
REFUSED_SHARE = 20
"""Of the requests of one address, one in so many may be refused for want of a good credential."""
SWEEP_ABOVE = 10_000
SWEEP_EVERY_S = 1.0
_LOGIN_PATHS = frozenset({"/api/v1/login"})
_FREE_PREFIXES = ("/assets/", "/health")


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
        """Take a token. Returns 0, or the seconds until there is one."""
        wait_s = self.wait_s(key, at)
        if not wait_s:
            self._buckets[key].tokens -= 1
        return wait_s

    def wait_s(self, key: str, at: float) -> float:
        """The seconds until there is a token; 0 when there is one now."""
        bucket = self._buckets.get(key)
        if bucket is None:
            self._sweep(at)
            bucket = self._buckets[key] = Bucket(self._capacity, at)
        bucket.tokens = min(self._capacity, bucket.tokens + (at - bucket.filled_at) * self._per_second)
        bucket.filled_at = at
        return 0.0 if bucket.tokens >= 1 else (1 - bucket.tokens) / self._per_second

    def _sweep(self, at: float) -> None:
        """Forget clients whose bucket is full again: they are as good as new. Now and then, since it looks at all."""
        if len(self._buckets) < SWEEP_ABOVE or at - self._swept_at < SWEEP_EVERY_S:
            return
        self._swept_at = at
        full_after_s = self._capacity / self._per_second
        self._buckets = {k: b for k, b in self._buckets.items() if at - b.filled_at < full_after_s}


class RateLimit:
    """Counts by the credential that is shown, and refusals by address: whoever shows a new guess each time runs out
    of guesses, while people behind one address do not use up each other's requests.
    """

    def __init__(self, app: ASGIApp, per_minute: int) -> None:
        self._app = app
        self._requests = Buckets(per_minute)
        self._refusals = Buckets(max(1, per_minute // REFUSED_SHARE))
        self._logins = Buckets(LOGIN_PER_MINUTE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or scope["path"].startswith(_FREE_PREFIXES):
            await self._app(scope, receive, send)
            return
        if wait_s := self._wait_s(scope):
            await _refuse(wait_s, scope, receive, send)
            return

        async def note_refusal(message: Message) -> None:
            if message.get("status") == 401 or message.get("code") == Unauthenticated.ws_close_code():
                self._refusals.take(_address_of(scope), time.monotonic())
            await send(message)

        await self._app(scope, receive, note_refusal)

    def _wait_s(self, scope: Scope) -> float:
        at, address = time.monotonic(), _address_of(scope)
        wait_s = max(self._requests.take(_client_of(scope), at), self._refusals.wait_s(address, at))
        if scope["path"] in _LOGIN_PATHS:
            wait_s = max(wait_s, self._logins.take(address, at))
        return wait_s


async def _refuse(wait_s: float, scope: Scope, receive: Receive, send: Send) -> None:
    error = TooMany("Too many requests.", retry_after_s=math.ceil(wait_s), hint="Slow down and try again.")
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": error.ws_close_code(), "reason": error.message})
    else:
        await error_response(error)(scope, receive, send)


def _client_of(scope: Scope) -> str:
    """The credential that is shown, as a hash; else the address."""
    headers = Headers(scope=scope)
    shown = headers.get("authorization") or headers.get("x-api-key") or headers.get("cookie")
    return hashlib.sha256(shown.encode()).hexdigest() if shown else _address_of(scope)


def _address_of(scope: Scope) -> str:
    client = scope.get("client")
    return client[0] if client else "unknown"
