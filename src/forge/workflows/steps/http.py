"""Steps that ask another server, through the one client for requests that somebody else thought of.

Secrets are put in at the last moment, and taken out of whatever is said about the request afterwards.
"""

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from pydantic import JsonValue

from forge.errors import ForgeError, NotFound
from forge.kernel.hashing import hash_json
from forge.kernel.text import cut, storable, whole_characters
from forge.outgoing.client import Outgoing
from forge.outgoing.errors import Refused, TooLate, TooLong, Unreachable, Unsendable
from forge.outgoing.models import HostRule, Method, Reach, Request, Response, anywhere
from forge.outgoing.target import Target, read_url
from forge.skills.host.parts import Secret
from forge.workflows.definition.models import HttpConfig
from forge.workflows.engine.hands import Done, StepCall, StepError
from forge.workflows.engine.timing import HTTP_TIMEOUT_S
from forge.workflows.expressions import SecretMarks
from forge.workflows.expressions.filling import read_template
from forge.workflows.models import LogLine
from forge.workflows.steps.address import Part, keeps_host
from forge.workflows.steps.http_answer import read_answer, read_retry_after

MAX_SENT = 8 << 20
MAX_TOLD = 500
"""Characters of an answer in an error."""
MAX_TITLE = 300
IDEMPOTENCY_KEY = "idempotency-key"
_HOST = "[host]"
"""Beside the names of secrets, and none itself."""
_BYTES = "surrogateescape"
_FORM = "application/x-www-form-urlencoded"
_PASSING = frozenset({408, 425, 429})
_LASTING = frozenset({501, 505})
_CODES: Mapping[type[ForgeError], str] = {
    Refused: "refused",
    Unsendable: "bad_request",
    Unreachable: "network",
    TooLate: "timeout",
    TooLong: "too_large",
}
_MAY_PASS = ("network", "timeout")


@dataclass(frozen=True)
class _Opened:
    """The secrets of one request, while it is made."""

    marks: SecretMarks
    found: Mapping[str, str]

    def hide(self, value: JsonValue) -> JsonValue:
        return self.marks.hide(value, self.found) if self.found else value

    def hide_text(self, text: str) -> str:
        return str(self.hide(text))

    def hide_bytes(self, body: bytes) -> bytes:
        return self.hide_text(body.decode(errors=_BYTES)).encode(errors=_BYTES)

    def reveal(self, value: JsonValue) -> JsonValue:
        return self.marks.reveal(value, self.found)

    def knowing(self, target: Target, config: HttpConfig) -> "_Opened":
        """A host that the author did not write came out of a secret, and is one: in the spelling that is told of it."""
        if not self.found or target.host in str(self.marks.shown(config.url)).lower():
            return self
        return replace(self, found={**self.found, _HOST: target.host})


@dataclass(frozen=True)
class _Told:
    """An answer, without the secrets that may have come back with it."""

    title: str
    output: dict[str, JsonValue]
    logs: tuple[LogLine, ...]


class HttpHand:
    def __init__(self, outgoing: Outgoing, secret: Secret) -> None:
        self._outgoing = outgoing
        self._secret = secret

    async def do(self, call: StepCall, config: HttpConfig) -> Done:
        opened = _Opened(call.secrets, await self._find(call.secrets))
        began = time.monotonic()
        try:
            target = _target(call, config, opened)
            opened = opened.knowing(target, config)
            response = await self._outgoing.request(_request(call, config, opened, target))
        except (Refused, Unsendable, Unreachable, TooLate, TooLong) as error:
            raise _failure(error, opened) from None  # whose words hold what was put in
        told = await asyncio.to_thread(_told, config, response, opened, time.monotonic() - began)
        if _is_expected(config, response.status):
            return Done(told.output, logs=told.logs)
        raise _unexpected(response, told, opened)

    async def _find(self, marks: SecretMarks) -> dict[str, str]:
        found: dict[str, str] = {}
        for name in marks.names:
            try:
                found[name] = (await self._secret(name)).get_secret_value()
            except NotFound as error:
                raise StepError("unknown_secret", error.message, hint=error.hint) from error
        return found


def _request(call: StepCall, config: HttpConfig, opened: _Opened, target: Target) -> Request:
    given = {name: str(opened.reveal(value)) for name, value in config.headers.items()}
    headers = {name: value.strip() for name, value in given.items()}
    named = {name.lower(): value for name, value in headers.items()}
    body, content_type = _encoded(opened.reveal(config.body), named.get("content-type"))
    if content_type and "content-type" not in named:
        headers["content-type"] = content_type
    if not Method(config.method).only_reads and IDEMPOTENCY_KEY not in named:
        headers[IDEMPOTENCY_KEY] = idempotency_key(call, config)
    return Request(
        url=target.url,
        method=Method(config.method),
        headers=headers,
        body=body,
        reach=_stays(target) if _holds_secrets(config.body, opened) else anywhere,
        timeout_s=call.step.timeout_secs or HTTP_TIMEOUT_S,
        max_bytes=config.max_bytes,
        max_sent_bytes=MAX_SENT,
    )


def _target(call: StepCall, config: HttpConfig, opened: _Opened) -> Target:
    shown = str(opened.marks.shown(config.url))
    url = str(opened.reveal(config.url)).strip()
    if not keeps_host(_written(call), url):
        raise StepError(
            "refused",
            f"What was put into the address would lead it to another host: {shown[:200]!r}.",
            hint="End the host with a / before anything is put in, or leave the whole address to the value.",
        )
    try:
        return read_url(url)
    except Unsendable:
        raise StepError(
            "bad_request",
            f"{shown[:200]!r} is no address of the web.",
            hint="Give one such as https://example.com/path.",
        ) from None


def _written(call: StepCall) -> list[Part]:
    config = call.step.config
    pieces = read_template(config.url) if isinstance(config, HttpConfig) else ()
    return [piece if isinstance(piece, str) else None for piece in pieces]


def _encoded(body: JsonValue, content_type: str | None) -> tuple[bytes, str | None]:
    """What is sent, and what it says it is unless the author does."""
    if body is None:
        return b"", None
    if isinstance(body, str):
        return whole_characters(body).encode(), "text/plain; charset=utf-8"
    if isinstance(body, dict) and (content_type or "").partition(";")[0].strip().lower() == _FORM:
        fields = {name: _field(value) for name, value in body.items()}
        return urlencode(fields, doseq=True, errors="replace").encode(), _FORM
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return whole_characters(text).encode(), "application/json"


def _field(value: JsonValue) -> str | list[str]:
    if isinstance(value, list):
        return [str(_field(one)) for one in value]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def idempotency_key(call: StepCall, config: HttpConfig) -> str:
    """The same for every attempt that asks for the same: one whose answer was lost is not done twice."""
    asked = call.secrets.shown(config.model_dump(mode="json", include={"method", "url", "body"}))
    return hash_json([call.run_id, call.key, asked])[:32]


def _holds_secrets(body: JsonValue, opened: _Opened) -> bool:
    return opened.marks.shown(body) != body


def _stays(target: Target) -> HostRule:
    """A body goes along with some redirects, and a secret in it is for one host."""

    def rule(host: str, port: int) -> Reach:
        if (host, port) == (target.host, target.port):
            return Reach.ALLOWED
        raise Refused(
            f"{target.authority} sends on to {host}, and what is sent holds a secret: that is not followed."
        )

    return rule


def _is_expected(config: HttpConfig, status: int) -> bool:
    return status in config.expect_status if config.expect_status else status < 400


def _failure(error: ForgeError, opened: _Opened) -> StepError:
    code = _CODES[type(error)]
    message = opened.hide_text(storable(error.message))
    return StepError(
        code, message, hint=error.hint and opened.hide_text(error.hint), may_pass=code in _MAY_PASS
    )


def _told(config: HttpConfig, response: Response, opened: _Opened, took_s: float) -> _Told:
    """Blocks for as long as reading takes."""
    read, oddity = read_answer(response)
    if "encoding" in read:  # packed, a secret in it looks like anything else
        read, oddity = read_answer(replace(response, body=opened.hide_bytes(response.body)))
    url = opened.hide_text(response.url)
    title = f"{config.method} {url[:MAX_TITLE]}"
    output: dict[str, JsonValue] = {
        "type": "http",
        "status": response.status,
        **read,
        "body": opened.hide(read["body"]),
        "headers": opened.hide(dict(response.headers)),
        "url": url,
    }
    line = LogLine(text=f"{title}: {response.status}, {len(response.body):,} bytes in {took_s:.2f} s")
    odd = (LogLine(level="warn", text=opened.hide_text(oddity)),) if oddity else ()
    return _Told(title, output, (line, *odd))


def _unexpected(response: Response, told: _Told, opened: _Opened) -> StepError:
    status = response.status
    code = "http_5xx" if status >= 500 else "http_4xx" if status >= 400 else "http_status"
    text = "" if "encoding" in told.output else opened.hide_text(storable(response.text))
    shown = cut(" ".join(text.split()), MAX_TOLD)
    return StepError(
        code,
        f"{told.title} answered {status}" + (f": {shown}" if shown else " and said nothing else."),
        may_pass=status in _PASSING or (status >= 500 and status not in _LASTING),
        retry_after_s=read_retry_after(response.headers.get("retry-after", "")),
        logs=told.logs,
    )
