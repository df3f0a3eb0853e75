"""Which addresses are public, and which of our own network the settings allow besides.

What is decided on is always an address, never a name: a name leads wherever its owner says, and may say something else
a moment later.
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
        # Of the public ones of IPv6: for special purposes (Teredo too), for documents, and with an address of IPv4
        # inside that could be any.
        "2001::/23",
        "2001:db8::/32",
        "2002::/16",
        "3fff::/20",
    )
)
"""Written out, since what Python calls global differs from release to release."""

_HOST = re.compile(r"[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9_])?")
_PLACE = re.compile(r"(?P<host>\[[0-9a-f:.]+\]|[^:\[\]]+)(:(?P<port>[0-9]{1,5}))?")
LAST_PORT = 65535
_DISCARD = 9


def is_public(address: Address) -> bool:
    """On the internet, and not this machine."""
    if isinstance(address, ipaddress.IPv6Address) and address not in _PUBLIC_V6:
        return False
    return address.is_global and not any(address in network for network in _NOT_PUBLIC)


def is_own(address: Address) -> bool:
    """Whether it belongs to this machine. Nothing is sent: the kernel says from where it would be."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect((str(address), _DISCARD))
        except OSError:
            return False
        return ipaddress.ip_address(asking.getsockname()[0]) == address


def _is_nobodys(address: Address) -> bool:
    """No host has such an address for a name: whoever answers for the name has led it astray, to metadata of a cloud."""
    return address.is_link_local or address.is_multicast or address.is_unspecified


@dataclass(frozen=True)
class Place:
    """One entry of the setting: a network or a host, and a port unless any will do."""

    where: Network | str
    port: int | None

    def holds(self, host: str, address: Address, port: int) -> bool:
        if self.port not in (None, port):
            return False
        if isinstance(self.where, str):
            return self.where == host and not _is_nobodys(address)
        return address in self.where


class AllowedPlaces:
    def __init__(self, entries: Iterable[str]) -> None:
        read = {entry: read_place(entry) for entry in entries}
        if wrong := [entry for entry, place in read.items() if place is None]:
            raise ConfigError(
                [
                    f"FORGE_HTTP_ALLOW: {entry[:100]!r} is no host, address or network "
                    "(example: FORGE_HTTP_ALLOW=127.0.0.1:8080,10.1.0.0/16)"
                    for entry in wrong
                ]
            )
        self._places = [place for place in read.values() if place]

    def hold(self, host: str, address: Address, port: int) -> bool:
        return any(place.holds(host, address, port) for place in self._places)


def read_place(entry: str) -> Place | None:
    """`ollama.lan`, `127.0.0.1:8080`, `[::1]:8080`, `10.1.0.0/16`; None for what is none of them."""
    text = entry.strip().lower()
    if network := _network(text):
        return Place(network, None)
    found = _PLACE.fullmatch(text)
    if found is None or (port := int(found["port"] or 1)) > LAST_PORT or port == 0:
        return None
    host = found["host"].strip("[]")
    where = _network(host) if "/" not in host else None
    if where is None and not _HOST.fullmatch(host):
        return None
    return Place(where or host, port if found["port"] else None)


def _network(text: str) -> Network | None:
    try:
        return ipaddress.ip_network(text)
    except ValueError:
        return None
