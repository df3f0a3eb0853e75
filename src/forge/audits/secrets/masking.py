"""Lines with their secrets taken out: what may be shown, stored and sent."""

import hashlib
from collections.abc import Sequence

from forge.audits.secrets.models import Hit
from forge.audits.secrets.patterns import compiled
from forge.kernel.text import cut

MAX_SHOWN = 200
_KEEP = 4
_LONG = 16
"""Of a secret at least this long the first characters are shown, so that its owner knows which one it is."""
_ARMOUR = r"^-----BEGIN[ A-Z0-9_-]{0,70}-----"
_REST = r"[0-9A-Za-z+/=_.~%-]+"


def masked(line: bytes, hits: Sequence[Hit]) -> str:
    """The line without what the hits cover, and without what directly continues it; cut around the first of them."""
    shown, at, first = b"", 0, None
    for hit in hits:
        if hit.start < at:
            continue
        shown += line[at : hit.start]
        first = len(shown) if first is None else first
        shown += _mask(line[hit.start : hit.end])
        at = _end(line, hit.end)
    return _around((shown + line[at:]).decode("utf-8", "replace"), first or 0)


def name_of(secret: bytes) -> str:
    """The same for the same secret, and of no use to find it."""
    return hashlib.sha256(secret).hexdigest()[:12]


def _mask(secret: bytes) -> bytes:
    armour = compiled(_ARMOUR).search(secret)
    kept = (armour.end() if armour else _KEEP) if len(secret) >= _LONG else 0
    return secret[:kept] + "…".encode()


def _end(line: bytes, at: int) -> int:
    rest = compiled(_REST).search(line, at)
    return rest.end() if rest is not None and rest.start() == at else at


def _around(text: str, at: int) -> str:
    return cut(text[max(0, at - MAX_SHOWN // 2) :].strip(), MAX_SHOWN)
