"""Every door is closed unless it is meant to be open."""

from collections.abc import Iterator

import pytest
from fastapi.routing import APIRoute, APIWebSocketRoute
from tests.support.server import Server

from forge.api.server import ROUTERS, create_api

OPEN = {"/health", "/health/version", "/api/v1/login", "/webhooks/{path:path}"}
"""Whoever delivers to a webhook has no key of Forge: the secret of the webhook says who may start something."""


def doors() -> Iterator[tuple[str, str]]:
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
    # The application itself adds none: whatever it has came in through the routers above.
    assert len(create_api(None).routes) == len(ROUTERS)


@pytest.mark.parametrize(("method", "path"), sorted(set(doors())))
def test_protected_route_rejects_anonymous_requests(server: Server, method: str, path: str):
    with server.client() as client:
        del client.headers["Authorization"]
        answer = client.request(method, path.replace("{", "").replace("}", ""), json={})
    if path in OPEN:
        assert answer.status_code != 401
    else:
        assert answer.status_code == 401
        (error,) = answer.json()["errors"]
        assert error["code"] == "unauthenticated" and error["hint"]
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(("method", "path"), sorted(door for door in set(doors()) if door[1] not in OPEN))
def test_wrong_key_is_rejected(server: Server, method: str, path: str):
    with server.client(Authorization="Bearer forge_" + "x" * 43) as client:
        assert client.request(method, path.replace("{", "").replace("}", ""), json={}).status_code == 401


def test_read_key_cannot_change_anything(server: Server):
    key = server.call("POST", "/api/v1/keys", {"name": "reader", "scopes": ["read"]})["key"]
    with server.client(Authorization=f"Bearer {key}") as client:
        for method, path in sorted(set(doors())):
            if path in OPEN or path == "/api/v1/logout":
                continue
            answer = client.request(method, path.replace("{", "").replace("}", ""), json={})
            if method == "GET":
                assert answer.status_code in {200, 404, 422}, (method, path, answer.text)
            else:
                assert answer.status_code in {403, 422}, (method, path, answer.text)
                assert answer.status_code == 403 or answer.json()["errors"]


def test_foreign_page_cannot_use_the_cookie(server: Server):
    link = server.call("POST", "/api/v1/login-links")["url"]
    with server.client() as client:
        del client.headers["Authorization"]
        signed_in = client.post("/api/v1/login", json={"token": link.split("token=")[1]})
        assert signed_in.status_code == 200
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
        cookie = signed_in.headers.get_list("set-cookie")[0]
        assert "HttpOnly" in cookie and "SameSite=Lax" in cookie
        assert client.post("/api/v1/logout", headers=own).status_code == 200
        assert client.get("/api/v1/me").status_code == 401
