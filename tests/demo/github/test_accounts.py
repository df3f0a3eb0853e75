"""Users, organizations, tokens and what all endpoints share: rate limits, ETags, errors."""

import httpx2
import pytest
from tests.demo.github.conftest import OpenApi
from tests.support.github import Control


def test_viewer_is_the_user_of_the_token(double: Control, octo: httpx2.Client):
    answer = octo.get("/user")
    user = answer.json()
    assert (user["login"], user["name"], user["email"], user["type"]) == (
        "octo",
        "Octo Cat",
        "octo@example.com",
        "User",
    )
    assert user["avatar_url"].startswith(double.url)
    assert httpx2.get(user["avatar_url"]).headers["content-type"].startswith("image/svg+xml")
    assert answer.headers["x-github-request-id"]


@pytest.mark.parametrize(
    "authorization", ["Bearer wrong", "token wrong", "Basic b2N0bzp3cm9uZw==", "Basic %"]
)
def test_bad_token_is_401(anonymous: httpx2.Client, authorization: str):
    answer = anonymous.get("/users/octo", headers={"authorization": authorization})
    assert (answer.status_code, answer.json()["message"]) == (401, "Bad credentials")


def test_missing_token_is_401_where_one_is_needed(anonymous: httpx2.Client):
    answer = anonymous.get("/user")
    assert (answer.status_code, answer.json()["message"]) == (401, "Requires authentication")
    assert anonymous.get("/users/octo").json()["login"] == "octo"
    assert anonymous.get("/users/nobody").status_code == 404


def test_token_works_as_basic_password(double: Control, anonymous: httpx2.Client):
    token = double.add_token("octo").value
    assert anonymous.get("/user", auth=("octo", token)).json()["login"] == "octo"


def test_request_without_user_agent_is_403(octo: httpx2.Client):
    assert octo.get("/user", headers={"user-agent": ""}).status_code == 403


def test_expired_and_revoked_tokens_are_401(double: Control, client_with: OpenApi):
    short = client_with("octo", expires_in_s=3600)
    assert "UTC" in short.get("/user").headers["github-authentication-token-expiration"]
    double.advance(3601)
    assert short.get("/user").status_code == 401
    token = double.add_token("octo").value
    double.revoke_token(token)
    revoked = httpx2.get(f"{double.url}/api/v3/user", headers={"authorization": f"Bearer {token}"})
    assert revoked.status_code == 401


def test_organizations_need_the_scope(client_with: OpenApi):
    reader = client_with(scopes=["read:org"])
    assert [each["login"] for each in reader.get("/user/orgs").json()] == ["acme"]
    [membership] = reader.get("/user/memberships/orgs").json()
    assert (membership["organization"]["login"], membership["role"], membership["state"]) == (
        "acme",
        "admin",
        "active",
    )
    refused = client_with(scopes=["repo"]).get("/user/orgs")
    assert refused.status_code == 403
    assert refused.json()["message"].startswith("You need at least read:org scope")
    assert "read:org" in refused.headers["x-accepted-oauth-scopes"]


def test_members_see_members_and_others_only_public_ones(double: Control, client_with: OpenApi):
    double.add_user("mia")
    double.add_user("guest")
    double.set_member("acme", "mia", public=True)
    member = client_with(scopes=["read:org"])
    assert member.get("/orgs/acme/members/mia").status_code == 204
    assert member.get("/orgs/acme/members/guest").status_code == 404
    outside = client_with("guest", scopes=["read:org"])
    redirect = outside.get("/orgs/acme/members/mia")
    assert redirect.status_code == 302
    assert outside.get(redirect.headers["location"]).status_code == 204
    assert outside.get(outside.get("/orgs/acme/members/octo").headers["location"]).status_code == 404
    without_scope = client_with(scopes=["repo"])
    assert without_scope.get("/orgs/acme/members/mia").status_code == 302
    fine_grained = client_with(permissions={"members": "read"})
    assert fine_grained.get("/orgs/acme/members/mia").status_code == 204
    refused = client_with(permissions={"contents": "read"}).get("/orgs/acme/members/mia")
    assert (refused.status_code, refused.headers["x-accepted-github-permissions"]) == (403, "members=read")
    double.set_member("acme", "mia", role=None)
    assert member.get("/orgs/acme/members/mia").status_code == 404


def test_renamed_user_keeps_id_and_tokens(double: Control, client_with: OpenApi, octo: httpx2.Client):
    account = double.add_user("oldname")
    double.add_repository("oldname/work", files={"a": "1"})
    client = client_with("oldname", scopes=["repo"])
    double.rename_user("oldname", "newname")
    assert (client.get("/user").json()["login"], client.get("/user").json()["id"]) == ("newname", account.id)
    assert octo.get("/users/oldname").status_code == 404
    moved = octo.get("/repos/oldname/work")
    assert moved.status_code == 301
    assert octo.get(moved.headers["location"]).json()["full_name"] == "newname/work"


def test_deleted_user_has_no_token_and_no_repository(
    double: Control, client_with: OpenApi, octo: httpx2.Client
):
    double.add_user("leaving")
    double.add_repository("leaving/work", files={"a": "1"})
    client = client_with("leaving", scopes=["repo"])
    double.delete_user("leaving")
    assert client.get("/user").status_code == 401
    assert octo.get("/users/leaving").status_code == 404
    assert octo.get("/repos/leaving/work").status_code == 404


def test_rate_limit_is_counted_announced_and_enforced(recovered: Control, octo: httpx2.Client):
    recovered.configure(rate_limit=3)
    for left in (2, 1, 0):
        answer = octo.get("/user")
        assert (answer.headers["x-ratelimit-limit"], answer.headers["x-ratelimit-remaining"]) == (
            "3",
            str(left),
        )
    refused = octo.get("/user")
    assert refused.status_code == 403
    assert refused.json()["message"].startswith("API rate limit exceeded for user ID")
    assert refused.headers["x-ratelimit-remaining"] == "0"
    numbers = octo.get("/rate_limit").json()
    assert (numbers["rate"]["remaining"], numbers["resources"]["core"]["limit"]) == (0, 3)
    recovered.advance(3601)
    assert octo.get("/user").status_code == 200


def test_anonymous_clients_have_a_smaller_limit(anonymous: httpx2.Client):
    assert anonymous.get("/users/octo").headers["x-ratelimit-limit"] == "60"


def test_unchanged_answer_is_304_and_free(octo: httpx2.Client):
    first = octo.get("/user")
    again = octo.get("/user", headers={"if-none-match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["x-ratelimit-remaining"] == first.headers["x-ratelimit-remaining"]
    assert octo.get("/user", headers={"if-none-match": '"other"'}).status_code == 200


def test_unknown_path_bad_json_and_wrong_types_are_refused(octo: httpx2.Client):
    assert octo.get("/nothing/here").json()["message"] == "Not Found"
    assert octo.post("/user/repos", content=b"{").json()["message"] == "Problems parsing JSON"
    assert octo.post("/user/repos", content=b"[]").json()["message"] == "Body should be a JSON object"
    missing = octo.post("/user/repos", json={})
    assert (missing.status_code, missing.json()["message"]) == (
        422,
        'Invalid request.\n\n"name" wasn\'t supplied.',
    )
    wrong = octo.post("/user/repos", json={"name": 3})
    assert wrong.json()["message"] == "Invalid request.\n\nFor 'properties/name', 3 is not a string."


def test_meta_names_the_version(anonymous: httpx2.Client):
    assert anonymous.get("/meta").json()["installed_version"].startswith("3.")
