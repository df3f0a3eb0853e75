"""Faults of the double: connections that close, slow responses, errors, and exceeded rate limits."""

import asyncio
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from starlette.responses import HTMLResponse, JSONResponse, Response

from forge.demo.github.api import DOCUMENTATION

SLOW_S = 5.0
RETRY_AFTER_S = 60
_BAD_GATEWAY = "<html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>"
_SECONDARY = "You have exceeded a secondary rate limit. Please wait a few minutes before you try again."


class FaultKind(StrEnum):
    DOWN = "down"
    """The connection is closed without a response."""
    SLOW = "slow"
    """The response starts after `delay_s`."""
    SERVER_ERROR = "500"
    BAD_GATEWAY = "502"
    RATE_LIMITED = "rate_limited"
    """The hourly limit is used up: 403."""
    SECONDARY_LIMIT = "secondary_limit"
    """Too many requests at once: 429 with retry-after."""


@dataclass
class Fault:
    kind: FaultKind
    path: str = "*"
    """Glob for the paths it affects, as in `/api/v3/user*`."""
    method: str = "*"
    times: float = math.inf
    delay_s: float = SLOW_S
    retry_after_s: int = RETRY_AFTER_S

    def response(self, rate_headers: Mapping[str, str]) -> Response:
        """Return the response of a fault that has one."""
        match self.kind:
            case FaultKind.BAD_GATEWAY:
                return HTMLResponse(_BAD_GATEWAY, 502)
            case FaultKind.RATE_LIMITED:
                limit = rate_headers["x-ratelimit-limit"]
                headers = {**rate_headers, "x-ratelimit-remaining": "0", "x-ratelimit-used": limit}
                return _error(403, "API rate limit exceeded.", headers)
            case FaultKind.SECONDARY_LIMIT:
                return _error(429, _SECONDARY, {**rate_headers, "retry-after": str(self.retry_after_s)})
            case _:
                return _error(500, "Server Error", {})


class Faults:
    def __init__(self) -> None:
        self.active: list[Fault] = []
        self._stopping = asyncio.Event()

    def take(self, method: str, path: str) -> Fault | None:
        """Return the first fault for a request, and count it."""
        for fault in self.active:
            if fnmatchcase(path, fault.path) and fnmatchcase(method, fault.method):
                fault.times -= 1
                if fault.times <= 0:
                    self.active.remove(fault)
                return fault
        return None

    async def delay(self, seconds: float) -> None:
        """Wait, but not beyond the shutdown of the server."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    def stop(self) -> None:
        self._stopping.set()


def _error(status: int, message: str, headers: Mapping[str, str]) -> Response:
    body = {"message": message, "documentation_url": DOCUMENTATION, "status": str(status)}
    return JSONResponse(body, status, headers)
