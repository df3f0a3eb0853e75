"""The outermost layer of the double: records requests without their secrets, and injects faults."""

import asyncio
import json
import math
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from typing import Any, Literal, cast
from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from forge.demo.github.api import ApiError, RateLimiter, read_token
from forge.demo.github.world import JsonObject, World
from forge.demo.request_log import fingerprint

CONTROL = "/_double"
MAX_RECORDS = 5000
MAX_BODY = 1 << 16
_TEXT_TYPES = ("application/json", "application/x-www-form-urlencoded")
_SECRETS = {
    *("access_token", "client_secret", "code", "code_verifier", "device_code", "password", "refresh_token"),
    *("secret", "token", "user_code"),
}
_BAD_GATEWAY = "<html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>"
_SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."
FaultName = Literal["down", "slow", "500", "502", "rate_limited", "secondary_limit"]


@dataclass
class Fault:
    kind: FaultName
    """`down` closes the connection without a response. `slow` delays it. `rate_limited` is the hourly limit (403),
    `secondary_limit` the one for bursts (429)."""
    path: str
    """Glob for the paths it affects, as in `/api/v3/user*`."""
    method: str
    times: float = math.inf
    delay_s: float = 5.0
    retry_after_s: int = 60

    def response(self, rate: Mapping[str, str]) -> Response:
        """Return the response of a fault that has one."""
        match self.kind:
            case "502":
                return HTMLResponse(_BAD_GATEWAY, 502)
            case "rate_limited":
                used_up = {"x-ratelimit-remaining": "0", "x-ratelimit-used": rate["x-ratelimit-limit"]}
                error = ApiError(403, "API rate limit exceeded.", headers={**rate, **used_up})
            case "secondary_limit":
                error = ApiError(429, _SECONDARY, headers={**rate, "retry-after": str(self.retry_after_s)})
            case _:
                error = ApiError(500, "Server Error")
        return JSONResponse(error.body, error.status, error.headers)


@dataclass
class RecordedRequest:
    number: int
    at: datetime
    method: str
    path: str
    query: JsonObject
    login: str | None
    token: str | None
    """A fingerprint."""
    body: Any = None
    """Parsed JSON or form, with secrets masked; None for other content and long bodies."""
    status: int | None = None
    fault: str | None = None


class Traffic:
    """ASGI middleware around the double."""

    def __init__(self, application: ASGIApp, world: World, limiter: RateLimiter) -> None:
        self.records: deque[RecordedRequest] = deque(maxlen=MAX_RECORDS)
        self.faults: list[Fault] = []
        self._application, self._world, self._limiter = application, world, limiter
        self._stopping = asyncio.Event()
        self._count = 0

    def stop(self) -> None:
        """End the delays, which the shutdown of the server would wait for."""
        self._stopping.set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(CONTROL):
            await self._application(scope, receive, send)
            return
        record = self._record(scope)
        raw = bytearray()

        async def recording_receive() -> Message:
            message = await receive()
            if len(raw) <= MAX_BODY:
                raw.extend(message.get("body", b""))
                record.body = _body(Headers(scope=scope).get("content-type", ""), bytes(raw))
            return message

        async def recording_send(message: Message) -> None:
            if message["type"] == "http.response.start":
                record.status = message["status"]
            await send(message)

        if not await self._inject_fault(record, scope, recording_receive, recording_send):
            await self._application(scope, recording_receive, recording_send)

    async def _inject_fault(
        self, record: RecordedRequest, scope: Scope, receive: Receive, send: Send
    ) -> bool:
        """Apply the fault that is due, if any, and return whether it replaces the response."""
        fault = self._take_fault(record)
        if fault is None:
            return False
        record.fault = fault.kind
        if fault.kind == "slow":
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), fault.delay_s)
            return False
        if fault.kind == "down":
            scope["state"]["abort"]()
            await asyncio.sleep(0)  # lets the server notice, which would send an error page otherwise
            return True
        token = self._world.find_token(read_token(Headers(scope=scope).get("authorization")) or "")
        await fault.response(self._limiter.headers(token))(scope, receive, send)
        return True

    def _take_fault(self, record: RecordedRequest) -> Fault | None:
        for fault in self.faults:
            if fnmatchcase(record.path, fault.path) and fnmatchcase(record.method, fault.method):
                fault.times -= 1
                if fault.times <= 0:
                    self.faults.remove(fault)
                return fault
        return None

    def _record(self, scope: Scope) -> RecordedRequest:
        self._count += 1
        value = read_token(Headers(scope=scope).get("authorization"))
        token = self._world.find_token(value or "")
        query = _masked(dict(parse_qsl(scope["query_string"].decode())))
        login = token.user.login if token else None
        record = RecordedRequest(
            self._count, self._world.now(), scope["method"], scope["path"], query, login, fingerprint(value)
        )
        self.records.append(record)
        return record


def _body(content_type: str, raw: bytes) -> Any:
    kind = content_type.partition(";")[0].strip()
    if kind not in _TEXT_TYPES or not raw or len(raw) > MAX_BODY:
        return None
    try:
        text = raw.decode()
        return _masked(json.loads(text) if kind == _TEXT_TYPES[0] else dict(parse_qsl(text)))
    except ValueError:
        return None


def _masked(value: Any) -> Any:
    if isinstance(value, dict):
        fields = cast(JsonObject, value)
        return {name: "***" if name in _SECRETS else _masked(each) for name, each in fields.items()}
    return [_masked(each) for each in cast(list[Any], value)] if isinstance(value, list) else value
