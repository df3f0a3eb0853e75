"""What somebody sent to a webhook: its payload, what may be known of its headers, and which delivery it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl

from pydantic import JsonValue
from pydantic_core import from_json

from forge.errors import Malformed
from forge.kernel.hashing import hash_text
from forge.kernel.text import storable

TIMESTAMP_HEADER = "x-forge-timestamp"
DELIVERY_HEADERS = ("idempotency-key", "x-forge-delivery", "x-github-delivery", "webhook-id")
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
"""A header with one of these in its name may let somebody in somewhere."""
_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Delivery:
    headers: Mapping[str, str]
    """By their names in lower case."""
    query: Sequence[tuple[str, str]]
    body: bytes

    @property
    def id(self) -> str | None:
        """What its sender calls it: the same again when it is sent again."""
        return next(
            (found for name in DELIVERY_HEADERS if (found := self.headers.get(name, "").strip())), None
        )

    def payload(self) -> dict[str, JsonValue]:
        """A JSON object as it is; anything else under `body`."""
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
    """A signature that covers the time tells deliveries apart, and cannot be changed by whoever sends one again; nothing
    signs the id. Whoever delivers to one path of a workflow has no say in what was delivered to another."""
    if signature and (TIMESTAMP_HEADER in delivery.headers or delivery.id is None):
        return f"webhook:signed:{hash_text(f'{path} {signature}')}"
    return f"webhook:{hash_text(f'{path} {storable(delivery.id)}')}" if delivery.id is not None else None


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
            "The body is neither JSON nor a form nor text.",
            hint="Send JSON, as application/json.",
            field="body",
        ) from error


def _wrapped(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {"body": value}


def _joined(pairs: Sequence[tuple[str, str]]) -> dict[str, JsonValue]:
    """A name that comes more than once has a list."""
    found: dict[str, list[JsonValue]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}
