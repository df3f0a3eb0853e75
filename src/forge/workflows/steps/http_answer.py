"""What another server said, as JSON can hold it."""

import base64
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from pydantic import JsonValue

from forge.kernel.clock import now
from forge.outgoing.models import Response
from forge.skills.wasm.texts import read_json

_TEXTS = frozenset(
    {"application/xml", "application/javascript", "application/ecmascript", "application/yaml"}
    | {"application/x-yaml", "application/toml", "application/sql", "application/graphql"}
    | {"application/x-ndjson", "application/jsonl", "application/x-www-form-urlencoded"}
)
BASE64 = "base64"


def read_answer(response: Response) -> tuple[dict[str, JsonValue], str]:
    """Its body, with `encoding` where that is no text, and what is odd about it."""
    media = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media in ("application/json", "text/json") or media.endswith("+json"):
        return _read_json(response)
    if media.startswith("text/") or media.endswith("+xml") or media in _TEXTS:
        return {"body": response.text}, ""
    if not media:
        return _guess(response.body), ""
    return _packed(response.body), ""


def _read_json(response: Response) -> tuple[dict[str, JsonValue], str]:
    if not response.body.strip():
        return {"body": None}, ""
    text = response.text
    try:
        return {"body": read_json(text.removeprefix("\ufeff"))}, ""
    except ValueError as error:
        return {"body": text}, f"The answer says that it is JSON and is not ({error}): it stays a text."


def _guess(body: bytes) -> dict[str, JsonValue]:
    try:
        return {"body": body.decode()}
    except UnicodeDecodeError:
        return _packed(body)


def _packed(body: bytes) -> dict[str, JsonValue]:
    return {"body": base64.b64encode(body).decode(), "encoding": BASE64}


def read_retry_after(text: str) -> float | None:
    """Seconds from now; None when it says nothing of use."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, _seconds(at))


def _seconds(at: datetime) -> float:
    return (at - now()).total_seconds()
