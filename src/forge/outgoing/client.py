"""The one way out for requests that somebody else thought of.

A name is looked up here, every address it leads to is checked, and the connection goes to the very address that was
checked: there is no second look that could give another answer. The name stays what certificates are checked against.
Nothing of this machine goes along: no proxy from the environment, no cookie, no password of a file.
"""

import asyncio
import ipaddress
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cached_property

import httpx2

from forge.outgoing.addresses import Address, AllowedPlaces, is_own, is_public
from forge.outgoing.body import PACKED, read_body
from forge.outgoing.errors import Refused, TooLate, TooLong, Unreachable
from forge.outgoing.headers import check_headers, elsewhere, without_body
from forge.outgoing.models import MAX_REDIRECTS, Method, Reach, Request, Response
from forge.outgoing.resolving import Resolve, Resolver
from forge.outgoing.target import Target, read_url

MAX_ADDRESSES = 4
CONNECT_S = 5.0
"""For one address, when there are others to try."""
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_KEEP_METHOD = frozenset({307, 308})
_TRAVEL = frozenset({"content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive"})
"""Of how an answer travelled; the body is unpacked by then."""


@dataclass(frozen=True)
class _Hop:
    target: Target
    method: Method
    headers: dict[str, str]
    body: bytes


class Outgoing:
    """`allow`: hosts, addresses and networks of our own that may be reached (FORGE_HTTP_ALLOW)."""

    def __init__(
        self,
        allow: tuple[str, ...] = (),
        *,
        resolve: Resolve | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._allowed = AllowedPlaces(allow)
        self._resolve = resolve or Resolver()
        self._given_tls = tls

    async def request(self, request: Request) -> Response:
        if len(request.body) > request.max_sent_bytes:
            raise TooLong(f"The request has more than {request.max_sent_bytes:,} bytes.")
        hop = _Hop(read_url(request.url), request.method, check_headers(request.headers), request.body)
        try:
            async with asyncio.timeout(max(0.0, request.timeout_s)):
                for _ in range(MAX_REDIRECTS + 1):
                    answer = await self._ask(hop, request)
                    if isinstance(answer, Response):
                        return answer
                    hop = answer
        except TimeoutError as error:
            raise TooLate(
                f"{hop.target.host} did not answer within {request.timeout_s:.3g} seconds.",
                hint="Try again, or ask for less at once.",
            ) from error
        raise Refused(f"The answer is more than {MAX_REDIRECTS} redirects away.", hint="Ask the last one.")

    async def _ask(self, hop: _Hop, request: Request) -> "Response | _Hop":
        """What came back, or where it said to go."""
        target = hop.target
        addresses = await self._find(target, request.reach(target.host, target.port))
        async with self._open(hop, addresses) as answer:
            if answer.status_code in _REDIRECTS and "location" in answer.headers:
                return _follow(hop, answer)
            is_bare = hop.method is Method.HEAD or answer.status_code in (204, 304)
            encoding = "" if is_bare else answer.headers.get("content-encoding", "")
            body = await read_body(answer.aiter_raw(), encoding, request.max_bytes)
            return Response(answer.status_code, _headers_of(answer), body, target.url)

    async def check_host(self, host: str, port: int) -> list[Address]:
        """Where others that make connections of their own may go; they have to go to one of these. Raises Refused or
        Unreachable."""
        return await self._find(Target("https", host, port, "/"), Reach.ALLOWED)

    async def _find(self, target: Target, reach: Reach) -> list[Address]:
        """Where it may go, of all that the name leads to."""
        literal = _literal(target.host)
        try:
            found = [literal] if literal else await self._resolve(target.host, target.port)
        except OSError as error:
            raise Unreachable(
                f"There is no host {target.host[:200]!r}: {error}.", hint="Is it spelled right?"
            ) from error
        open_ones = [address for address in found if self._may_reach(target, address, reach)]
        if not open_ones:
            raise Refused(
                f"{target.authority} is on a network that is not public, and is not reached from here.",
                hint="Whoever runs the server may allow it: FORGE_HTTP_ALLOW="
                f"{target.host if ':' not in target.host else f'[{target.host}]'}:{target.port}",
            )
        return open_ones[:MAX_ADDRESSES]

    def _may_reach(self, target: Target, address: Address, reach: Reach) -> bool:
        if reach is Reach.ALLOWED and self._allowed.hold(target.host, address, target.port):
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
                    f"{hop.target.authority} cannot be asked: {what[:300]}.", hint="Try again a little later."
                ) from error

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Reading what this machine trusts takes a while: once, when first needed."""
        return self._given_tls or httpx2.create_ssl_context()


async def _send(transport: httpx2.AsyncHTTPTransport, hop: _Hop, addresses: list[Address]) -> httpx2.Response:
    """To the first address that takes a connection; nothing was sent to those before it."""
    *others, last = addresses
    for address in others:
        try:
            return await transport.handle_async_request(_build(hop, address, is_last=False))
        except (httpx2.ConnectError, httpx2.ConnectTimeout):
            continue
    return await transport.handle_async_request(_build(hop, last, is_last=True))


def _build(hop: _Hop, address: Address, *, is_last: bool) -> httpx2.Request:
    timeout = httpx2.Timeout(None, connect=None if is_last else CONNECT_S)  # there is one for the whole
    headers = {
        "accept": "*/*",
        "user-agent": "Forge",
        **hop.headers,
        "host": hop.target.authority,
        "accept-encoding": PACKED,
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
    target = read_url(answer.headers["location"], beside=hop.target)
    if (hop.target.scheme, target.scheme) == ("https", "http"):
        raise Refused(f"{hop.target.authority} sends on from https to http; that is not followed.")
    headers = hop.headers if target.origin == hop.target.origin else elsewhere(hop.headers)
    if answer.status_code in _KEEP_METHOD or hop.method.only_reads:
        return replace(hop, target=target, headers=headers)
    return _Hop(target, Method.GET, without_body(headers), b"")


def _headers_of(answer: httpx2.Response) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name not in _TRAVEL}


def _literal(host: str) -> Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
