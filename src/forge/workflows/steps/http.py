"""Executor of http steps: sends a request through the client for untrusted URLs.

Secrets are inserted right before sending and removed from outputs, errors and logs.
"""

import asyncio
import base64
import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlencode

from pydantic import JsonValue

from forge.errors import ForgeError, NotFound
from forge.kernel.clock import now
from forge.kernel.hashing import hash_json
from forge.kernel.text import repair_surrogates, storable, truncate
from forge.outgoing.client import Outgoing
from forge.outgoing.errors import Refused, TooLate, TooLong, Unreachable, Unsendable
from forge.outgoing.models import HostRule, Method, Reach, Request, Response, anywhere
from forge.outgoing.target import Target, parse_url
from forge.skills.host.context import ReadSecret
from forge.skills.wasm.strict_json import read_json
from forge.workflows.definition.models import HTTP_TIMEOUT_S, HttpConfig
from forge.workflows.engine.step_executor import StepCall, StepError, StepResult
from forge.workflows.expressions.secret_placeholders import SecretPlaceholders, map_texts
from forge.workflows.expressions.templates import read_template
from forge.workflows.models import LogLine

MAX_SENT = 8 << 20
MAX_QUOTED = 500
"""Characters of a response body quoted in an error message."""
MAX_ERROR_HEADERS = MAX_ERROR_BODY = 8000
"""Characters of the headers, and of the body as JSON, that are kept in an error."""
MAX_TITLE = 300
IDEMPOTENCY_KEY = "idempotency-key"
_HOST = "[host]"
"""Stands for a secret host among the names of secrets. The brackets keep it from clashing with a name."""
_BYTES = "surrogateescape"
_FORM = "application/x-www-form-urlencoded"
_RETRYABLE_STATUSES = frozenset({408, 425, 429})
_PERMANENT_STATUSES = frozenset({501, 505})
_CODES: Mapping[type[ForgeError], str] = {
    Refused: "refused",
    Unsendable: "bad_request",
    Unreachable: "network",
    TooLate: "timeout",
    TooLong: "too_large",
}
_RETRYABLE = ("network", "timeout")


Part = str | None
"""A literal part of a template, or None for a placeholder."""

_SCHEME = re.compile(r"\s*[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_CLOSES = re.compile(r"[/?#\\]")
_ENDS = r"(?:[/?#]|\Z)"
_HOST_CHARACTERS = r"[A-Za-z0-9._:\[\]-]*"

_TEXTS = frozenset(
    {"application/xml", "application/javascript", "application/ecmascript", "application/yaml"}
    | {"application/x-yaml", "application/toml", "application/sql", "application/graphql"}
    | {"application/x-ndjson", "application/jsonl", "application/x-www-form-urlencoded"}
)
BASE64 = "base64"


@dataclass(frozen=True)
class _RequestSecrets:
    """The secrets of a request while it is sent."""

    placeholders: SecretPlaceholders
    found: Mapping[str, str]

    def hide(self, value: JsonValue) -> JsonValue:
        return self.placeholders.hide(value, self.found) if self.found else value

    def hide_text(self, text: str) -> str:
        return str(self.hide(text))

    def hide_bytes(self, body: bytes) -> bytes:
        return self.hide_text(body.decode(errors=_BYTES)).encode(errors=_BYTES)

    def reveal(self, value: JsonValue) -> JsonValue:
        return self.placeholders.reveal(value, self.found)

    def with_secret_host(self, target: Target, config: HttpConfig) -> "_RequestSecrets":
        """Treat the host as a secret too if it came out of a secret, as it appears in messages."""
        if not self.found or target.host in str(self.placeholders.shown(config.url)).lower():
            return self
        return replace(self, found={**self.found, _HOST: target.host})


@dataclass(frozen=True)
class _ReceivedResponse:
    """A response, with secrets removed."""

    title: str
    output: dict[str, JsonValue]
    logs: tuple[LogLine, ...]


class HttpStepExecutor:
    def __init__(self, outgoing: Outgoing, secret: ReadSecret) -> None:
        self._outgoing = outgoing
        self._secret = secret

    async def execute(self, call: StepCall, config: HttpConfig) -> StepResult:
        secrets = _RequestSecrets(call.secrets, await self._find(call))
        began = time.monotonic()
        try:
            target = _target(call, config, secrets)
            secrets = secrets.with_secret_host(target, config)
            response = await self._outgoing.request(_request(call, config, secrets, target))
        except (Refused, Unsendable, Unreachable, TooLate, TooLong) as error:
            raise _failure(error, secrets) from None  # the original message contains the secrets
        received = await asyncio.to_thread(_receive, config, response, secrets, time.monotonic() - began)
        if _is_expected(config, response.status):
            return StepResult(received.output, logs=received.logs)
        raise await asyncio.to_thread(_unexpected, response, received, secrets)

    async def _find(self, call: StepCall) -> dict[str, str]:
        found: dict[str, str] = {}
        for name in call.secrets.names:
            try:
                found[name] = (await self._secret(call.account_id, name)).get_secret_value()
            except NotFound as error:
                raise StepError("unknown_secret", error.message, hint=error.hint) from error
        return found


def _request(call: StepCall, config: HttpConfig, secrets: _RequestSecrets, target: Target) -> Request:
    revealed = {name: str(secrets.reveal(value)) for name, value in config.headers.items()}
    headers = {name: value.strip() for name, value in revealed.items()}
    named = {name.lower(): value for name, value in headers.items()}
    body, content_type = _encoded(secrets.reveal(config.body), named.get("content-type"))
    if content_type and "content-type" not in named:
        headers["content-type"] = content_type
    if not Method(config.method).only_reads and IDEMPOTENCY_KEY not in named:
        headers[IDEMPOTENCY_KEY] = idempotency_key(call, config)
    return Request(
        url=target.url,
        method=Method(config.method),
        headers=headers,
        body=body,
        reach=_same_host(target) if _holds_secrets(config.body, secrets) else anywhere,
        timeout_s=call.step.timeout_secs or HTTP_TIMEOUT_S,
        max_bytes=config.max_bytes,
        max_sent_bytes=MAX_SENT,
    )


def _target(call: StepCall, config: HttpConfig, secrets: _RequestSecrets) -> Target:
    shown = str(secrets.placeholders.shown(config.url))
    url = str(secrets.reveal(config.url)).strip()
    if not keeps_host(_template_parts(call), url):
        raise StepError(
            "refused",
            f"A filled-in value would change the host of the URL: {shown[:200]!r}.",
            hint="End the host with a / before the first placeholder, or use one placeholder for the whole URL.",
        )
    try:
        return parse_url(url)
    except Unsendable:
        raise StepError(
            "bad_request",
            f"{shown[:200]!r} is not a valid URL.",
            hint="Use a URL such as https://example.com/path.",
        ) from None


def _template_parts(call: StepCall) -> list[Part]:
    config = call.step.config
    pieces = read_template(config.url) if isinstance(config, HttpConfig) else ()
    return [piece if isinstance(piece, str) else None for piece in pieces]


def _encoded(body: JsonValue, content_type: str | None) -> tuple[bytes, str | None]:
    """Encode the body and return it with its default content type."""
    if body is None:
        return b"", None
    if isinstance(body, str):
        return repair_surrogates(body).encode(), "text/plain; charset=utf-8"
    if isinstance(body, dict) and (content_type or "").partition(";")[0].strip().lower() == _FORM:
        fields = {name: _field(value) for name, value in body.items()}
        return urlencode(fields, doseq=True, errors="replace").encode(), _FORM
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return repair_surrogates(text).encode(), "application/json"


def _field(value: JsonValue) -> str | list[str]:
    if isinstance(value, list):
        return [str(_field(one)) for one in value]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def idempotency_key(call: StepCall, config: HttpConfig) -> str:
    """Return a key that is the same for all attempts with the same content, so that a lost response causes no duplicate."""
    asked = call.secrets.shown(config.model_dump(mode="json", include={"method", "url", "body"}))
    return hash_json([call.run_id, call.key, asked])[:32]


def _holds_secrets(body: JsonValue, secrets: _RequestSecrets) -> bool:
    return secrets.placeholders.shown(body) != body


def _same_host(target: Target) -> HostRule:
    """Forbid redirects to other hosts, because some redirects repeat the body with its secrets."""

    def rule(host: str, port: int) -> Reach:
        if (host, port) == (target.host, target.port):
            return Reach.ALLOWED
        raise Refused(
            f"{target.authority} redirects to {host}; not followed, because the request contains a secret."
        )

    return rule


def _is_expected(config: HttpConfig, status: int) -> bool:
    return status in config.expect_status if config.expect_status else status < 400


def _failure(error: ForgeError, secrets: _RequestSecrets) -> StepError:
    code = _CODES[type(error)]
    message = secrets.hide_text(storable(error.message))
    return StepError(
        code, message, hint=error.hint and secrets.hide_text(error.hint), retryable=code in _RETRYABLE
    )


def _receive(
    config: HttpConfig, response: Response, secrets: _RequestSecrets, took_s: float
) -> _ReceivedResponse:
    """Read a response. Runs in a thread, because parsing a large body takes a while."""
    read, warning = read_answer(response)
    if "encoding" in read:  # secrets cannot be found in base64: remove them before encoding
        read, warning = read_answer(replace(response, body=secrets.hide_bytes(response.body)))
    url = secrets.hide_text(response.url)
    title = f"{config.method} {url[:MAX_TITLE]}"
    output: dict[str, JsonValue] = {
        "type": "http",
        "status": response.status,
        **read,
        "body": secrets.hide(read["body"]),
        "headers": secrets.hide(dict(response.headers)),
        "url": url,
    }
    line = LogLine(text=f"{title}: {response.status}, {len(response.body):,} bytes in {took_s:.2f} s")
    warnings = (LogLine(level="warn", text=secrets.hide_text(warning)),) if warning else ()
    return _ReceivedResponse(title, output, (line, *warnings))


def _unexpected(response: Response, received: _ReceivedResponse, secrets: _RequestSecrets) -> StepError:
    """Return the error of a response with an unexpected status. Runs in a thread, like `_receive`."""
    status = response.status
    code = "http_5xx" if status >= 500 else "http_4xx" if status >= 400 else "http_status"
    text = "" if "encoding" in received.output else secrets.hide_text(storable(response.text))
    shown = truncate(" ".join(text.split()), MAX_QUOTED)
    error = StepError(
        code,
        f"{received.title} returned {status}" + (f": {shown}" if shown else " with an empty body."),
        retryable=status in _RETRYABLE_STATUSES or (status >= 500 and status not in _PERMANENT_STATUSES),
        retry_after_s=read_retry_after(response.headers.get("retry-after", "")),
        logs=received.logs,
    )
    error.problem = error.problem.model_copy(update={"status": status, **_short_answer(received.output)})
    return error


def _short_answer(output: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return headers and body for an error, which is stored with every attempt and published."""
    headers = output["headers"] if isinstance(output["headers"], dict) else {}
    body = None if "encoding" in output else output["body"]
    text = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
    short: dict[str, JsonValue] = {
        "headers": dict(_first_headers(headers)),
        "body": body if len(text) <= MAX_ERROR_BODY else truncate(text, MAX_ERROR_BODY),
    }
    return {name: map_texts(value, storable) for name, value in short.items()}


def _first_headers(headers: Mapping[str, JsonValue]) -> Iterator[tuple[str, str]]:
    left = MAX_ERROR_HEADERS
    for name, value in headers.items():
        left -= len(name) + len(str(value))
        if left < 0:
            return
        yield name, str(value)


def keeps_host(written: Sequence[Part], filled: str) -> bool:
    """Return whether the filled-in URL leads to the host of its template.

    `https://{{ shop }}.example.com/…` must stay below example.com, `https://api.example.com{{ path }}` at that host. If
    the whole host is a placeholder, any host is allowed.
    """
    pattern = _pattern(written)
    return pattern is None or re.match(pattern, filled, re.IGNORECASE) is not None


def _pattern(written: Sequence[Part]) -> str | None:
    """Return a pattern for the beginning of the URL; None if no part of its host is literal."""
    first = written[0] if written else None
    scheme = _SCHEME.match(first) if first else None
    if first is None or scheme is None:
        return None
    parts = [first[scheme.end() :], *written[1:]]
    pattern, before = re.escape(scheme[0]), ""
    for index, part in enumerate(parts):
        if part is None and not any(parts[index:]):
            return pattern + _after_host(before) if any(parts[:index]) else None
        if part is None:
            pattern, before = pattern + _HOST_CHARACTERS, ""
        elif closing := _CLOSES.search(part):
            return pattern + re.escape(part[: closing.end()])
        else:
            pattern, before = pattern + re.escape(part), part
    return pattern + _ENDS


def _after_host(before: str) -> str:
    """Return what may follow the last literal part of the host."""
    if before.endswith(":"):
        return "[0-9]*" + _ENDS
    return (_HOST_CHARACTERS if before.endswith((".", "-")) else "") + _ENDS


def read_answer(response: Response) -> tuple[dict[str, JsonValue], str]:
    """Return the body, with `encoding` if it is binary, and a warning or an empty text."""
    media = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media in ("application/json", "text/json") or media.endswith("+json"):
        return _read_json(response)
    if media.startswith("text/") or media.endswith("+xml") or media in _TEXTS:
        return {"body": response.text}, ""
    if not media:
        return _decode_or_base64(response.body), ""
    return _as_base64(response.body), ""


def _read_json(response: Response) -> tuple[dict[str, JsonValue], str]:
    if not response.body.strip():
        return {"body": None}, ""
    text = response.text
    try:
        return {"body": read_json(text.removeprefix("\ufeff"))}, ""
    except ValueError as error:
        return {
            "body": text
        }, f"The response is declared as JSON but cannot be parsed ({error}); returned as text."


def _decode_or_base64(body: bytes) -> dict[str, JsonValue]:
    try:
        return {"body": body.decode()}
    except UnicodeDecodeError:
        return _as_base64(body)


def _as_base64(body: bytes) -> dict[str, JsonValue]:
    return {"body": base64.b64encode(body).decode(), "encoding": BASE64}


def read_retry_after(text: str) -> float | None:
    """Return a Retry-After header as seconds from now; None if it is missing or invalid."""
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
