"""Servers that respond with exact bytes."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Asked:
    line: str
    headers: dict[str, str]
    body: bytes


Answer = Callable[[Asked, asyncio.StreamWriter], Awaitable[None]]


@dataclass
class Served:
    port: int
    asked: list[Asked] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def place(self) -> str:
        return f"127.0.0.1:{self.port}"


def plain(body: bytes = b"hello", status: str = "200 OK", **headers: str) -> Answer:
    """`content_type="text/plain"` is the header Content-Type."""

    async def answer(_: Asked, writer: asyncio.StreamWriter) -> None:
        told = {
            "content-length": str(len(body)),
            **{name.replace("_", "-"): v for name, v in headers.items()},
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in told.items())
        writer.write(f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body)

    return answer


def redirect(location: str, status: str = "302 Found") -> Answer:
    return plain(b"", status, location=location)


@asynccontextmanager
async def serving(answer: Answer, *, tls: ssl.SSLContext | None = None) -> AsyncGenerator[Served]:
    served = Served(0)
    open_ones: set[asyncio.StreamWriter] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        open_ones.add(writer)
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            served.asked.append(asked := await _read(reader))
            await answer(asked, writer)
            await writer.drain()
        open_ones.discard(writer)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    served.port = server.sockets[0].getsockname()[1]
    try:
        yield served
    finally:
        server.close()
        for writer in open_ones:
            writer.transport.abort()


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    line, *rest = head.rstrip().split("\r\n")
    headers = {name.lower(): value for name, _, value in (one.partition(": ") for one in rest)}
    return Asked(line, headers, await reader.readexactly(int(headers.get("content-length", "0"))))
