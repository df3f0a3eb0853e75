"""Whether a delivery comes from somebody who knows the secret. Compared in constant time, over the bytes as they came."""

import hashlib
import hmac
from datetime import datetime

from forge.workflows.definition.models import WebhookTrigger
from forge.workflows.triggers.deliveries import TIMESTAMP_HEADER, Delivery

SIGNATURE_HEADER = "x-hub-signature-256"
_NOBODY = b"nobody's secret"


def signature_of(delivery: Delivery) -> str | None:
    found = delivery.headers.get(SIGNATURE_HEADER, "").strip().casefold().removeprefix("sha256=")
    return found or None


def is_from(delivery: Delivery, trigger: WebhookTrigger, secret: str, at: datetime) -> bool:
    """Whoever signs a time with the body cannot have the delivery repeated later."""
    if trigger.auth is None:
        return True
    if not secret:
        return False  # anybody knows that one
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


def pretend(delivery: Delivery) -> None:
    """The work of checking a signature, for a path that nobody has: the time an answer takes tells nothing."""
    _is_same(signature_of(delivery) or "", sign(delivery, _NOBODY))


def _bearer(delivery: Delivery) -> str:
    scheme, _, token = delivery.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.casefold() == "bearer" else ""


def _is_recent(delivery: Delivery, tolerance_s: int, at: datetime) -> bool:
    timestamp = delivery.headers.get(TIMESTAMP_HEADER)
    if timestamp is None:
        return True
    if not (timestamp.isascii() and timestamp.isdigit()) or len(timestamp) > 12:
        return False
    return abs(at.timestamp() - int(timestamp)) <= tolerance_s


def _is_same(given: str, wanted: str) -> bool:
    """Hashed first, so that their lengths do not matter either."""
    return hmac.compare_digest(*(hashlib.sha256(text.encode()).digest() for text in (given, wanted)))
