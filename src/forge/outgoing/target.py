"""An address of the web, read once: what is checked is what is asked."""

import ipaddress
from dataclasses import dataclass

import httpx2

from forge.outgoing.addresses import LAST_PORT
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
"""Where something listens that takes lines of text for commands; browsers do not go there either."""


@dataclass(frozen=True)
class Target:
    scheme: str
    host: str
    """In lower case and ASCII, without brackets."""
    port: int
    path: str
    """With the query, as it is sent."""

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """As the header Host has it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        return f"{self.scheme}://{self.authority}{self.path}"

    def at(self, address: str) -> httpx2.URL:
        """The same, at an address of this host."""
        host = f"[{address}]" if ":" in address else address
        return httpx2.URL(f"{self.scheme}://{host}:{self.port}").copy_with(raw_path=self.path.encode("ascii"))


def read_url(text: str, *, beside: Target | None = None) -> Target:
    """`beside`: where a redirect came from, for one that is relative to it."""
    if len(text) > MAX_URL:
        raise Unsendable(f"The address is longer than {MAX_URL:,} characters.")
    try:
        url = httpx2.URL(beside.url).join(text) if beside else httpx2.URL(text)
        host = _spelled(url.raw_host.decode("ascii"))
        path = url.raw_path.decode("ascii")
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        raise Unsendable(
            f"{text[:200]!r} is no address of the web.", hint="Give one such as https://example.com/path."
        ) from error
    if url.scheme not in PORTS:
        raise Refused(f"{url.scheme or 'no scheme'} is not spoken here.", hint="Use http:// or https://.")
    if url.userinfo:
        raise Refused(
            "A name or a password in an address is not sent.", hint="Send the header Authorization instead."
        )
    port = PORTS[url.scheme] if url.port is None else url.port
    _check(host, port, text)
    return Target(url.scheme, host, port, path)


def _spelled(host: str) -> str:
    """One spelling for each address and each name."""
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        return host.lower().rstrip(".")


def _check(host: str, port: int, text: str) -> None:
    if not host or len(host) > _MAX_HOST or "%" in host or "\\" in text:
        raise Unsendable(f"{text[:200]!r} names no host that can be asked.")
    if not 0 < port <= LAST_PORT:
        raise Unsendable(f"There is no port {port}.")
    if port in _OTHER_PROTOCOLS:
        raise Refused(f"Port {port} is for another protocol than HTTP.")
