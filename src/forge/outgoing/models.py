"""A request that leaves this machine, what came back, and how much of either there may be."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from forge.outgoing.charsets import decode

MB = 1 << 20
MAX_URL = 8000
MAX_HEADERS = 50
MAX_HEADER = 8000
"""Characters of one value."""
MAX_HEADER_TEXT = 32_000
"""Of all names and values together."""
MAX_REDIRECTS = 5


class Method(StrEnum):
    GET = "GET"
    HEAD = "HEAD"
    POST = "POST"
    PUT = "PUT"
    PATCH = "PATCH"
    DELETE = "DELETE"

    @property
    def only_reads(self) -> bool:
        return self in (Method.GET, Method.HEAD)


class Reach(StrEnum):
    """How far a request to a host may go, by the caller's own rule."""

    PUBLIC = "public"
    """Public addresses alone, whatever the settings allow besides."""
    ALLOWED = "allowed"
    """Public addresses, and those of our own network that the settings list."""


HostRule = Callable[[str, int], Reach]
"""Asked before the first request and before each redirect, with a host in lower case and a port. Raises where it may
not go at all, in the caller's own words."""


def anywhere(_host: str, _port: int) -> Reach:
    return Reach.ALLOWED


def _none() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True)
class Request:
    url: str
    method: Method = Method.GET
    headers: Mapping[str, str] = field(default_factory=_none)
    body: bytes = b""
    reach: HostRule = anywhere
    timeout_s: float = 30.0
    """For all of it: looking the name up, redirects, the last byte."""
    max_bytes: int = MB
    """Of the body that comes back, unpacked."""
    max_sent_bytes: int = MB


@dataclass(frozen=True)
class Response:
    status: int
    headers: dict[str, str]
    """Names in lower case; several values of one name with a comma between them."""
    body: bytes
    url: str
    """Where it came from in the end."""

    @property
    def text(self) -> str:
        """What cannot be read is replaced."""
        return decode(self.body, self.headers.get("content-type", ""))
