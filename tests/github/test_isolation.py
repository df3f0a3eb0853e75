"""A member reaches nothing of the owner's: every route, every stream, every scope, and the MCP server."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from fastapi.routing import APIRoute
from tests.github.team_server import TeamServer, open_team_server
from tests.support.server import wait_until

from forge.api.server import ROUTERS

SECRET = "owner-secret-value-4711"  # made up
MARK = "ownersmark"
"""Part of every name that the owner gives: it must not appear in any answer to a member."""


@dataclass(frozen=True)
class Owned:
    """The ids of what the owner has, by the parameter names of the routes."""

    team: TeamServer
    ids: dict[str, list[str]]
    streams: list[str]


def routes() -> Iterator[tuple[str, str]]:
    for router in ROUTERS:
        for route in router.routes:
            if isinstance(route, APIRoute):
                for method in sorted(route.methods or ()):
                    yield method, route.path


@pytest.fixture(scope="module")
def owned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Owned]:
    with open_team_server(tmp_path_factory.mktemp("team"), ANTHROPIC_API_KEY=f"sk-ant-{MARK}") as team:
        yield Owned(team, *_create_everything(team))


def _create_everything(team: TeamServer) -> tuple[dict[str, list[str]], list[str]]:
    call = team.server.call
    nowhere = {"kind": "anthropic", "base_url": "http://127.0.0.1:9", "key_name": "ANTHROPIC_API_KEY"}
    for model in ("claude-sonnet-4-5", "claude-opus-4-6"):
        call("PUT", f"/api/v1/models/prices?model=anthropic:{model}", {"input": 1, "output": 5})
    call("PUT", "/api/v1/models/providers/anthropic", nowhere)  # no test may leave this machine
    call("PUT", f"/api/v1/secrets/{MARK.upper()}", {"value": SECRET})
    key = call("POST", "/api/v1/keys", {"name": MARK, "scopes": ["read"]})["api_key"]["id"]
    run = call("POST", "/api/v1/runs", {"kind": "self_test", "input": {"ask": True}})["id"]
    workspace = call("POST", "/api/v1/workspaces", {"name": MARK})["id"]
    bot = call("POST", "/api/v1/bots", {"name": MARK, "description": MARK})
    chat = call("POST", f"/api/v1/bots/{bot['slug']}/chat", {"text": MARK})
    session = chat["session"]["id"]
    draft = call("POST", "/api/v1/builder/sessions", {"description": MARK})["session_id"]
    definition = f"name: {MARK}\nsteps:\n  - id: pause\n    type: wait\n    config: {{seconds: 0}}\n"
    workflow = call("POST", "/api/v1/workflows", {"source": definition})["id"]
    workflow_run = call("POST", f"/api/v1/workflows/{workflow}/trigger", {"payload": {}})["run_id"]
    gates = wait_until(lambda: call("GET", "/api/v1/gates") or None, what="the question of the run")
    me = call("GET", "/api/v1/me")["account"]["id"]
    invitation = call("POST", "/api/v1/invitations", {"github_login": MARK})["invitation"]["id"]
    ids = {
        "run_id": [run, workflow_run],
        "gate_id": [gates[0]["id"]],
        "bot": [bot["slug"], bot["id"]],
        "session_id": [session, draft],
        "workspace_id": [workspace],
        "key_id": [key],
        "ref": [workflow, MARK],
        "account_id": [me],
        "invitation_id": [invitation],
        "name": [MARK.upper()],
    }
    streams = [
        f"run:{run}",
        f"run:{workflow_run}",
        f"session:{session}",
        f"interview:{draft}",
        f"account:{me}",
    ]
    return ids, streams


def _paths(path: str, ids: dict[str, list[str]]) -> list[str]:
    """Fill in the owner's ids; parameters that name nothing of an account get a plain value."""
    found = [path]
    for parameter in re.findall(r"{(\w+)(?::\w+)?}", path):
        values = ids.get(parameter, ["x"])
        found = [re.sub(rf"{{{parameter}(:\w+)?}}", value, one) for one in found for value in values]
    return found


@pytest.mark.parametrize("scope", ["session", "read", "write", "admin"])
def test_member_reaches_nothing_of_the_owner(owned: Owned, scope: str):
    with owned.team.member(f"member-{scope}") as client:
        if scope != "session":
            created = client.post("/api/v1/keys", json={"name": "k", "scopes": [scope]}).json()["data"]
            client.headers["Authorization"] = f"Bearer {created['key']}"
        for method, template in sorted(set(routes())):
            if template in ("/api/v1/logout", "/api/v1/login-links"):
                continue
            for path in _paths(template, owned.ids):
                response = client.request(method, path, json=None if method == "GET" else {})
                _check(method, template, path, response)
        for stream in owned.streams:
            refused = client.get("/api/v1/events", params={"stream": stream})
            assert refused.status_code == 404, stream
    _check_that_everything_is_left(owned)


def _check(method: str, template: str, path: str, response: httpx2.Response) -> None:
    place = f"{method} {path}: {response.status_code} {response.text[:300]}"
    assert response.status_code < 500, place
    assert SECRET not in response.text, place
    echoed = path.lower().count(MARK) > 0
    if not echoed or response.is_success:
        assert MARK not in response.text.lower(), place
    has_owned_id = template != path and not path.endswith("/x") and "{" in template
    if has_owned_id and method == "GET" and "/secrets/" not in template:
        assert response.status_code in (403, 404, 422), place


def _check_that_everything_is_left(owned: Owned) -> None:
    call = owned.team.server.call
    for path in (f"bots/{MARK}", f"workflows/{MARK}", f"workspaces/{owned.ids['workspace_id'][0]}"):
        assert MARK in str(call("GET", f"/api/v1/{path}")), path
    assert MARK.upper() in [one["name"] for one in call("GET", "/api/v1/secrets")]
    assert [gate["status"] for gate in call("GET", "/api/v1/gates")][:1] == ["open"]
    keys: list[dict[str, Any]] = call("GET", "/api/v1/keys")
    assert [key["revoked_at"] for key in keys if key["name"] == MARK] == [None]
