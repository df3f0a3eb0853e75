"""Private keys in PEM armour: the line that opens one counts when key material follows it."""

from collections.abc import Iterator

from forge.audits.secrets.models import Hit, Rank
from forge.audits.secrets.patterns import compiled

PRIVATE_KEY = "private-key"
OPENING = b"PRIVATE KEY"
_BEGIN = r"-----BEGIN[ A-Z0-9_-]{0,60}PRIVATE KEY(?: BLOCK)?-----"
_CLOSING = r"-----END[ A-Z0-9_-]{0,60}-----"
_MATERIAL = r"[0-9A-Za-z+/]{32}"
_PLAIN = 8
"""Different characters that material has more of: `AAAA…` is none."""
_LONGEST = 20_000
_REACH = 1200
"""Bytes behind the opening in which the material begins: there may be headers and indentation between."""


def private_keys(text: bytes) -> Iterator[Hit]:
    """`text` is a whole file's added lines: one hit per block, from its opening to its end."""
    begin, material = compiled(_BEGIN), compiled(_MATERIAL)
    at = 0
    while opening := begin.search(text, at):
        at = opening.end()
        found = material.search(text[at : at + _REACH].split(b"-----", 1)[0])
        if found is not None and len(set(found.group() or b"")) > _PLAIN:
            yield Hit(PRIVATE_KEY, "private key", Rank.TOKEN, opening.start(), _end(text, at + found.end()))


def _end(text: bytes, at: int) -> int:
    """Behind the block, or behind the line where it is not closed."""
    closing = compiled(_CLOSING).search(text[at : at + _LONGEST])
    if closing is not None:
        return at + closing.end()
    line_end = text.find(b"\n", at)
    return len(text) if line_end < 0 else line_end
