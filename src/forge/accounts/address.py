"""Under which names this server may be reached. A page elsewhere can make its own name point to our address (DNS
rebinding); what it cannot do is make the browser send one of these names as Host.
"""

import ipaddress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_EVERYWHERE = frozenset({"", "0.0.0.0", "::"})  # noqa: S104  # compared with, not bound to
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class OwnAddress:
    """Where the server listens (`port` is the real one, never 0), and the name of its machine."""

    host: str
    port: int
    machine: str
    public_url: str | None = None

    def allowed_origins(self, host_header: str | None) -> frozenset[str]:
        """The origins a page of ours can have, for a request sent to this Host."""
        allowed = {_origin_of(urlsplit(self.public_url))} if self.public_url else set[str]()
        if host_header and self.is_own(host_header):
            allowed |= {_origin_of(urlsplit(f"{scheme}://{host_header}")) for scheme in _DEFAULT_PORTS}
        return frozenset(allowed)

    def is_own(self, host_header: str) -> bool:
        try:
            given = urlsplit(f"//{host_header}")
            name, port = given.hostname, given.port
        except ValueError:
            return False
        if name is None or host_header.lower() != _netloc(name, port):
            return False
        return self._listens_at(name, port) or self._is_published_as(name)

    def url(self, host_header: str | None = None) -> str:
        """What to open in a browser: the public address, else the one the request found us under."""
        if self.public_url:
            return self.public_url
        if host_header and self.is_own(host_header):
            return f"http://{host_header}"
        return self.local_url()

    def local_url(self) -> str:
        """Where programs on this machine find it."""
        return f"http://{_netloc('127.0.0.1' if self._is_everywhere else self.host, self.port)}"

    @property
    def is_https(self) -> bool:
        return (self.public_url or "").startswith("https://")

    @property
    def _is_everywhere(self) -> bool:
        return self.host in _EVERYWHERE

    def _listens_at(self, name: str, port: int | None) -> bool:
        ports = {self.port, None} if self.port in _DEFAULT_PORTS.values() else {self.port}
        return name in _LOOPBACK | {self.host.lower()} and port in ports

    def _is_published_as(self, name: str) -> bool:
        """On all interfaces, maybe behind a container's port mapping: any port, but no name a stranger can own."""
        if self.public_url or not self._is_everywhere:
            return False
        return name in {"localhost", self.machine.lower()} or _is_ip(name)


def canonical_origin(origin: str | None) -> str | None:
    """An Origin header in the form it is compared in; one that cannot be read stays as it is, and matches nothing."""
    if origin is None:
        return None
    try:
        return _origin_of(urlsplit(origin))
    except ValueError:
        return origin


def _origin_of(url: SplitResult) -> str:
    port = None if url.port == _DEFAULT_PORTS.get(url.scheme) else url.port
    return f"{url.scheme}://{_netloc(url.hostname or '', port)}"


def _netloc(name: str, port: int | None) -> str:
    shown = f"[{name}]" if ":" in name else name
    return shown if port is None else f"{shown}:{port}"


def _is_ip(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
