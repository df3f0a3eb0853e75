"""Every route requires authentication unless it is listed as public."""

from collections.abc import Iterator

import pytest
from fastapi.routing import APIRoute, APIWebSocketRoute
from tests.support.server import Server

from forge.api.server import ROUTERS, create_api

PUBLIC_PATHS = {
    "/health",
    "/health/version",
    "/api/v1/login",
    "/api/v1/auth/configuration",
    "/api/v1/auth/github",
    "/api/v1/auth/github/callback",
    "/webhooks/{path:path}",
}
"""Webhooks are authenticated by their own secret, not by an API key."""


def all_routes() -> Iterator[tuple[str, str]]:
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, APIRoute):
                for method in sorted(route.methods or ()):
                    yield method, route.path


def test_nothing_but_routes_and_two_sockets_is_served():
    others = [route for router in ROUTERS for route in router.routes if not isinstance(route, APIRoute)]
    assert [route.path for route in others if isinstance(route, APIWebSocketRoute)] == [
        "/ws/builder/{session_id}",
        "/ws",
    ]
    assert len(others) == 2
    # The application adds no routes of its own.
    assert len(create_api(None).routes) == len(ROUTERS)


@pytest.mark.parametrize(("method", "path"), sorted(set(all_routes())))
def test_protected_route_rejects_anonymous_requests(server: Server, method: str, path: str):
    with server.client() as client:
        del client.headers["Authorization"]
        response = client.request(method, path.replace("{", "").replace("}", ""), json={})
    if path in PUBLIC_PATHS:
        assert response.status_code != 401
    else:
        assert response.status_code == 401
        (error,) = response.json()["errors"]
        assert error["code"] == "unauthenticated" and error["hint"]
        assert response.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    ("method", "path"), sorted(route for route in set(all_routes()) if route[1] not in PUBLIC_PATHS)
)
def test_wrong_key_is_rejected(server: Server, method: str, path: str):
    with server.client(Authorization="Bearer forge_" + "x" * 43) as client:
        assert client.request(method, path.replace("{", "").replace("}", ""), json={}).status_code == 401


def test_read_key_cannot_change_anything(server: Server):
    key = server.call("POST", "/api/v1/keys", {"name": "reader", "scopes": ["read"]})["key"]
    with server.client(Authorization=f"Bearer {key}") as client:
        for method, path in sorted(set(all_routes())):
            if path in PUBLIC_PATHS or path == "/api/v1/logout":
                continue
            response = client.request(method, path.replace("{", "").replace("}", ""), json={})
            if method == "GET":
                assert response.status_code in {200, 404, 422}, (method, path, response.text)
            else:
                assert response.status_code in {403, 422}, (method, path, response.text)
                assert response.status_code == 403 or response.json()["errors"]


def test_foreign_page_cannot_use_the_cookie(server: Server):
    link = server.call("POST", "/api/v1/login-links")["url"]
    with server.client() as client:
        del client.headers["Authorization"]
        login = client.post("/api/v1/login", json={"token": link.split("token=")[1]})
        assert login.status_code == 200
        csrf = client.cookies["forge_csrf"]
        body = {"kind": "self_test", "input": {}}
        own = {"Origin": server.url, "X-CSRF-Token": csrf}
        for headers in (
            {},
            {"Origin": server.url},
            {"X-CSRF-Token": csrf},
            {**own, "Origin": "https://evil.example"},
            {**own, "X-CSRF-Token": "0" * 64},
            {**own, "Host": "evil.example", "Origin": "http://evil.example"},
        ):
            assert client.post("/api/v1/runs", json=body, headers=headers).status_code == 403, headers
        assert client.post("/api/v1/runs", json=body, headers=own).status_code == 201
        assert client.get("/api/v1/me").json()["data"]["method"] == "session"
        cookie = login.headers.get_list("set-cookie")[0]
        assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
        assert client.post("/api/v1/logout", headers=own).status_code == 200
        assert client.get("/api/v1/me").status_code == 401
