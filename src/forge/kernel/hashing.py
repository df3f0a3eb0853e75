"""SHA-256 hashes of text, bytes and canonical JSON: equal values have equal hashes."""

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def hash_json(value: Any) -> str:
    return hash_text(canonical_json(value))


def hash_text(text: str) -> str:
    return hash_bytes(text.encode())


def hash_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
