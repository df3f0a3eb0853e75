"""Check whether an address is public or allowed by the settings.

Decisions are based on addresses, never on names, because the owner of a name can change its addresses at any time.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass

from forge.errors import ConfigError

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_PUBLIC_V6 = ipaddress.IPv6Network("2000::/3")
_NOT_PUBLIC: tuple[Network, ...] = tuple(
    ipaddress.ip_network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "168.63.129.16/32",  # the host of virtual machines at Azure
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
        # Within 2000::/3: special purposes (such as Teredo), documentation, and ranges that embed arbitrary IPv4
        # addresses.
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
    )
)
"""Listed explicitly, because `is_global` differs between Python releases."""

_HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?")
_HOST_AND_PORT = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[^:\[\]]+)(:(?P<port>[0-9]{1,5}))?")
MAX_PORT = 65535
_DISCARD = 9


def is_public(address: Address) -> bool:
    """Return whether an address is on the public internet."""
    if isinstance(address, ipaddress.IPv6Address) and address not in _PUBLIC_V6:
        return False
    return address.is_global and not any(address in network for network in _NOT_PUBLIC)


def is_own(address: Address) -> bool:
    """Return whether an address belongs to this machine, by the source address that the kernel selects. Sends nothing."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect((str(address), _DISCARD))
        except OSError:
            return False
        return ipaddress.ip_address(asking.getsockname()[0]) == address


def _is_never_a_host(address: Address) -> bool:
    """Return whether no legitimate name resolves to this address, such as that of a cloud metadata service."""
    return address.is_link_local or address.is_multicast or address.is_unspecified


@dataclass(frozen=True)
class AllowedHost:
    """An entry of FORGE_HTTP_ALLOW: a network or host, and a port or None for all ports."""

    where: Network | str
    port: int | None

    def allows(self, host: str, address: Address, port: int) -> bool:
        if self.port not in (None, port):
            return False
        if isinstance(self.where, str):
            return self.where == host and not _is_never_a_host(address)
        return address in self.where


class AllowList:
    def __init__(self, entries: Iterable[str]) -> None:
        read = {entry: parse_allowed_host(entry) for entry in entries}
        if wrong := [entry for entry, host_ in read.items() if host_ is None]:
            raise ConfigError(
                [
                    f"FORGE_HTTP_ALLOW: {entry[:100]!r} is not a host, address or network "
                    "(example: FORGE_HTTP_ALLOW=127.0.0.1:8080,10.1.0.0/16)"
                    for entry in wrong
                ]
            )
        self._places = [host_ for host_ in read.values() if host_]

    def allows(self, host: str, address: Address, port: int) -> bool:
        return any(host_.allows(host, address, port) for host_ in self._places)


def parse_allowed_host(entry: str) -> AllowedHost | None:
    """Parse an entry such as `ollama.lan`, `127.0.0.1:8080`, `[::1]:8080` or `10.1.0.0/16`; None if it is invalid."""
    text = entry.strip().lower()
    if network := _network(text):
        return AllowedHost(network, None)
    found = _HOST_AND_PORT.fullmatch(text)
    if found is None or (port := int(found["port"] or 1)) > MAX_PORT or port == 0:
        return None
    host = found["host"].strip("[]")
    where = _network(host) if "/" not in host else None
    if where is None and not _HOST.fullmatch(host):
        return None
    return AllowedHost(where or host, port if found["port"] else None)


def _network(text: str) -> Network | None:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        return None
