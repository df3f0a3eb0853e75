"""As much HTTP as package managers speak: requests without a body, answers of known or unknown length."""

import asyncio
from dataclasses import dataclass
from http import HTTPStatus

METHODS = frozenset({"GET", "HEAD"})
HEAD_BYTES = 16_384
IDLE_S = 60.0


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    accept: str


class Refusal(Exception):
    """Becomes the answer."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status.phrase)
        self.status = status


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """None when there is no further one."""
    try:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), IDLE_S)
    except (asyncio.IncompleteReadError, TimeoutError, ConnectionError):
        return None
    except asyncio.LimitOverrunError as error:
        raise Refusal(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE) from error
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or parts[0] not in METHODS:
        raise Refusal(HTTPStatus.METHOD_NOT_ALLOWED)
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
        raise Refusal(HTTPStatus.BAD_REQUEST)
    accept = headers.get("accept", "*/*")
    return Request(parts[0], parts[1], accept if accept.isascii() and accept.isprintable() else "*/*")


class Answer:
    """Written as it comes: a head, then the body in pieces."""

    def __init__(self, writer: asyncio.StreamWriter, request: Request | None) -> None:
        self._writer = writer
        self._has_body = request is None or request.method == "GET"
        self._chunked = False

    async def start(self, status: int, content_type: str, length: int | None) -> None:
        self._chunked = length is None
        size = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
        kind = content_type if content_type.isascii() and content_type.isprintable() else "text/plain"
        head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: {kind}\r\n{size}\r\n\r\n"
        self._writer.write(head.encode("latin-1"))
        await self._writer.drain()

    async def write(self, data: bytes) -> None:
        if not self._has_body or not data:
            return
        self._writer.write(b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data)
        await self._writer.drain()

    async def finish(self) -> None:
        if self._chunked and self._has_body:
            self._writer.write(b"0\r\n\r\n")
            await self._writer.drain()

    async def whole(self, status: int, content_type: str, body: bytes) -> None:
        await self.start(status, content_type, len(body))
        await self.write(body)
