"""Serve packages to a command: answers GET and HEAD for packages and for files linked from their pages.

A command cannot name another host or send a body, a query or headers. All downloads are recorded.
"""

import asyncio
import contextlib
import logging
import re
import secrets
import socket
import ssl
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from http import HTTPStatus
from typing import Self

import httpx2

from forge.sandbox.registry_gateway.package_pages import (
    Links,
    rewrite_index_html,
    rewrite_index_json,
    rewrite_package,
)
from forge.sandbox.registry_gateway.upstreams import Upstream, Upstreams

METHODS = frozenset({"GET", "HEAD"})
HEAD_BYTES = 16_384
IDLE_S = 60.0


@dataclass(frozen=True)
class Request:
    method: str
    target: str
    accept: str


class Refusal(Exception):
    """Becomes the response."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status.phrase)
        self.status = status


async def read_request(reader: asyncio.StreamReader) -> Request | None:
    """Read a request; None at the end of the connection."""
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


class GatewayResponse:
    """A streamed response: a head, then the body in pieces."""

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


log = logging.getLogger(__name__)

PAGE_BYTES = 64 << 20
FILE_BYTES = 1 << 30
TOTAL_BYTES = 4 << 30
MAX_CONCURRENT = 16
TIMEOUT = httpx2.Timeout(60.0, connect=20.0)
INDEX_TYPES = "application/vnd.pypi.simple.v1+json, text/html;q=0.1"
USER_AGENT = "forge-gateway"

_NAME = r"[A-Za-z0-9][A-Za-z0-9._~-]{0,213}"
_INDEX = re.compile(rf"pip/(\d)/({_NAME})/?")
_FILE = re.compile(r"(pip/\d|npm)/file/([0-9a-f]{24})/([A-Za-z0-9._~+%!-]+)")
_PACKAGE = re.compile(rf"npm/((?:@{_NAME}(?:/|%2[fF]))?{_NAME}(?:/{_NAME})?)")
_TARBALL = re.compile(rf"npm/((?:@{_NAME}/)?{_NAME}/-/(?:@{_NAME}/)?{_NAME}\.tgz)")


class Gateway:
    """The gateway of one command. Its URL contains a secret, because other processes can reach it with weaker backends."""

    def __init__(self, upstreams: Upstreams) -> None:
        self._upstreams = upstreams
        self._secret = secrets.token_urlsafe(16)
        self._links = Links()
        self._fetched: list[str] = []
        self._left = TOTAL_BYTES
        self._busy = asyncio.Semaphore(MAX_CONCURRENT)
        self._base = ""
        self._connections: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        trust = ssl.create_default_context(cafile=self._upstreams.certificates)
        self._client = httpx2.AsyncClient(
            verify=trust,
            timeout=TIMEOUT,
            follow_redirects=True,
            max_redirects=5,
            headers={"User-Agent": USER_AGENT},
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server:
            self._server.close()
        for task in self._connections:
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._client.aclose()

    @property
    def fetched(self) -> tuple[str, ...]:
        return tuple(self._fetched)

    def env(self, port: int) -> dict[str, str]:
        """Return variables that point pip, uv and npm to the gateway and disable code execution during installs."""
        self._base = f"http://127.0.0.1:{port}/{self._secret}"
        first, *others = [f"{self._base}/pip/{n}/" for n in range(len(self._upstreams.pip))] or [self._base]
        return {
            "PIP_INDEX_URL": first,
            "PIP_EXTRA_INDEX_URL": " ".join(others),
            "PIP_ONLY_BINARY": ":all:",
            "PIP_NO_CACHE_DIR": "1",
            "PIP_CONFIG_FILE": "/dev/null",
            "UV_DEFAULT_INDEX": first,
            "UV_NO_BUILD": "1",
            "npm_config_registry": f"{self._base}/npm/",
            "npm_config_replace_registry_host": "always",
            "npm_config_ignore_scripts": "true",
            "npm_config_audit": "false",
            "npm_config_fund": "false",
            "npm_config_update_notifier": "false",
        }

    async def serve(self, listener: socket.socket) -> None:
        self._server = await asyncio.start_server(self._accept, sock=listener, limit=HEAD_BYTES)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve_connection(reader, writer), name="registry gateway")
        self._connections.add(task)
        task.add_done_callback(self._connections.discard)

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := await read_request(reader):
                async with self._busy:
                    await self._answer(request, GatewayResponse(writer, request))
        except Refusal as refusal:
            with contextlib.suppress(ConnectionError):
                await GatewayResponse(writer, None).whole(
                    refusal.status, "text/plain", refusal.status.phrase.encode()
                )
        except (ConnectionError, httpx2.HTTPError, ValueError) as error:
            log.info("download through the registry gateway aborted: %s", type(error).__name__)
        finally:
            writer.close()

    async def _answer(self, request: Request, answer: GatewayResponse) -> None:
        """Answer a request. Refusals become responses; a failure after the first byte ends the connection."""
        path = request.target.removeprefix(f"/{self._secret}/")
        if path == request.target or ".." in path:
            raise Refusal(HTTPStatus.FORBIDDEN)
        if found := _FILE.fullmatch(path):
            url = self._links.find(found[2], found[3])
            if url is None:
                raise Refusal(HTTPStatus.NOT_FOUND)
            await self._pass_on(request, answer, self._registry(found[1]), url)
        elif found := _TARBALL.fullmatch(path):
            npm = self._registry("npm")
            await self._pass_on(request, answer, npm, f"{npm.url}/{found[1]}")
        elif found := _INDEX.fullmatch(path):
            await self._index(answer, f"pip/{found[1]}", found[2])
        elif found := _PACKAGE.fullmatch(path):
            await self._package(request, answer, found[1])
        else:
            raise Refusal(HTTPStatus.FORBIDDEN)

    def _registry(self, name: str) -> Upstream:
        upstream = self._upstreams.npm
        if name != "npm":
            number = int(name.removeprefix("pip/"))
            upstream = self._upstreams.pip[number] if number < len(self._upstreams.pip) else None
        if upstream is None:
            raise Refusal(HTTPStatus.NOT_FOUND)
        return upstream

    async def _index(self, answer: GatewayResponse, registry: str, project: str) -> None:
        url = f"{self._registry(registry).url}/{project}/"
        response, body = await self._page(self._registry(registry), url, INDEX_TYPES)
        kind = response.headers.get("content-type", "")
        if response.status_code == HTTPStatus.OK:
            rewrite = rewrite_index_json if "json" in kind else rewrite_index_html
            body = rewrite(body, str(response.url), lambda link: self._at_gateway(registry, link))
        await answer.whole(response.status_code, kind, body)

    async def _package(self, request: Request, answer: GatewayResponse, name: str) -> None:
        npm = self._registry("npm")
        response, body = await self._page(npm, f"{npm.url}/{name}", request.accept)
        if response.status_code == HTTPStatus.OK:
            body = rewrite_package(body, lambda link: self._at_gateway("npm", link))
        await answer.whole(response.status_code, response.headers.get("content-type", ""), body)

    def _at_gateway(self, registry: str, url: str) -> str:
        return f"{self._base}/{registry}/file/{self._links.add(url)}"

    async def _page(self, upstream: Upstream, url: str, accept: str) -> tuple[httpx2.Response, bytes]:
        headers = {"Accept": accept, **upstream.headers_for(url)}
        body = bytearray()
        async with self._open("GET", url, headers) as response:
            async for data in response.aiter_bytes():
                body += data
                if len(body) > PAGE_BYTES:
                    raise Refusal(HTTPStatus.BAD_GATEWAY)
            return response, bytes(body)

    async def _pass_on(self, request: Request, answer: GatewayResponse, upstream: Upstream, url: str) -> None:
        headers = {"Accept-Encoding": "identity", **upstream.headers_for(url)}
        async with self._open(request.method, url, headers) as response:
            length = response.headers.get("content-length")
            size = int(length) if length and length.isdigit() else None
            if (size or 0) > min(FILE_BYTES, self._left):
                raise Refusal(HTTPStatus.BAD_GATEWAY)
            await answer.start(response.status_code, "application/octet-stream", size)
            await self._stream(response, answer)
        if request.method == "GET" and response.status_code == HTTPStatus.OK:
            self._fetched.append(url.rpartition("/")[2])

    async def _stream(self, response: httpx2.Response, answer: GatewayResponse) -> None:
        passed = 0
        async for data in response.aiter_raw():
            passed += len(data)
            self._left -= len(data)
            if passed > FILE_BYTES or self._left < 0:
                raise ConnectionError("download limit exceeded")
            await answer.write(data)
        await answer.finish()

    @contextlib.asynccontextmanager
    async def _open(self, method: str, url: str, headers: dict[str, str]) -> AsyncGenerator[httpx2.Response]:
        """Open an upstream response. An unreachable registry becomes 502; a later failure ends the connection."""
        request = self._client.build_request(method, url, headers=headers)
        try:
            response = await self._client.send(request, stream=True)
        except httpx2.HTTPError as error:
            raise Refusal(HTTPStatus.BAD_GATEWAY) from error
        try:
            yield response
        finally:
            await response.aclose()
