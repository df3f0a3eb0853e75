"""Parse URLs once, so that the checked target is the requested one."""

import ipaddress
from dataclasses import dataclass

import httpx2

from forge.outgoing.addresses import MAX_PORT
from forge.outgoing.errors import Refused, Unsendable
from forge.outgoing.models import MAX_URL

PORTS = {"http": 80, "https": 443}
_MAX_HOST = 253
_OTHER_PROTOCOLS = frozenset(
    {1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103}
    | {104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513}
    | {514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720}
    | {1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697}
    | {10080, 11211}
)
"""Ports of services that interpret text lines as commands; browsers block them too."""


@dataclass(frozen=True)
class Target:
    scheme: str
    host: str
    """Host in lower case and ASCII, without brackets."""
    port: int
    path: str
    """Path with query, as sent."""

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """Value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"

    def at(self, address: str) -> httpx2.URL:
        """Return the URL with the host replaced by an address."""
        host = f"[{address}]" if ":" in address else address
        return httpx2.URL(f"{self.scheme}://{host}:{self.port}").copy_with(raw_path=self.path.encode("ascii"))


def parse_url(text: str, *, beside: Target | None = None) -> Target:
    """Parse a URL. `beside`: the origin of a redirect, for relative URLs."""
    if len(text) > MAX_URL:
        raise Unsendable(f"The URL is longer than {MAX_URL:,} characters.")
    try:
        url = httpx2.URL(beside.url).join(text) if beside else httpx2.URL(text)
        host = _normalized(url.raw_host.decode("ascii"))
        path = url.raw_path.decode("ascii")
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        raise Unsendable(
            f"{text[:200]!r} is not a valid URL.", hint="Use a URL such as https://example.com/path."
        ) from error
    if url.scheme not in PORTS:
        raise Refused(f"The URL scheme {url.scheme!r} is not supported.", hint="Use http:// or https://.")
    if url.userinfo:
        raise Refused("Credentials in a URL are not sent.", hint="Set the Authorization header instead.")
    port = PORTS[url.scheme] if url.port is None else url.port
    _check(host, port, text)
    return Target(url.scheme, host, port, path)


def _normalized(host: str) -> str:
    """Normalize addresses and names."""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return host.lower().rstrip(".")


def _check(host: str, port: int, text: str) -> None:
    if not host or len(host) > _MAX_HOST or "%" in host or "\\" in text:
        raise Unsendable(f"{text[:200]!r} has no valid host.")
    if not 0 < port <= MAX_PORT:
        raise Unsendable(f"{port} is not a valid port.")
    if port in _OTHER_PROTOCOLS:
        raise Refused(f"Port {port} is reserved for a protocol other than HTTP.")
