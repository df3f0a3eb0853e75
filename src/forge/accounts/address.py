"""The host names and origins of this server, as protection against DNS rebinding.

A foreign page can point its own name at our address, but it cannot make the browser send one of our names as Host.
"""

import ipaddress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_WILDCARD_HOSTS = frozenset({"", "0.0.0.0", "::"})  # noqa: S104  # compared with, not bound to
_DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class OwnAddress:
    """Where the server listens (`port` is the real one, never 0), and the host name of its machine."""

    host: str
    port: int
    machine: str
    public_url: str | None = None

    def allowed_origins(self, host_header: str | None) -> frozenset[str]:
        """Return the origins our own pages can have, for a request with this Host header."""
        allowed = {_origin_of(urlsplit(self.public_url))} if self.public_url else set[str]()
        if host_header and self.is_own(host_header):
            allowed |= {_origin_of(urlsplit(f"{scheme}://{host_header}")) for scheme in _DEFAULT_PORTS}
        return frozenset(allowed)

    def is_own(self, host_header: str) -> bool:
        try:
            parsed = urlsplit(f"//{host_header}")
            name, port = parsed.hostname, parsed.port
        except ValueError:
            return False
        if name is None or host_header.lower() != _netloc(name, port):
            return False
        return self._listens_at(name, port) or self._is_published_as(name)

    def url(self, host_header: str | None = None) -> str:
        """Return the URL to open in a browser: the public URL, else the address the request used."""
        if self.public_url:
            return self.public_url
        if host_header and self.is_own(host_header):
            return f"http://{host_header}"
        return self.local_url()

    def local_url(self) -> str:
        """Return the URL for programs on this machine."""
        return f"http://{_netloc('127.0.0.1' if self._listens_on_all_interfaces else self.host, self.port)}"

    @property
    def is_https(self) -> bool:
        return (self.public_url or "").startswith("https://")

    @property
    def _listens_on_all_interfaces(self) -> bool:
        return self.host in _WILDCARD_HOSTS

    def _listens_at(self, name: str, port: int | None) -> bool:
        ports = {self.port, None} if self.port in _DEFAULT_PORTS.values() else {self.port}
        return name in _LOOPBACK | {self.host.lower()} and port in ports

    def _is_published_as(self, name: str) -> bool:
        """Listening on all interfaces, possibly behind a container's port mapping: accept any port, but only names that
        cannot be registered by an attacker."""
        if self.public_url or not self._listens_on_all_interfaces:
            return False
        return name in {"localhost", self.machine.lower()} or _is_ip(name)


def canonical_origin(origin: str | None) -> str | None:
    """Normalize an Origin header for comparison. A malformed one is returned as it is and matches nothing."""
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
    host_text = f"[{name}]" if ":" in name else name
    return host_text if port is None else f"{host_text}:{port}"


def _is_ip(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
