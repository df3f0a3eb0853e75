"""Webhook deliveries: authentication, payload and repeated deliveries."""

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

import pytest
from pydantic import SecretStr
from tests.workflows.triggers.conftest import Environment, at

from forge.errors import Conflict, Malformed, NotFound, Unauthenticated, Unavailable
from forge.workflows.models import Ignored, Submitted, TriggerType
from forge.workflows.triggers.delivery import Delivery
from forge.workflows.triggers.webhooks import Webhooks

pytestmark = pytest.mark.anyio

NOW = at("2026-11-16T12:00:00")
STAMP = str(int(NOW.timestamp()))
SECRET = "wind and rain"
HMAC = {"type": "hmac_sha256", "secret_name": "HOOK"}
BEARER = {"type": "bearer_token", "secret_name": "HOOK"}


def hook(path: str = "/in", **more: Any) -> dict[str, Any]:
    return {"type": "webhook", "path": path, **more}


def webhooks(environment: Environment, secrets: Mapping[str, str] | None = None) -> Webhooks:
    known = {"HOOK": SECRET} if secrets is None else secrets

    async def resolve(_account_id: str, name: str) -> SecretStr:
        if name not in known:
            raise NotFound(f"The secret {name} is not set.", hint=f"Set it: forge secrets set {name}")
        return SecretStr(known[name])

    return Webhooks(environment.launcher, resolve, clock=lambda: NOW)


def delivery(
    body: bytes = b'{"n": 1}', query: tuple[tuple[str, str], ...] = (), /, **headers: str
) -> Delivery:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Delivery({"content-type": "application/json", **named}, query, body)


def signed(
    body: bytes = b'{"n": 1}', *, secret: str = SECRET, timestamp: str | None = None, **headers: str
) -> Delivery:
    signed_bytes = f"{timestamp}.".encode() + body if timestamp is not None else body
    digest = hmac.new(secret.encode(), signed_bytes, hashlib.sha256).hexdigest()
    times = {"x_forge_timestamp": timestamp} if timestamp is not None else {}
    return delivery(body, x_hub_signature_256=f"sha256={digest}", **times, **headers)


async def test_delivery_starts_run_with_body(environment: Environment):
    workflow_id = await environment.save(hook("/a/b"))
    query = (("q", "1"), ("tag", "x"), ("tag", "y"))
    answer = await webhooks(environment).receive(
        "/a/b", delivery(b'{"n": 1}', query, x_github_event="push", cookie="c")
    )
    assert isinstance(answer, Submitted) and answer.status == "submitted" and not answer.is_duplicate
    (run,) = await environment.runs()
    assert (run.run_id, run.workflow_id, run.source) == (answer.run_id, workflow_id, "/a/b")
    assert run.payload == {"n": 1} and run.trigger == TriggerType.WEBHOOK
    assert run.about == {
        "type": "webhook",
        "source": "/a/b",
        "fired_at": NOW.isoformat(),
        "headers": {"content-type": "application/json", "x-github-event": "push"},
        "query": {"q": "1", "tag": ["x", "y"]},
    }
    assert (await environment.view(workflow_id)).last_fired_at is not None


@pytest.mark.parametrize(
    ("kind", "body", "payload"),
    [
        ("application/json", b'{"a": [1, null]}', {"a": [1, None]}),
        ("application/vnd.x+json; charset=utf-8", b'{"a": 1}', {"a": 1}),
        ("application/json", b"[1, 2]", {"body": [1, 2]}),
        ("application/json", b'"text"', {"body": "text"}),
        ("application/json", b"", {}),
        ("application/json", '{"ä": "\\u0000"}'.encode(), {"ä": "\0"}),
        ("application/x-www-form-urlencoded", b"a=1&b=x%20y&a=2&c=", {"a": ["1", "2"], "b": "x y", "c": ""}),
        ("text/plain", "grüß dich".encode(), {"body": "grüß dich"}),
        ("", b'{"a": 1}', {"body": '{"a": 1}'}),
    ],
)
def test_body_is_parsed_by_content_type(kind: str, body: bytes, payload: dict[str, Any]):
    assert Delivery({"content-type": kind}, (), body).payload() == payload


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b"{"),
        ("application/json", b'{"a": NaN}'),
        ("application/json", b"[" * 100_000),
        ("application/json", b'{"a": "\\ud800"}'),
        ("application/octet-stream", b"\xff\xfe"),
    ],
)
def test_unreadable_body_is_malformed(kind: str, body: bytes):
    with pytest.raises(Malformed):
        Delivery({"content-type": kind}, (), body).payload()


def test_credential_headers_are_not_stored():
    names = (
        "authorization",
        "cookie",
        "x-hub-signature",
        "x-hub-signature-256",
        "x-api-key",
        "x-gitlab-token",
    )
    others = {"x-github-event": "push", "user-agent": "hook/1", "idempotency-key": "7", "x-long": "y" * 5000}
    about = Delivery({**dict.fromkeys(names, "secret"), **others, "host": "h"}, (), b"").about()
    assert about["headers"] == {**others, "x-long": "y" * 1000}


async def test_only_valid_signature_starts_run(environment: Environment):
    await environment.save(hook(auth=HMAC))
    hooks, body = webhooks(environment), b'{"n": 1}'
    wrong = [
        delivery(body),
        delivery(body, x_hub_signature_256=""),
        delivery(body, x_hub_signature_256="sha256="),
        delivery(body, x_hub_signature_256="0" * 64),
        signed(body, secret="another"),
        Delivery(signed(body).headers, (), b'{"n": 2}'),
        delivery(body, authorization=f"Bearer {SECRET}"),
    ]
    for one in wrong:
        with pytest.raises(Unauthenticated):
            await hooks.receive("/in", one)
    assert (await environment.runs(), await environment.published(), environment.fired) == ([], [], [])
    bare = signed(body).headers["x-hub-signature-256"].removeprefix("sha256=")
    first = await hooks.receive("/in", delivery(body, x_hub_signature_256=bare.upper()))
    assert isinstance(first, Submitted)


async def test_signed_timestamp_must_be_recent_and_present(environment: Environment):
    await environment.save(hook(auth=HMAC, tolerance_secs=60))
    hooks, long_ago = webhooks(environment), str(int(STAMP) - 61)
    stale = signed(timestamp=long_ago)
    without = {name: value for name, value in stale.headers.items() if name != "x-forge-timestamp"}
    for one in (
        stale,
        signed(timestamp=str(int(STAMP) + 61)),
        signed(timestamp="soon"),
        signed(timestamp="-1"),
        signed(timestamp=""),
        Delivery(without, (), stale.body),
        Delivery({**stale.headers, "x-forge-timestamp": STAMP}, (), stale.body),
    ):
        with pytest.raises(Unauthenticated):
            await hooks.receive("/in", one)
    assert isinstance(await hooks.receive("/in", signed(timestamp=str(int(STAMP) - 60))), Submitted)


async def test_bearer_token_is_the_secret(environment: Environment):
    await environment.save(hook(auth=BEARER))
    hooks = webhooks(environment)
    for header in ("", SECRET, f"Basic {SECRET}", "Bearer", "Bearer wrong", f"Bearer {SECRET}x"):
        with pytest.raises(Unauthenticated):
            await hooks.receive("/in", delivery(authorization=header))
    assert isinstance(await hooks.receive("/in", delivery(authorization=f"bearer {SECRET}")), Submitted)


@pytest.mark.parametrize("auth", [HMAC, BEARER])
async def test_empty_secret_is_rejected(environment: Environment, auth: dict[str, str]):
    await environment.save(hook(auth=auth))
    hooks = webhooks(environment, {"HOOK": ""})
    for one in (delivery(authorization="Bearer "), signed(secret="")):
        with pytest.raises(Unauthenticated):
            await hooks.receive("/in", one)


async def test_missing_secret_is_reported_only_to_owner(environment: Environment):
    workflow_id = await environment.save(hook(auth=HMAC))
    for _ in range(3):
        with pytest.raises(Unauthenticated) as error:
            await webhooks(environment, {}).receive("/in", signed())
        assert "HOOK" not in error.value.message + str(error.value.hint)
    (event,) = await environment.published()
    assert event.data["reason"] == (
        "A delivery could not be verified. The secret HOOK is not set. Set it: forge secrets set HOOK"
    )
    assert (await environment.view(workflow_id)).error == event.data["reason"]
    assert isinstance(await webhooks(environment).receive("/in", signed()), Submitted)
    assert (await environment.view(workflow_id)).error is None


@pytest.mark.parametrize("name", ["idempotency_key", "x_forge_delivery", "x_github_delivery", "webhook_id"])
async def test_repeated_delivery_returns_same_run(environment: Environment, name: str):
    await environment.save(hook())
    hooks = webhooks(environment)
    first = await hooks.receive("/in", delivery(**{name: "7"}))
    again = await hooks.receive("/in", delivery(b'{"n": 2}', **{name: "7"}))
    other = await hooks.receive("/in", delivery(**{name: "8"}))
    assert isinstance(first, Submitted) and isinstance(again, Submitted) and isinstance(other, Submitted)
    assert (again.run_id, again.is_duplicate) == (first.run_id, True)
    assert other.run_id != first.run_id and len(await environment.runs()) == 2


async def test_delivery_id_is_scoped_to_path(environment: Environment):
    await environment.save(hook("/signed", auth=HMAC), hook("/open"))
    hooks = webhooks(environment)
    await hooks.receive("/open", delivery(idempotency_key="7"))
    own = await hooks.receive("/signed", signed(idempotency_key="7"))
    assert isinstance(own, Submitted) and not own.is_duplicate


async def test_signature_identifies_delivery_without_id(environment: Environment):
    await environment.save(hook(auth=HMAC))
    hooks = webhooks(environment)
    stamped = signed(timestamp=STAMP)
    for one in (signed(), signed(), signed(b"{}"), stamped, stamped):
        assert isinstance(await hooks.receive("/in", one), Submitted)
    # Joining the timestamp and the body leaves the signature valid, but would make the delivery a new one.
    joined = Delivery(
        {"x-hub-signature-256": stamped.headers["x-hub-signature-256"]},
        (),
        f"{STAMP}.".encode() + stamped.body,
    )
    with pytest.raises(Unauthenticated):
        await hooks.receive("/in", joined)
    assert len(await environment.runs()) == 3


async def test_replayed_signed_delivery_cannot_change_its_id(environment: Environment):
    await environment.save(hook(auth=HMAC))
    hooks = webhooks(environment)
    answers = [await hooks.receive("/in", signed(timestamp=STAMP, idempotency_key=key)) for key in ("1", "2")]
    assert [isinstance(one, Submitted) and one.is_duplicate for one in answers] == [False, True]
    assert len(await environment.runs()) == 1


async def test_delivery_without_id_and_signature_is_always_new(environment: Environment):
    await environment.save(hook())
    for _ in range(2):
        await webhooks(environment).receive("/in", delivery(x_hub_signature_256="same"))
    assert len(await environment.runs()) == 2


async def test_refused_delivery_may_be_repeated(environment: Environment):
    workflow_id = await environment.save(hook())
    environment.refusal = Conflict("It runs already.")
    with pytest.raises(Conflict):
        await webhooks(environment).receive("/in", delivery(webhook_id="1"))
    assert [event.data["reason"] for event in await environment.published()] == ["It runs already."]
    environment.refusal = Unavailable("Later.")
    with pytest.raises(Unavailable):
        await webhooks(environment).receive("/in", delivery(webhook_id="1"))
    assert (await environment.view(workflow_id)).error == "It runs already."
    environment.refusal = None
    answer = await webhooks(environment).receive("/in", delivery(webhook_id="1"))
    assert isinstance(answer, Submitted) and not answer.is_duplicate


async def test_condition_filters_deliveries(environment: Environment):
    workflow_id = await environment.save(hook(when='event.action == "opened" && trigger.type == "webhook"'))
    hooks = webhooks(environment)
    assert isinstance(await hooks.receive("/in", delivery(b'{"action": "closed"}')), Ignored)
    assert isinstance(await hooks.receive("/in", delivery(b'{"action": "opened"}')), Submitted)
    for _ in range(2):
        assert isinstance(await hooks.receive("/in", delivery(b"{}")), Ignored)
    assert len(await environment.runs()) == 1 and len(await environment.published("workflow.refused")) == 1
    assert "action" in str((await environment.view(workflow_id)).error)


async def test_unknown_or_disabled_webhook_is_not_found(environment: Environment):
    off = await environment.save(hook("/off"), name="off", is_enabled=False)
    gone = await environment.save(hook("/gone"), name="gone")
    await environment.delete(gone)
    for path in ("/in", "/off", "/gone", "/", "/off/", "//off"):
        with pytest.raises(NotFound, match="no webhook at this path"):
            await webhooks(environment).receive(path, delivery())
    await environment.save(hook("/off"), name="off", workflow_id=off)
    assert isinstance(await webhooks(environment).receive("/off", delivery()), Submitted)


def test_delivery_metadata_is_valid_json():
    about = Delivery({"x-odd": "\udcff\0"}, (("q", "ü"),), b"").about()
    assert json.loads(json.dumps(about)) == about and "\0" not in json.dumps(about["headers"])
