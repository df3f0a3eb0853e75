"""Invalid requests get a clear error without a stack trace."""

import json
import time
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.support.server import Server

JSON = {"Content-Type": "application/json"}
UNKNOWN_ID = "0198c0de-0000-7000-8000-000000000000"
CURSOR_WITH_LONE_SURROGATE = "WyIyMDI2LTAxLTAxVDAwOjAwOjAwKzAwOjAwIiwgIlx1ZDgwMCJd"
"""A cursor with an id that cannot be encoded as UTF-8."""


def request(server: Server, method: str, path: str, **options: Any) -> httpx2.Response:
    with server.client() as client:
        return client.request(method, path, **options)


def error_of(response: httpx2.Response) -> dict[str, Any]:
    body = response.json()
    assert set(body) == {"data", "meta", "errors", "_links"}
    assert body["data"] is None
    assert set(body["meta"]) == {"request_id", "timestamp", "response_time_ms", "next_cursor"}
    assert response.headers["X-Request-ID"] == body["meta"]["request_id"]
    assert "Traceback" not in response.text and ".py" not in response.text
    return body["errors"][0]


@pytest.mark.parametrize(
    ("method", "path", "options", "status", "code"),
    [
        ("POST", "/api/v1/runs", {"content": b"{not json", "headers": JSON}, 400, "malformed"),
        ("POST", "/api/v1/runs", {"content": b"\xff\xfe\x00", "headers": JSON}, 400, "malformed"),
        ("POST", "/api/v1/runs", {"content": b'{"kind":"self_test"}'}, 422, "invalid"),
        ("POST", "/api/v1/runs", {"content": b""}, 422, "invalid"),
        ("POST", "/api/v1/runs", {"json": []}, 422, "invalid"),
        ("POST", "/api/v1/runs", {"json": {"kind": 7}}, 422, "invalid"),
        ("POST", "/api/v1/runs", {"json": {"kind": "self_test", "extra": 1}}, 422, "invalid"),
        ("POST", "/api/v1/runs", {"json": {"kind": "nothing"}}, 422, "invalid"),
        ("POST", "/api/v1/runs", {"json": {"kind": "self_test", "input": {"width": 0}}}, 422, "invalid"),
        ("POST", "/api/v1/runs", {"json": {"kind": "self_test", "input": {"wide": 1}}}, 422, "invalid"),
        ("GET", f"/api/v1/runs/{UNKNOWN_ID}", {}, 404, "not_found"),
        ("GET", "/api/v1/runs/..%2f..%2fetc%2fpasswd", {}, 404, "not_found"),
        ("GET", "/api/v1/runs/%00", {}, 422, "invalid"),
        ("GET", "/api/v1/gates/%00", {}, 422, "invalid"),
        ("GET", "/api/v1/runs?kind=%00", {}, 422, "invalid"),
        ("POST", f"/api/v1/runs/{UNKNOWN_ID}/cancel", {}, 404, "not_found"),
        ("GET", f"/api/v1/gates/{UNKNOWN_ID}", {}, 404, "not_found"),
        (
            "POST",
            f"/api/v1/gates/{UNKNOWN_ID}/answer",
            {"json": {"option": "yes", "shown_hash": "0" * 64}},
            404,
            "not_found",
        ),
        ("POST", f"/api/v1/gates/{UNKNOWN_ID}/answer", {"json": {"option": "yes"}}, 422, "invalid"),
        ("GET", "/api/v1/runs?cursor=garbage", {}, 400, "malformed"),
        ("GET", "/api/v1/runs?cursor=bm90IGpzb24", {}, 400, "malformed"),
        ("GET", "/api/v1/runs?cursor=WzEsMl0", {}, 400, "malformed"),
        ("GET", "/api/v1/gates?cursor=%F0%9F%92%A9", {}, 400, "malformed"),
        ("GET", f"/api/v1/runs?cursor={CURSOR_WITH_LONE_SURROGATE}", {}, 400, "malformed"),
        ("GET", "/api/v1/runs?limit=0", {}, 422, "invalid"),
        ("GET", "/api/v1/runs?limit=all", {}, 422, "invalid"),
        ("GET", "/api/v1/runs?limits=5", {}, 422, "invalid"),
        ("GET", "/api/v1/me?x=1", {}, 422, "invalid"),
        ("GET", "/api/v1/runs?status=odd", {}, 422, "invalid"),
        ("GET", "/api/v1/events?stream=nonsense", {}, 422, "invalid"),
        ("GET", "/api/v1/events?stream=run:unknown", {}, 404, "not_found"),
        ("GET", "/api/v1/events?stream=account:other&after=-1", {}, 422, "invalid"),
        ("PUT", "/api/v1/secrets/bad%20name", {"json": {"value": "x"}}, 422, "invalid"),
        ("DELETE", "/api/v1/secrets/NOT_THERE", {}, 404, "not_found"),
        ("DELETE", f"/api/v1/keys/{UNKNOWN_ID}", {}, 404, "not_found"),
        ("GET", "/api/v1/nothing", {}, 404, "not_found"),
        ("POST", "/api/v1/nothing", {}, 404, "not_found"),
        ("DELETE", "/nothing", {}, 404, "not_found"),
        ("PATCH", "/api/v1/runs", {}, 405, "not_allowed"),
        ("POST", "/api/v1/me", {}, 405, "not_allowed"),
        ("GET", "/api/v1/login-links", {}, 405, "not_allowed"),
        ("GET", "/api/v1/runs/", {}, 404, "not_found"),
        ("POST", "/api/v1/login", {"json": {"token": "wrong"}}, 401, "unauthenticated"),
        ("POST", "/api/v1/login", {"json": {}}, 422, "invalid"),
    ],
)
def test_errors_explain_impossible_requests(
    server: Server, method: str, path: str, options: Any, status: int, code: str
):
    response = request(server, method, path, **options)
    error = error_of(response)
    assert (response.status_code, error["code"]) == (status, code), response.text
    assert error["message"]


def test_declared_body_size_over_the_limit_is_rejected_immediately(server: Server):
    response = request(server, "POST", "/api/v1/runs", content=b"x" * 2_000_000)
    assert (response.status_code, error_of(response)["code"]) == (413, "too_large")


def test_streamed_body_over_the_limit_is_rejected(server: Server):
    def endless():
        for _ in range(100):
            yield b"x" * 65_536

    response = request(server, "POST", "/api/v1/runs", content=endless())
    assert (response.status_code, error_of(response)["code"]) == (413, "too_large")


def test_valid_request_id_is_returned_and_invalid_one_replaced(server: Server):
    assert (
        request(server, "GET", "/health", headers={"X-Request-ID": "abc-1"}).headers["X-Request-ID"]
        == "abc-1"
    )
    invalid = "x" * 500
    assert (
        request(server, "GET", "/health", headers={"X-Request-ID": invalid}).headers["X-Request-ID"]
        != invalid
    )


def test_used_or_expired_link_is_rejected(server: Server):
    token = server.call("POST", "/api/v1/login-links")["url"].split("token=")[1]
    assert request(server, "POST", "/api/v1/login", json={"token": token}).status_code == 200
    repeated = request(server, "POST", "/api/v1/login", json={"token": token})
    error = error_of(repeated)
    assert (repeated.status_code, error["code"]) == (410, "gone")
    assert "forge login --link" in error["hint"]


def test_revoked_key_is_rejected(server: Server):
    created = server.call("POST", "/api/v1/keys", {"name": "soon gone", "scopes": ["read"]})
    server.call("DELETE", f"/api/v1/keys/{created['api_key']['id']}")
    response = request(server, "GET", "/api/v1/me", headers={"Authorization": f"Bearer {created['key']}"})
    assert response.status_code == 401
    assert "revoked" in error_of(response)["message"]


def test_health_needs_no_login(server: Server):
    assert httpx2.get(f"{server.url}/health", timeout=60).json() == {"status": "ok"}
    version = httpx2.get(f"{server.url}/health/version", timeout=60).json()
    assert (set(version), version["phase"]) == ({"version", "phase"}, "6")


def test_limit_is_honored_on_lists_that_are_not_paginated(server: Server):
    for name in ("one", "two"):
        server.call("POST", "/api/v1/keys", {"name": name, "scopes": ["read"]})
    assert len(server.call("GET", "/api/v1/keys?limit=1")) == 1
    assert len(server.call("GET", "/api/v1/skills?limit=3")) == 3


def test_every_list_has_a_limit(server: Server):
    """A list is a route whose data is an array."""
    schema = request(server, "GET", "/api/v1/openapi.json").json()
    schemas = schema["components"]["schemas"]
    for path, operations in schema["paths"].items():
        if "get" not in operations:
            continue
        content = operations["get"]["responses"]["200"].get("content", {}).get("application/json", {})
        name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
        if schemas.get(name, {}).get("properties", {}).get("data", {}).get("type") == "array":
            parameters = {one["name"] for one in operations["get"]["parameters"]}
            assert "limit" in parameters, path


def test_metrics_count_requests(server: Server):
    text = request(server, "GET", "/metrics").text
    assert 'forge_http_requests_total{method="GET",route="/health",status="200"}' in text


def test_rate_limit_rejects_excess_requests(start_server: Any, tmp_path: Path):
    server = start_server(FORGE_RATE_LIMIT_PER_MINUTE="5")
    with server.client() as client:
        responses = [client.get("/api/v1/me") for _ in range(8)]
    statuses = [response.status_code for response in responses]
    assert statuses[:5] == [200] * 5 and statuses[-1] == 429
    assert error_of(responses[-1])["code"] == "too_many"
    assert int(responses[-1].headers["Retry-After"]) >= 1


def test_login_attempts_are_limited(start_server: Any):
    server = start_server()
    started = time.monotonic()
    with server.client() as client:
        statuses = [client.post("/api/v1/login", json={"token": f"guess{n}"}).status_code for n in range(12)]
    refilled = int((time.monotonic() - started) / 6)  # ten per minute
    assert statuses[:10] == [401] * 10
    assert (set(statuses) <= {401, 429}, statuses.count(401) <= 10 + refilled) == (True, True), statuses


def test_log_contains_requests_without_secrets(server: Server):
    request(server, "GET", f"/api/v1/runs/{UNKNOWN_ID}")
    lines = [json.loads(line) for line in (server.data_dir / "logs" / "forge.log").read_text().splitlines()]
    assert all({"at", "level", "logger", "message"} <= set(line) for line in lines)
    assert server.key not in (server.data_dir / "logs" / "forge.log").read_text()


def test_number_of_reported_problems_is_limited(server: Server):
    response = request(server, "POST", "/api/v1/keys", json={"name": "odd", "scopes": ["odd"] * 5000})
    assert (response.status_code, len(response.json()["errors"])) == (422, 50)
