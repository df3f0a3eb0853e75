"""Headers a caller may set, and those that go along when a redirect leads elsewhere."""

import re
from collections.abc import Mapping

from forge.outgoing.errors import Unsendable
from forge.outgoing.models import MAX_HEADER, MAX_HEADER_TEXT, MAX_HEADERS

_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_OURS = frozenset(
    {"host", "content-length", "transfer-encoding", "accept-encoding", "connection", "keep-alive", "expect"}
    | {"proxy-connection", "proxy-authorization", "proxy-authenticate", "te", "trailer", "upgrade"}
)
"""They say how the bytes travel, and where to."""
_ANYWHERE = frozenset({"accept", "accept-language", "user-agent", "content-type", "content-language"})
"""Nobody signs in with these. Any other may hold a key."""
_OF_A_BODY = frozenset({"content-type", "content-language", "content-encoding"})


def check_headers(given: Mapping[str, str]) -> dict[str, str]:
    """In lower case, ready to be sent."""
    if len(given) > MAX_HEADERS:
        raise Unsendable(f"A request has at most {MAX_HEADERS} headers.")
    if sum(len(name) + len(value) for name, value in given.items()) > MAX_HEADER_TEXT:
        raise Unsendable(f"The headers have more than {MAX_HEADER_TEXT:,} characters together.")
    checked: dict[str, str] = {}
    for name, value in given.items():
        if not _NAME.fullmatch(name):
            raise Unsendable(f"{name[:100]!r} is no name of a header.")
        if name.lower() in _OURS:
            raise Unsendable(f"Forge sets the header {name} itself: leave it out.")
        if len(value) > MAX_HEADER or not _VALUE.fullmatch(value):
            raise Unsendable(
                f"The header {name} cannot be sent: a value is one line of at most {MAX_HEADER:,} "
                "characters of Latin-1."
            )
        checked[name.lower()] = value.strip()
    return checked


def elsewhere(headers: Mapping[str, str]) -> dict[str, str]:
    """Those that another host may see."""
    return {name: value for name, value in headers.items() if name in _ANYWHERE}


def without_body(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name not in _OF_A_BODY}
