"""HTTP steps, with real servers on this machine."""

import asyncio
import base64
import json
from collections.abc import Callable
from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from pydantic import JsonValue, SecretStr
from tests.outgoing.servers import Answer, Asked, Served, plain, redirect, serving
from tests.workflows.steps.step_calls import RecordedCall, call_of

from forge.errors import NotFound
from forge.kernel.clock import now
from forge.outgoing.client import Outgoing
from forge.telemetry.redaction import MASK
from forge.workflows.engine.step_executor import StepError, StepResult
from forge.workflows.models import LogLine
from forge.workflows.steps.http import HttpStepExecutor, read_retry_after

KEY = "s3cret/with+odd=signs"


async def secret(_account_id: str, name: str) -> SecretStr:
    if name != "API_KEY":
        raise NotFound(f"The secret {name} is not set.", hint=f"Set it: forge secrets set {name}")
    return SecretStr(KEY)


def executor(*allowed: Served) -> HttpStepExecutor:
    return HttpStepExecutor(Outgoing(tuple(one.place for one in allowed)), secret)


async def execute(
    served: Served, path: str = "/", /, call: RecordedCall | None = None, **config: Any
) -> StepResult:
    call = call or call_of("http", url=f"{served.url}{path}", **config)
    return await executor(served).execute(call, call.config())


async def failure(served: Served, path: str = "/", /, **config: Any) -> StepError:
    with pytest.raises(StepError) as raised:
        await execute(served, path, **config)
    return raised.value


def echo(asked_for: Callable[[Asked], bytes], status: str = "200 OK") -> Answer:
    async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await plain(asked_for(asked), status, content_type="text/plain")(asked, writer)

    return answer


async def test_json_response_is_parsed():
    async with serving(
        plain(b'{"n": [1, null]}', content_type="application/json; charset=utf-8", x_a="b")
    ) as served:
        done = await execute(served, "/a?b=c")
    assert done.output == {
        "type": "http",
        "status": 200,
        "body": {"n": [1, None]},
        "headers": {"content-type": "application/json; charset=utf-8", "x-a": "b"},
        "url": f"{served.url}/a?b=c",
    }
    asked = served.asked[0]
    assert (asked.line, asked.headers["user-agent"]) == ("GET /a?b=c HTTP/1.1", "Forge")
    assert "idempotency-key" not in asked.headers
    assert done.logs[0].text.startswith(f"GET {served.url}/a?b=c: 200, 16 bytes in ")


@pytest.mark.parametrize(
    ("body", "media", "expected"),
    [
        (b'{"a":1}', "application/problem+json", {"body": {"a": 1}}),
        (b"", "application/json", {"body": None}),
        (b"\xef\xbb\xbf[1]", "text/json", {"body": [1]}),
        (b"h\xe9", "text/plain; charset=iso-8859-1", {"body": "hé"}),
        (b"<a/>", "image/svg+xml", {"body": "<a/>"}),
        (b"hello", "", {"body": "hello"}),
        (b"\xff\x00", "", {"body": "/wA=", "encoding": "base64"}),
        (b"abc", "image/png", {"body": "YWJj", "encoding": "base64"}),
    ],
)
async def test_body_is_read_by_content_type(body: bytes, media: str, expected: dict[str, JsonValue]):
    headers = {"content_type": media} if media else {}
    async with serving(plain(body, **headers)) as served:
        done = await execute(served)
    assert isinstance(done.output, dict)
    assert {name: done.output[name] for name in ("body", "encoding") if name in done.output} == expected


@pytest.mark.parametrize("body", [b"{'a': 1}", b"NaN", b"[" * 300 + b"]" * 300, b"1e999"])
async def test_broken_json_is_returned_as_text_with_warning(body: bytes):
    async with serving(plain(body, content_type="application/json")) as served:
        done = await execute(served)
    assert isinstance(done.output, dict)
    assert done.output["body"] == body.decode()
    assert [line.level for line in done.logs] == ["info", "warn"]


@pytest.mark.parametrize(
    ("body", "headers", "sent", "media"),
    [
        ({"a": [1, "é"]}, {}, '{"a":[1,"é"]}', "application/json"),
        (7, {}, "7", "application/json"),
        ("hé", {}, "hé", "text/plain; charset=utf-8"),
        ('{"a":1}', {"Content-Type": "application/json"}, '{"a":1}', "application/json"),
        (
            {"a": "x y&z", "n": 1, "many": ["p", 2]},
            {"content-type": "application/x-www-form-urlencoded"},
            "a=x+y%26z&n=1&many=p&many=2",
            "application/x-www-form-urlencoded",
        ),
    ],
)
async def test_request_body_encoding(body: JsonValue, headers: dict[str, str], sent: str, media: str):
    async with serving(plain()) as served:
        await execute(served, method="POST", body=body, headers=headers)
    asked = served.asked[0]
    assert (asked.body.decode(), asked.headers["content-type"]) == (sent, media)


async def test_idempotency_key_depends_on_content():
    async with serving(plain()) as served:
        call = call_of("http", method="POST", url=served.url, body={"n": 1})
        await execute(served, call=call)
        call.row = call.row.with_summary(attempt=2)
        await execute(served, call=call)
        await executor(served).execute(call, call.config().model_copy(update={"body": {"n": 2}}))
        await execute(served, method="DELETE", headers={"Idempotency-Key": "mine"})
    first, again, other, own = [asked.headers["idempotency-key"] for asked in served.asked]
    assert first == again != other
    assert own == "mine"


async def test_secrets_are_sent_but_not_returned():
    def body_of(asked: Asked) -> bytes:
        return f"{asked.line} {asked.headers['authorization']} {asked.body.decode()}".encode()

    async with serving(echo(body_of)) as served:
        call = call_of(
            "http",
            method="POST",
            url=f"{served.url}/{{{{ secrets.API_KEY }}}}",
            headers={"Authorization": "Bearer {{ secrets.API_KEY }}"},
            body={"key": "{{ secrets.API_KEY }}"},
        )
        done = await executor(served).execute(call, call.config())
    asked = served.asked[0]
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(asked.body) == {"key": KEY}
    assert "s3cret" in asked.line
    text = json.dumps(done.output) + str(done.logs)
    assert "s3cret" not in text
    assert "POST" in text


async def test_secret_is_removed_from_binary_response():
    async def answer(asked: Asked, writer: asyncio.StreamWriter) -> None:
        body = b"\xff\x00" + asked.headers["x-key"].encode() + b"\xfe"
        await plain(body, content_type="application/octet-stream")(asked, writer)

    async with serving(answer) as served:
        done = await execute(served, headers={"X-Key": "{{ secrets.API_KEY }}"})
    assert isinstance(done.output, dict) and done.output["encoding"] == "base64"
    assert base64.b64decode(str(done.output["body"])) == b"\xff\x00" + MASK.encode() + b"\xfe"


@pytest.mark.parametrize("url", ["https://{{ secrets.HOST }}.invalid/", "{{ secrets.WHOLE }}"])
async def test_secret_host_is_hidden(url: str):
    known = {"HOST": "TopSecret", "WHOLE": "https://TopSecret.invalid/x"}

    async def resolve(_account_id: str, name: str) -> SecretStr:
        return SecretStr(known[name])

    call = call_of("http", url=url)
    with pytest.raises(StepError) as raised:
        await HttpStepExecutor(Outgoing(), resolve).execute(call, call.config())
    assert raised.value.problem.code == "network"
    assert "topsecret" not in repr(raised.value.problem).lower()


@pytest.mark.parametrize("status", ["200 OK", "500 Broken"])
async def test_errors_contain_no_secrets(status: str):
    async with serving(echo(lambda asked: asked.headers["x-key"].encode(), status)) as served:
        error = await failure(
            served,
            "/{{ secrets.API_KEY }}",
            headers={"X-Key": "{{ secrets.API_KEY }}"},
            expect_status=[204],
        )
    assert "s3cret" not in repr(error.problem) + str(error.logs)
    assert error.__cause__ is None


async def test_invalid_url_is_reported_without_secret():
    call = call_of("http", url="https://a b/{{ secrets.API_KEY }}" + "x" * 100)
    with pytest.raises(StepError) as raised:
        await executor().execute(call, call.config())
    assert raised.value.problem.code == "bad_request"
    assert "{{ secrets.API_KEY }}" in raised.value.message
    assert "s3cret" not in repr(raised.value.problem)


async def test_missing_secret_is_named():
    async with serving(plain()) as served:
        error = await failure(served, headers={"X": "{{ secrets.OTHER }}"})
    assert (error.problem.code, served.asked) == ("unknown_secret", [])
    assert "OTHER" in error.message


async def test_body_with_secret_is_not_redirected_to_other_host():
    async with serving(plain()) as last, serving(redirect(last.url, "307 Temporary")) as first:
        call = call_of("http", method="POST", url=first.url, body="{{ secrets.API_KEY }}")
        with pytest.raises(StepError) as raised:
            await executor(first, last).execute(call, call.config())
        assert (raised.value.problem.code, last.asked) == ("refused", [])
        open_call = call_of("http", method="POST", url=first.url, body="no secret")
        await executor(first, last).execute(open_call, open_call.config())
        assert last.asked[0].body == b"no secret"


@pytest.mark.parametrize(
    ("status", "expect", "code", "retryable"),
    [
        ("404 Not Found", None, "http_4xx", False),
        ("408 Late", None, "http_4xx", True),
        ("425 Early", None, "http_4xx", True),
        ("429 Often", None, "http_4xx", True),
        ("500 Broken", None, "http_5xx", True),
        ("501 Never", None, "http_5xx", False),
        ("503 Busy", [200], "http_5xx", True),
        ("200 OK", [201, 204], "http_status", False),
    ],
)
async def test_unexpected_status_is_an_error(
    status: str, expect: list[int] | None, code: str, retryable: bool
):
    async with serving(plain(b"Because\n of " + b"x" * 5000, status, content_type="text/plain")) as served:
        error = await failure(served, expect_status=expect)
    assert (error.problem.code, error.problem.retryable) == (code, retryable)
    assert error.message.startswith(f"GET {served.url}/ returned {status[:3]}: Because of xxx")
    assert len(error.message) < 600
    assert [line.level for line in error.logs] == ["info"]


async def test_error_of_a_response_has_its_status_headers_and_body():
    body = b'{"reason": "sold out", "left": [0]}'
    async with serving(
        plain(body, "409 Conflict", content_type="application/json", x_stock="none")
    ) as served:
        problem = (await failure(served)).problem
    assert (problem.status, problem.body) == (409, {"reason": "sold out", "left": [0]})
    assert problem.headers is not None and problem.headers["x-stock"] == "none"


async def test_error_of_a_response_is_limited_and_hides_secrets():
    async with serving(
        echo(lambda asked: asked.headers["x-key"].encode() + b"x" * 100_000, "400 Bad")
    ) as served:
        problem = (await failure(served, headers={"x-key": "{{ secrets.API_KEY }}"})).problem
    assert isinstance(problem.body, str)
    assert (KEY in problem.body, len(problem.body) <= 8000) == (False, True)


async def test_expected_status_is_not_an_error():
    async with serving(plain(b"", "404 Not Found")) as served:
        done = await execute(served, expect_status=[404])
    assert isinstance(done.output, dict)
    assert done.output["status"] == 404


async def test_retry_after_is_passed_on():
    async with serving(plain(b"", "429 Often", retry_after="17")) as served:
        error = await failure(served)
    assert error.problem.retry_after_s == 17
    assert error.message.endswith("returned 429 with an empty body.")


def test_retry_after_formats():
    later = format_datetime(now() + timedelta(seconds=100))
    assert 90 < (read_retry_after(later) or 0) < 101
    assert read_retry_after("Thu, 01 Jan 1970 00:00:00 GMT") == 0
    assert read_retry_after("0") == 0
    assert [read_retry_after(text) for text in ("", "soon", "-5", "1.5", "٣")] == [None] * 5


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://127.0.0.1:1/", "refused"),
        ("http://169.254.169.254/latest/meta-data", "refused"),
        ("http://[::1]/", "refused"),
        ("http://0x7f000001/", "refused"),
        ("http://localhost/", "refused"),
        ("ftp://a.example/", "refused"),
        ("file:///etc/passwd", "refused"),
        ("http://me:pw@a.example/", "refused"),
        ("http://no-such-host.invalid/", "network"),
        ("http://[", "bad_request"),
        ("http://a.example/\r\nX: y", "bad_request"),
    ],
)
async def test_forbidden_address_is_refused(url: str, code: str):
    call = call_of("http", url="{{ inputs.url }}")
    with pytest.raises(StepError) as raised:
        await executor().execute(call, call.config(inputs={"url": url}))
    problem = raised.value.problem
    assert (problem.code, problem.retryable) == (code, code == "network")


async def test_value_cannot_change_host():
    async with serving(plain()) as served:
        call = call_of("http", url="http://api.example.com{{ inputs.path }}")
        with pytest.raises(StepError, match="would change the host") as raised:
            await executor(served).execute(call, call.config(inputs={"path": f"@{served.place}/"}))
    assert (raised.value.problem.code, served.asked) == ("refused", [])


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\0b", "日"])
async def test_value_cannot_inject_header(value: str):
    async with serving(plain()) as served:
        call = call_of("http", url=served.url, headers={"X-Name": "n {{ inputs.x }} n"})
        with pytest.raises(StepError, match="header X-Name is invalid") as raised:
            await executor(served).execute(call, call.config(inputs={"x": value}))
    assert (raised.value.problem.code, served.asked) == ("bad_request", [])


async def test_reserved_headers_are_refused():
    async with serving(plain()) as served:
        error = await failure(served, headers={"Host": "other.example"})
    assert (error.problem.code, served.asked) == ("bad_request", [])


async def test_too_large_response_is_an_error():
    async with serving(plain(b"x" * 101)) as served:
        error = await failure(served, max_bytes=100)
        done = await execute(served, max_bytes=101, method="POST", body="y" * 500)
    assert error.problem.code == "too_large"
    assert isinstance(done.output, dict)


async def test_missing_response_times_out():
    async def never_respond(asked: Asked, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with serving(never_respond) as served:
        call = call_of("http", url=served.url, timeout_secs=0.2)
        with pytest.raises(StepError) as raised:
            await execute(served, call=call)
    assert (raised.value.problem.code, raised.value.problem.retryable) == ("timeout", True)


async def test_redirect_is_followed_and_reported():
    async with (
        serving(plain(content_type="text/plain")) as last,
        serving(redirect(f"{last.url}/there")) as first,
    ):
        call = call_of("http", url=first.url, headers={"X-Key": "{{ secrets.API_KEY }}"})
        done = await executor(first, last).execute(call, call.config())
    assert isinstance(done.output, dict)
    assert done.output["url"] == f"{last.url}/there"
    assert "x-key" not in last.asked[0].headers


async def test_connection_error_is_retryable():
    async with serving(plain()) as served:
        pass
    error = await failure(served)
    assert (error.problem.code, error.problem.retryable) == ("network", True)
    assert error.logs == tuple[LogLine, ...]()
