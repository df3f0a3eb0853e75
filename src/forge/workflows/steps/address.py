"""Whether an address leads to the host its author wrote, whatever was put into it."""

import re
from collections.abc import Sequence

Part = str | None
"""A stretch of a template that is text, or None where something is put in."""

_SCHEME = re.compile(r"\s*[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_CLOSES = re.compile(r"[/?#\\]")
_ENDS = r"(?:[/?#]|\Z)"
_IN_A_HOST = r"[A-Za-z0-9._:\[\]-]*"


def keeps_host(written: Sequence[Part], filled: str) -> bool:
    """`https://{{ shop }}.example.com/…` stays below example.com, `https://api.example.com{{ path }}` at that host. Where
    the author left the whole host to the data, any will do."""
    pattern = _pattern(written)
    return pattern is None or re.match(pattern, filled, re.IGNORECASE) is not None


def _pattern(written: Sequence[Part]) -> str | None:
    """Of how the address has to begin; None when nothing of its host is written down."""
    first = written[0] if written else None
    scheme = _SCHEME.match(first) if first else None
    if first is None or scheme is None:
        return None
    parts = [first[scheme.end() :], *written[1:]]
    pattern, before = re.escape(scheme[0]), ""
    for index, part in enumerate(parts):
        if part is None and not any(parts[index:]):
            return pattern + _last(before) if any(parts[:index]) else None
        if part is None:
            pattern, before = pattern + _IN_A_HOST, ""
        elif closing := _CLOSES.search(part):
            return pattern + re.escape(part[: closing.end()])
        else:
            pattern, before = pattern + re.escape(part), part
    return pattern + _ENDS


def _last(before: str) -> str:
    """What may follow when nothing of the host is written behind it."""
    if before.endswith(":"):
        return "[0-9]*" + _ENDS
    return (_IN_A_HOST if before.endswith((".", "-")) else "") + _ENDS
