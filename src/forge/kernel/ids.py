"""Ids that sort by creation time (UUID version 7, RFC 9562)."""

import os
import time
import uuid

_VERSION_7 = 0x7 << 76
_VARIANT = 0x2 << 62


def new_id() -> str:
    """Return an id of 48 bits of milliseconds and 74 random bits."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    high = random >> 64 & 0xFFF
    low = random & (1 << 62) - 1
    return str(uuid.UUID(int=milliseconds << 80 | _VERSION_7 | high << 64 | _VARIANT | low))


def derived_id(*parts: str) -> str:
    """Return the same id for the same parts, which makes inserts idempotent."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "\x00".join(parts)))
