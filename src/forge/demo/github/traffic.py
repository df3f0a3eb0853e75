"""The outermost layer of the double: records requests without their secrets, and injects faults."""

import asyncio
import json
from collections import deque
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast
from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from forge.demo.github.api import RateLimiter, read_token
from forge.demo.github.faults import FaultKind, Faults
from forge.demo.github.world import JsonObject, World
from forge.demo.request_log import fingerprint

CONTROL = "/_double"
MAX_RECORDS = 5000
MAX_BODY = 1 << 16
_TEXT_TYPES = ("application/json", "application/x-www-form-urlencoded")
_SECRETS = {
    *(
        "access_token",
        "client_secret",
        "code",
        "code_verifier",
        "device_code",
        "user_code",
        "password",
        "secret",
    ),
    *("refresh_token", "token"),
}


@dataclass
class RecordedRequest:
    number: int
    at: datetime
    method: str
    path: str
    query: dict[str, Any]
    body: Any
    """Parsed JSON or form, with secrets masked; None for other content and long bodies."""
    login: str | None
    token: str | None
    """A fingerprint."""
    status: int | None = None
    fault: str | None = None


class Traffic:
    """ASGI middleware around the double."""

    def __init__(self, application: ASGIApp, world: World, limiter: RateLimiter, faults: Faults) -> None:
        self.records: deque[RecordedRequest] = deque(maxlen=MAX_RECORDS)
        self._application = application
        self._world, self._limiter, self._faults = world, limiter, faults
        self._count = 0

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

        if not await self._inject(record, scope, recording_receive, recording_send):
            await self._application(scope, recording_receive, recording_send)

    async def _inject(self, record: RecordedRequest, scope: Scope, receive: Receive, send: Send) -> bool:
        """Apply the fault that is due, if any, and return whether it replaces the response."""
        fault = self._faults.take(record.method, record.path)
        if fault is None:
            return False
        record.fault = fault.kind.value
        if fault.kind is FaultKind.SLOW:
            await self._faults.delay(fault.delay_s)
            return False
        if fault.kind is FaultKind.DOWN:
            scope["state"]["abort"]()
            await asyncio.sleep(0)  # lets the server notice, which would send an error page otherwise
            return True
        token = self._world.find_token(read_token(Headers(scope=scope).get("authorization")) or "")
        await fault.response(self._limiter.headers(token))(scope, receive, send)
        return True

    def _record(self, scope: Scope) -> RecordedRequest:
        self._count += 1
        value = read_token(Headers(scope=scope).get("authorization"))
        token = self._world.find_token(value or "")
        record = RecordedRequest(
            self._count,
            self._world.now(),
            scope["method"],
            scope["path"],
            _masked(dict(parse_qsl(scope["query_string"].decode()))),
            None,
            token.user.login if token else None,
            fingerprint(value),
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
