"""A webhook delivery: its payload, headers, identity and signature."""

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import parse_qsl

from pydantic import JsonValue
from pydantic_core import from_json

from forge.errors import Malformed
from forge.kernel.hashing import hash_text
from forge.kernel.text import storable
from forge.workflows.definition.models import WebhookTrigger

TIMESTAMP_HEADER = "x-forge-timestamp"
DELIVERY_HEADERS = ("idempotency-key", "x-forge-delivery", "x-github-delivery", "webhook-id")
SAME_BODY_WINDOW = timedelta(minutes=5)
"""How long a signed body counts as a repeated delivery if it has neither an id nor a timestamp."""
MAX_HEADERS = 50
MAX_HEADER = 1000
_KNOWN_HEADERS = frozenset({"content-type", "user-agent", "date", *DELIVERY_HEADERS})
_PRIVATE = (
    "auth",
    "cookie",
    "signature",
    "secret",
    "token",
    "key",
    "password",
    "credential",
    "session",
    "jwt",
)
"""Headers with one of these in their name may contain credentials and are not stored."""
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Delivery:
    headers: Mapping[str, str]
    """Names are in lower case."""
    query: Sequence[tuple[str, str]]
    body: bytes

    @property
    def id(self) -> str | None:
        """The id given by the sender, the same when the delivery is repeated."""
        return next(
            (found for name in DELIVERY_HEADERS if (found := self.headers.get(name, "").strip())), None
        )

    def payload(self) -> dict[str, JsonValue]:
        """Return a JSON object as is, a form as an object of its fields, and anything else as `{"body": …}`."""
        if not self.body.strip():
            return {}
        kind = self.headers.get("content-type", "").partition(";")[0].strip().casefold()
        if kind == "application/json" or kind.endswith("+json"):
            return _wrapped(_json(self.body))
        text = _text(self.body)
        if kind == _FORM:
            return _joined(parse_qsl(text, keep_blank_values=True))
        return {"body": text}

    def about(self) -> dict[str, JsonValue]:
        shown = [name for name in sorted(self.headers) if _may_be_shown(name)][:MAX_HEADERS]
        return {
            "headers": {name: storable(self.headers[name][:MAX_HEADER]) for name in shown},
            "query": _joined(self.query),
        }


def delivery_key(path: str, delivery: Delivery, signature: str | None) -> str | None:
    """Return the key that identifies repeated deliveries.

    A signature that covers the timestamp is preferred over the sender's id, because the id is not signed and could be
    changed to replay a delivery. The path is part of the key, so that senders of one webhook cannot block another.
    """
    if signature and (TIMESTAMP_HEADER in delivery.headers or delivery.id is None):
        return f"webhook:signed:{hash_text(f'{path} {signature}')}"
    return f"webhook:{hash_text(f'{path} {storable(delivery.id)}')}" if delivery.id is not None else None


def is_identified_by_body(delivery: Delivery) -> bool:
    """Return whether only the signature of the body identifies the delivery, so that a later one may have the same key."""
    return TIMESTAMP_HEADER not in delivery.headers and delivery.id is None


def _may_be_shown(name: str) -> bool:
    if name in _KNOWN_HEADERS:
        return True
    return name.startswith("x-") and not any(word in name for word in _PRIVATE)


def _json(body: bytes) -> JsonValue:
    try:
        return from_json(body, allow_inf_nan=False)
    except ValueError as error:
        raise Malformed(f"The body is not JSON: {error}.", field="body") from error


def _text(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        raise Malformed(
            "The body is neither JSON, a form nor text.",
            hint="Send JSON with content type application/json.",
            field="body",
        ) from error


def _wrapped(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {"body": value}


def _joined(pairs: Sequence[tuple[str, str]]) -> dict[str, JsonValue]:
    """Return fields as an object. A repeated name gets a list."""
    found: dict[str, list[JsonValue]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


SIGNATURE_HEADER = "x-hub-signature-256"
_DUMMY_SECRET = b"dummy secret"
_TIMESTAMPED = re.compile(rb"[0-9]{10,12}\.")


def signature_of(delivery: Delivery) -> str | None:
    found = delivery.headers.get(SIGNATURE_HEADER, "").strip().casefold().removeprefix("sha256=")
    return found or None


def is_authentic(delivery: Delivery, trigger: WebhookTrigger, secret: str, at: datetime) -> bool:
    """Check the token or signature. A signed timestamp must be recent, which prevents replays."""
    if trigger.auth is None:
        return True
    if not secret:
        return False  # an empty secret protects nothing
    if trigger.auth.type == "bearer_token":
        return _is_same(_bearer(delivery), secret)
    is_signed = _is_same(signature_of(delivery) or "", sign(delivery, secret.encode()))
    return is_signed and _is_recent(delivery, trigger.tolerance_secs, at)


def sign(delivery: Delivery, secret: bytes) -> str:
    code = hmac.new(secret, digestmod=hashlib.sha256)
    if timestamp := delivery.headers.get(TIMESTAMP_HEADER):
        code.update(f"{timestamp}.".encode())
    code.update(delivery.body)
    return code.hexdigest()


def simulate_check(delivery: Delivery) -> None:
    """Do the work of checking a signature for an unknown path, so that response times do not reveal which paths exist."""
    _is_same(signature_of(delivery) or "", sign(delivery, _DUMMY_SECRET))


def _bearer(delivery: Delivery) -> str:
    scheme, _, token = delivery.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.casefold() == "bearer" else ""


def _is_recent(delivery: Delivery, tolerance_s: int, at: datetime) -> bool:
    timestamp = delivery.headers.get(TIMESTAMP_HEADER)
    if timestamp is None:  # a timestamp moved from the header to the body would leave the signature valid
        return _TIMESTAMPED.match(delivery.body) is None
    if not (timestamp.isascii() and timestamp.isdigit()) or len(timestamp) > 12:
        return False
    return abs(at.timestamp() - int(timestamp)) <= tolerance_s


def _is_same(actual: str, expected: str) -> bool:
    """Compare hashes, so that the duration does not depend on the lengths."""
    return hmac.compare_digest(*(hashlib.sha256(text.encode()).digest() for text in (actual, expected)))
