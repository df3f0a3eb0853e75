"""Outgoing requests, responses and their limits."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

_CHARSET = re.compile(r"charset\s*=\s*[\"']?([a-z0-9_.:-]+)", re.IGNORECASE)
_CHARSETS = frozenset(
    {"utf-8", "utf-16", "us-ascii", "iso-8859-1", "iso-8859-2", "iso-8859-15", "windows-1251", "windows-1252"}
    | {"shift_jis", "euc-jp", "euc-kr", "gb18030", "gbk", "big5", "koi8-r"}
)
"""Common charsets. Python knows more, some of which decode very slowly."""


def decode(body: bytes, content_type: str) -> str:
    found = _CHARSET.search(content_type)
    charset = found[1].lower() if found else "utf-8"
    return body.decode(charset if charset in _CHARSETS else "utf-8", "replace")


MB = 1 << 20
MAX_URL = 8000
MAX_HEADERS = 50
MAX_HEADER = 8000
"""Characters of one header value."""
MAX_HEADER_TEXT = 32_000
"""Characters of all header names and values."""
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
    """The addresses that a caller may reach."""

    PUBLIC = "public"
    """Public addresses only, regardless of the settings."""
    ALLOWED = "allowed"
    """Public addresses and those allowed by the settings."""


HostRule = Callable[[str, int], Reach]
"""Called with a lower-case host and a port before the first request and each redirect. Raises an error if the host
is not allowed."""


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
    """Total timeout, including name lookup and redirects."""
    max_bytes: int = MB
    """Maximum size of the decompressed response body."""
    max_sent_bytes: int = MB


@dataclass(frozen=True)
class Response:
    status: int
    headers: dict[str, str]
    """Names in lower case; multiple values of a name are joined with a comma."""
    body: bytes
    url: str
    """URL after redirects."""

    @property
    def text(self) -> str:
        """Body as text; undecodable bytes are replaced."""
        return decode(self.body, self.headers.get("content-type", ""))
