"""HTTP client for requests of skills and workflow steps.

A name is resolved once, all its addresses are checked, and the connection goes to a checked address, so a
second lookup cannot return another one. Certificates are verified against the name. Proxies, cookies and credentials
of this machine are not used.
"""

import asyncio
import ipaddress
import re
import socket
import ssl
import threading
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property

import httpx2

from forge.outgoing.addresses import Address, AllowList, is_own, is_public
from forge.outgoing.errors import Refused, TooLate, TooLong, Unreachable, Unsendable
from forge.outgoing.models import (
    MAX_HEADER,
    MAX_HEADER_TEXT,
    MAX_HEADERS,
    MAX_REDIRECTS,
    Method,
    Reach,
    Request,
    Response,
)
from forge.outgoing.target import Target, parse_url

GZIP = "gzip"
"""The only compression that is requested."""
_GZIP_WBITS = 16 + zlib.MAX_WBITS


async def read_body(pieces: AsyncIterator[bytes], encoding: str, limit: int) -> bytes:
    """Read and decompress a body; raises Unreachable for an encoding that was not requested."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return await _read_plain(pieces, limit)
    if name != GZIP:
        raise Unreachable(f"The response is encoded as {name[:40]!r}, which was not requested.")
    return await _decompress(pieces, limit)


async def _read_plain(pieces: AsyncIterator[bytes], limit: int) -> bytes:
    body = bytearray()
    async for piece in pieces:
        body += piece
        if len(body) > limit:
            raise _too_long(limit)
    return bytes(body)


async def _decompress(pieces: AsyncIterator[bytes], limit: int) -> bytes:
    unpacking = zlib.decompressobj(_GZIP_WBITS)
    body = bytearray()
    packed = 0
    async for piece in pieces:
        packed += len(piece)
        if packed > _max_compressed(limit):
            raise _too_long(limit)
        try:
            body += unpacking.decompress(piece, limit + 1 - len(body))
        except zlib.error as error:
            raise Unreachable("The response cannot be decompressed: it is corrupt.") from error
        if len(body) > limit:
            raise _too_long(limit)
    if packed and not unpacking.eof:
        raise Unreachable("The compressed response is incomplete.")
    return bytes(body)


def _max_compressed(limit: int) -> int:
    """Return the maximum compressed size: incompressible data grows a little; more can only be empty blocks."""
    return limit + limit // 100 + 1000


def _too_long(limit: int) -> TooLong:
    return TooLong(
        f"The response is larger than {limit:,} bytes.",
        hint="Request less: a page, a range or fewer fields.",
    )


_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_RESERVED_HEADERS = frozenset(
    {"host", "content-length", "transfer-encoding", "accept-encoding", "connection", "keep-alive", "expect"}
    | {"proxy-connection", "proxy-authorization", "proxy-authenticate", "te", "trailer", "upgrade"}
)
"""Headers about transfer and routing, which are set by Forge only."""
_SAFE_HEADERS = frozenset({"accept", "accept-language", "user-agent", "content-type", "content-language"})
"""Headers that contain no credentials; any other might."""
_BODY_HEADERS = frozenset({"content-type", "content-language", "content-encoding"})


def check_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Validate headers and convert their names to lower case."""
    if len(headers) > MAX_HEADERS:
        raise Unsendable(f"A request has at most {MAX_HEADERS} headers.")
    if sum(len(name) + len(value) for name, value in headers.items()) > MAX_HEADER_TEXT:
        raise Unsendable(f"The headers have more than {MAX_HEADER_TEXT:,} characters in total.")
    checked: dict[str, str] = {}
    for name, value in headers.items():
        if not _NAME.fullmatch(name):
            raise Unsendable(f"{name[:100]!r} is not a valid header name.")
        if name.lower() in _RESERVED_HEADERS:
            raise Unsendable(f"The header {name} is set by Forge: omit it.")
        if len(value) > MAX_HEADER or not _VALUE.fullmatch(value):
            raise Unsendable(
                f"The value of header {name} is invalid: it must be one line of at most {MAX_HEADER:,} "
                "Latin-1 characters."
            )
        checked[name.lower()] = value.strip()
    return checked


def cross_origin_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that may be sent to another origin."""
    return {name: value for name, value in headers.items() if name in _SAFE_HEADERS}


def without_body(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in _BODY_HEADERS}


MAX_LOOKUPS = 16

Resolve = Callable[[str, int], Awaitable[list[Address]]]
"""Returns the addresses of a host in order of preference. Raises OSError if there is none."""


class Resolver:
    """Resolves names like the system, in separate threads: a slow name server must not block the default pool."""

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(MAX_LOOKUPS)

    async def __call__(self, host: str, port: int) -> list[Address]:
        await self._slots.acquire()
        loop = asyncio.get_running_loop()
        found: asyncio.Future[list[Address]] = loop.create_future()

        def work() -> None:
            try:
                addresses = look_up(host, port)
            except (OSError, UnicodeError) as error:
                failure = OSError(str(error))
                _call_in_loop(loop, lambda: self._end(found, lambda: found.set_exception(failure)))
            else:
                _call_in_loop(loop, lambda: self._end(found, lambda: found.set_result(addresses)))

        threading.Thread(target=work, name=f"look up {host}", daemon=True).start()
        return await found

    def _end(self, found: "asyncio.Future[list[Address]]", deliver: Callable[[], None]) -> None:
        """Release the slot when the thread is done, even if the caller has stopped waiting."""
        self._slots.release()
        if not found.done():
            deliver()


def look_up(host: str, port: int) -> list[Address]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    texts = dict.fromkeys(str(entry[4][0]) for entry in found)
    return [ipaddress.ip_address(text) for text in texts]


def _call_in_loop(loop: asyncio.AbstractEventLoop, deliver: Callable[[], None]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(deliver)


MAX_ADDRESSES = 4
CONNECT_S = 5.0
"""Connect timeout of an address if there are others to try."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEEP_METHOD = frozenset({307, 308})
_TRANSFER_HEADERS = frozenset(
    {"content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive"}
)
"""Headers about the transfer, which do not apply to the decompressed body."""


@dataclass(frozen=True)
class _Hop:
    target: Target
    method: Method
    headers: dict[str, str]
    body: bytes


class Outgoing:
    """Sends requests. `allow`: non-public hosts, addresses and networks that may be reached (FORGE_HTTP_ALLOW)."""

    def __init__(
        self,
        allow: tuple[str, ...] = (),
        *,
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._allowed = AllowList(allow)
        self._resolve = resolve or Resolver()
        self._given_tls = tls

    async def request(self, request: Request) -> Response:
        if len(request.body) > request.max_sent_bytes:
            raise TooLong(f"The request body is larger than {request.max_sent_bytes:,} bytes.")
        hop = _Hop(parse_url(request.url), request.method, check_headers(request.headers), request.body)
        try:
            async with asyncio.timeout(max(0.0, request.timeout_s)):
                for _ in range(MAX_REDIRECTS + 1):
                    answer = await self._send_hop(hop, request)
                    if isinstance(answer, Response):
                        return answer
                    hop = answer
        except TimeoutError as error:
            raise TooLate(
                f"{hop.target.host} did not respond within {request.timeout_s:.3g} seconds.",
                hint="Try again, or request less at once.",
            ) from error
        raise Refused(f"More than {MAX_REDIRECTS} redirects.", hint="Request the final URL directly.")

    async def _send_hop(self, hop: _Hop, request: Request) -> "Response | _Hop":
        """Send one request; returns the response, or the next hop of a redirect."""
        target = hop.target
        addresses = await self._find_addresses(target, request.reach(target.host, target.port))
        async with self._open(hop, addresses) as answer:
            if answer.status_code in _REDIRECTS and "location" in answer.headers:
                return _follow(hop, answer)
            is_bare = hop.method is Method.HEAD or answer.status_code in (204, 304)
            encoding = "" if is_bare else answer.headers.get("content-encoding", "")
            body = await read_body(answer.aiter_raw(), encoding, request.max_bytes)
            return Response(answer.status_code, _headers_of(answer), body, target.url)

    async def check_host(self, host: str, port: int) -> list[Address]:
        """Return the addresses of a host that other clients may connect to. Raises Refused or Unreachable."""
        return await self._find_addresses(Target("https", host, port, "/"), Reach.ALLOWED)

    async def _find_addresses(self, target: Target, reach: Reach) -> list[Address]:
        """Resolve a host and return its allowed addresses."""
        literal = _literal(target.host)
        try:
            found = [literal] if literal else await self._resolve(target.host, target.port)
        except OSError as error:
            raise Unreachable(
                f"The host {target.host[:200]!r} cannot be resolved: {error}.", hint="Check the spelling."
            ) from error
        allowed = [address for address in found if self._may_reach(target, address, reach)]
        if not allowed:
            raise Refused(
                f"{target.authority} is not on the public internet and not allowed by the settings.",
                hint="The operator of the server can allow it: FORGE_HTTP_ALLOW="
                f"{target.host if ':' not in target.host else f'[{target.host}]'}:{target.port}",
            )
        return allowed[:MAX_ADDRESSES]

    def _may_reach(self, target: Target, address: Address, reach: Reach) -> bool:
        if reach is Reach.ALLOWED and self._allowed.allows(target.host, address, target.port):
            return True
        return is_public(address) and not is_own(address)

    @asynccontextmanager
    async def _open(self, hop: _Hop, addresses: list[Address]) -> AsyncGenerator[httpx2.Response]:
        async with httpx2.AsyncHTTPTransport(verify=self._tls, trust_env=False, http2=False) as transport:
            try:
                answer = await _send(transport, hop, addresses)
                try:
                    yield answer
                finally:
                    await answer.aclose()
            except httpx2.HTTPError as error:
                what = str(error) or type(error).__name__
                raise Unreachable(
                    f"{hop.target.authority} cannot be reached: {what[:300]}.", hint="Try again later."
                ) from error

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """TLS context, created on first use because loading the trust store is slow."""
        return self._given_tls or httpx2.create_ssl_context()


async def _send(transport: httpx2.AsyncHTTPTransport, hop: _Hop, addresses: list[Address]) -> httpx2.Response:
    """Send to the first address that accepts a connection."""
    *others, last = addresses
    for address in others:
        try:
            return await transport.handle_async_request(_build(hop, address, is_last=False))
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            continue
    return await transport.handle_async_request(_build(hop, last, is_last=True))


def _build(hop: _Hop, address: Address, *, is_last: bool) -> httpx2.Request:
    timeout = httpx2.Timeout(None, connect=None if is_last else CONNECT_S)  # the whole request has a timeout
    headers = {
        "accept": "*/*",
        "user-agent": "Forge",
        **hop.headers,
        "host": hop.target.authority,
        "accept-encoding": GZIP,
        "connection": "close",
    }
    sends = hop.body or not hop.method.only_reads
    return httpx2.Request(
        hop.method.value,
        hop.target.at(str(address)),
        headers=[(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
        content=hop.body if sends else None,
        extensions={"timeout": timeout.as_dict(), "sni_hostname": hop.target.host},
    )


def _follow(hop: _Hop, answer: httpx2.Response) -> _Hop:
    target = parse_url(answer.headers["location"], beside=hop.target)
    if (hop.target.scheme, target.scheme) == ("https", "http"):
        raise Refused(f"{hop.target.authority} redirects from https to http, which is not followed.")
    headers = hop.headers if target.origin == hop.target.origin else cross_origin_headers(hop.headers)
    if answer.status_code in _KEEP_METHOD or hop.method.only_reads:
        return replace(hop, target=target, headers=headers)
    return _Hop(target, Method.GET, without_body(headers), b"")


def _headers_of(answer: httpx2.Response) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name not in _TRANSFER_HEADERS}


def _literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
