"""A minimal WebSocket client, so that the time of the server is measured and not that of the client.

It implements only what our server uses: an upgrade without extensions, then small unmasked text frames. It searches
for sequence numbers and records when they arrived; all processes share the monotonic clock.
"""

import asyncio
import json
import re
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

AT_ONCE = 20
_SEQ = re.compile(rb'"seq":\s?(\d+)')
_UPGRADE = (
    "GET /ws HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\nUpgrade: websocket\r\n"
    "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


@dataclass
class Place:
    """The stream to follow, and the event to start after."""

    url: str
    key: str
    stream: str
    after: int = 0


class Listener(asyncio.Protocol):
    def __init__(self, place: Place, expected: int) -> None:
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.received: dict[int, float] = {}
        host = urlsplit(place.url).netloc
        self._hello = _UPGRADE.format(host=host, key=place.key).encode()
        self._where = {"stream": place.stream, "after": place.after}
        self._expected = expected
        self._upgraded = False
        self._left = b""

    def connection_made(self, transport: Any) -> None:  # uvloop's loop is not a subclass of asyncio's
        self._transport = transport
        transport.write(self._hello)

    def data_received(self, data: bytes) -> None:
        at = time.monotonic()
        self._left += data
        if not self._upgraded:
            self._finish_upgrade()
        while self._upgraded and (message := self._next_message()) is not None:
            self._take(message, at)

    def connection_lost(self, exc: Exception | None) -> None:
        for future in (self.ready, self.done):
            if not future.done():
                future.set_exception(exc or ConnectionError("the server closed the connection"))

    def close(self) -> None:
        self._transport.close()

    def _finish_upgrade(self) -> None:
        head, end, rest = self._left.partition(b"\r\n\r\n")
        if not end:
            return
        if b" 101 " not in head:
            self.ready.set_exception(ConnectionError(head.decode(errors="replace")))
            return
        self._upgraded, self._left = True, rest
        self._transport.write(_masked(json.dumps({"type": "subscribe", **self._where}).encode()))

    def _next_message(self) -> bytes | None:
        left = self._left
        if len(left) < 4:
            return None
        length, start = left[1] & 127, 2
        if length == 126:
            length, start = int.from_bytes(left[2:4]), 4
        if len(left) < start + length:
            return None
        self._left = left[start + length :]
        return left[start : start + length]

    def _take(self, message: bytes, at: float) -> None:
        if not self.ready.done():
            self.ready.set_result(None)
            return
        for seq in _SEQ.findall(message):
            self.received[int(seq)] = at
        if len(self.received) >= self._expected and not self.done.done():
            self.done.set_result(None)


async def listen(place: Place, clients: int, expected: int) -> list[Listener]:
    """Connect and subscribe all clients."""
    address, loop = urlsplit(place.url), asyncio.get_running_loop()
    where = address.hostname or "", address.port or 80
    listeners: list[Listener] = []
    while len(listeners) < clients:
        new = [Listener(place, expected) for _ in range(AT_ONCE)]
        await asyncio.gather(*(loop.create_connection(lambda each=each: each, *where) for each in new))
        await asyncio.gather(*(each.ready for each in new))
        listeners += new
    return listeners


def _masked(payload: bytes) -> bytes:
    """Return a client's text frame with a mask of zeros, for up to 125 bytes."""
    return bytes([0x81, 0x80 | len(payload), 0, 0, 0, 0]) + payload
