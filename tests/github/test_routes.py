"""Sign-in over HTTP, as a browser and as a client of the API, and the connection of an account."""

from collections.abc import Iterator

import pytest
from tests.github.team_server import TeamServer, open_team_server

BROWSER = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TeamServer]:
    secret = {"OPENAI_API_KEY": "sk-of-the-server-environment", "ANTHROPIC_API_KEY": "sk-ant-of-the-server"}
    with open_team_server(tmp_path_factory.mktemp("team"), **secret) as team:
        yield team


def test_login_page_knows_how_users_sign_in(team: TeamServer):
    with team.browser() as client:
        found = client.get("/api/v1/auth/configuration").json()["data"]
    assert found == {"url": team.double.url, "can_sign_in": True, "can_use_device_flow": True}


def test_browser_returns_from_github_with_a_session(team: TeamServer):
    team.double.add_user("walker")
    with team.browser() as client:
        response = client.get(team.callback(client, "walker", team.invite("walker")), headers=BROWSER)
        assert (response.status_code, response.headers["location"]) == (303, "/")
        assert client.get("/api/v1/me").json()["data"]["account"]["name"] == "walker"
        assert client.cookies["forge_csrf"]


def test_failed_sign_in_leads_to_the_login_page_with_the_reason(team: TeamServer):
    team.double.add_user("uninvited")
    with team.browser() as client:
        response = client.get(team.callback(client, "uninvited"), headers=BROWSER)
        assert (response.status_code, response.headers["location"]) == (303, "/login")
        assert "uninvited%20has%20no%20account" in client.cookies["forge_problem"]
        assert "forge_session" not in client.cookies
        cancelled = client.get("/auth/github").json()["data"]["redirect_url"]
        state = cancelled.partition("state=")[2].partition("&")[0]
        response = client.get(f"/auth/github/callback?error=access_denied&state={state}", headers=BROWSER)
        assert "access_denied" in client.cookies["forge_problem"]


def test_callback_in_another_browser_signs_nobody_in(team: TeamServer):
    with team.browser() as client, team.browser() as other:
        path = team.callback(client, "octo", team.invite("octo"))
        response = other.get(path)
        assert response.status_code == 403
        assert "another browser" in response.json()["errors"][0]["message"]
        assert other.get("/api/v1/me").status_code == 401


def test_bearer_token_works_until_sign_out(team: TeamServer):
    with team.member("carrier") as client:
        me = client.get("/auth/me")
        assert me.json()["data"]["github_login"] == "carrier"
        assert client.post("/api/v1/logout").status_code == 200
        ended = client.get("/auth/me")
        assert (ended.status_code, ended.json()["errors"][0]["message"]) == (401, "This session has ended.")


@pytest.mark.parametrize("change", ["signature", "algorithm"])
def test_forged_bearer_token_is_rejected(team: TeamServer, change: str):
    team.double.add_user(f"forger-{change}")
    header, claims, signature = team.bearer(f"forger-{change}", team.invite(f"forger-{change}")).split(".")
    none = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0"  # {"alg":"none","typ":"JWT"}
    forged = f"{header}.{claims}.{signature[::-1]}" if change == "signature" else f"{none}.{claims}."
    with team.browser(Authorization=f"Bearer {forged}") as client:
        assert client.get("/auth/me").status_code == 401


def test_code_can_be_exchanged_with_post(team: TeamServer):
    team.double.add_user("poster")
    with team.browser() as client:
        path = team.callback(client, "poster", team.invite("poster"))
        query = dict(part.split("=", 1) for part in path.partition("?")[2].split("&"))
        signed_in = client.post("/auth/github", json={"code": query["code"], "state": query["state"]})
        assert signed_in.json()["data"]["user"]["github_login"] == "poster"
        assert "forge_session" not in client.cookies


def test_short_paths_are_the_api_except_for_pages(team: TeamServer):
    with team.browser() as client:
        assert client.get("/auth/me").status_code == 401
        assert client.get("/auth/me", headers=BROWSER).headers["content-type"].startswith("text/html")


def test_classic_token_shows_what_its_scopes_allow(team: TeamServer):
    with team.member("neighbor"), team.member("holder") as client:
        other = team.double.add_token("neighbor", scopes=["repo"]).value
        refused = client.put("/api/v1/github/token", json={"token": other})
        assert (refused.status_code, refused.json()["errors"][0]["code"]) == (409, "conflict")
        own = team.double.add_token("holder", scopes=["repo", "read:org"]).value
        found = client.put("/api/v1/github/token", json={"token": own}).json()["data"]
        granted = {grant["ability"]: grant["granted"] for grant in found["grants"]}
        assert granted == {
            "read_profile": True,
            "read_organizations": True,
            "list_repositories": True,
            "read_code": True,
            "push": True,
            "webhooks": False,
            "statuses": True,
            "create_repositories": True,
        }
        assert client.get("/api/v1/secrets").json()["data"] == []
        team.double.revoke_token(own)
        assert "was revoked" in client.get("/api/v1/github").json()["data"]["problem"]
        assert client.delete("/api/v1/github/token").json()["data"]["token_kind"] is None


def test_fine_grained_token_is_tried_out(team: TeamServer):
    with team.member("finer") as client:
        team.double.add_repository("finer/app", files={"README.md": "Hi"})
        permissions = {"contents": "write", "statuses": "write"}
        token = team.double.add_token("finer", permissions=permissions).value  # pyright: ignore[reportArgumentType]
        found = client.put("/api/v1/github/token", json={"token": token}).json()["data"]
        granted = {grant["ability"]: grant["granted"] for grant in found["grants"]}
        assert (granted["read_code"], granted["webhooks"]) == (True, False)
        assert (granted["push"], granted["statuses"]) == (True, True)


@pytest.mark.parametrize("token", ["not-a-github-token-at-all", "ghp_" + "é" * 36])
def test_invalid_token_is_rejected_and_not_stored(team: TeamServer, token: str):
    team.double.add_user(f"wrong-{len(token)}")
    login = f"wrong-{len(token)}"
    with team.browser(Authorization=f"Bearer {team.bearer(login, team.invite(login))}") as client:
        before = client.get("/api/v1/github").json()["data"]["token_kind"]
        refused = client.put("/api/v1/github/token", json={"token": token})
        assert refused.status_code in (403, 422)
        assert token not in refused.text
        assert client.get("/api/v1/github").json()["data"]["token_kind"] == before


def test_device_flow_connects_the_account(team: TeamServer):
    team.double.configure(device_interval_s=0)
    started = team.server.call("POST", "/api/v1/github/device")
    pending = team.server.call("POST", "/api/v1/github/device/poll", {"device_code": started["device_code"]})
    assert pending["connection"] is None


def test_member_sees_nothing_of_the_servers_environment(team: TeamServer):
    listed = {one["name"] for one in team.server.call("GET", "/api/v1/secrets")}
    assert listed >= {"ANTHROPIC_API_KEY", "OPENAI_API_KEY"}
    with team.member("outsider") as client:
        assert client.get("/api/v1/secrets").json()["data"] == []
        providers = client.get("/api/v1/models").json()["data"]["providers"]
        assert [provider["has_key"] for provider in providers] == [False] * len(providers)


def test_removed_member_is_signed_out_at_once(team: TeamServer):
    with team.member("leaver") as client:
        key = client.post("/api/v1/keys", json={"name": "ci", "scopes": ["admin"]}).json()["data"]["key"]
        account = client.get("/auth/me").json()["data"]["id"]
        run = client.post("/api/v1/runs", json={"kind": "self_test", "input": {}}).json()["data"]["id"]
        team.server.call("DELETE", f"/api/v1/members/{account}")
        assert client.get("/auth/me").status_code == 401
    with team.browser(Authorization=f"Bearer {key}") as client:
        assert client.get("/api/v1/me").status_code == 401
    with team.browser(Authorization=f"Bearer {team.bearer('leaver', team.invite('leaver'))}") as client:
        assert client.get("/auth/me").json()["data"]["id"] == account
        [listed] = client.get("/api/v1/runs").json()["data"]
        assert (listed["id"], listed["status"]) == (run, "cancelled")


def test_token_appears_in_no_log_and_no_process(team: TeamServer):
    token = team.double.add_token("octo", scopes=["repo"]).value
    with team.server.client() as client:
        client.put("/api/v1/github/token", json={"token": token})
    team.double.fail("500", path="/api/v3/user")
    try:
        assert "GitHub failed with 500" in str(team.server.call("GET", "/api/v1/github"))
    finally:
        team.double.recover()
    logs = [path.read_text() for path in (team.server.data_dir / "logs").rglob("*") if path.is_file()]
    assert logs and all(token not in text for text in [*logs, team.server.output])
    stored = (path.read_bytes() for path in team.server.data_dir.glob("forge.db*"))
    assert all(token.encode() not in content for content in stored)
