"""The web flow, the device flow, and the expiry of tokens."""

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx2
import pytest
from tests.support.github import CLIENT_ID, CLIENT_SECRET, Control, authorize, open_github

CALLBACK = "http://127.0.0.1:8080/auth/github/callback"
VERIFIER = "v" * 43
CHALLENGE = urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
JSON = {"accept": "application/json"}


@pytest.fixture(scope="module")
def double() -> Iterator[Control]:
    with open_github() as double:
        yield double


def page_url(double: Control, **changed: str) -> str:
    asked = {
        "client_id": CLIENT_ID,
        "redirect_uri": CALLBACK,
        "scope": "repo read:org",
        "state": "s1",
        "code_challenge": CHALLENGE,
        "code_challenge_method": "S256",
    }
    return f"{double.url}/login/oauth/authorize?{urlencode({**asked, **changed})}"


def code_for(double: Control, **changed: str) -> str:
    return dict(parse_qsl(urlsplit(authorize(page_url(double, **changed))).query))["code"]


def exchange(double: Control, correct_code: str, **changed: str) -> dict[str, Any]:
    asked = {
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "code": correct_code,
        "code_verifier": VERIFIER,
    }
    response = httpx2.post(f"{double.url}/login/oauth/access_token", data={**asked, **changed}, headers=JSON)
    assert response.status_code == 200
    return response.json()


def test_web_flow_gives_a_token_for_the_user_who_authorized(double: Control):
    page = httpx2.get(page_url(double))
    assert "Authorize as octo" in page.text
    assert "read:org, repo" in page.text
    location = urlsplit(authorize(page_url(double)))
    assert f"{location.scheme}://{location.netloc}{location.path}" == CALLBACK
    answer = dict(parse_qsl(location.query))
    assert answer["state"] == "s1"
    token = exchange(double, answer["code"])
    assert (token["token_type"], token["scope"]) == ("bearer", "read:org,repo")
    user = httpx2.get(
        f"{double.url}/api/v3/user", headers={"authorization": f"Bearer {token['access_token']}"}
    )
    assert user.json()["login"] == "octo"
    assert user.headers["x-oauth-scopes"] == "read:org, repo"
    assert user.headers["x-oauth-client-id"] == CLIENT_ID


def test_login_parameter_skips_the_page(double: Control):
    response = httpx2.get(page_url(double, login="octo"))
    assert response.headers["location"].startswith(f"{CALLBACK}?code=")


def test_canceling_redirects_with_access_denied(double: Control):
    response = httpx2.post(page_url(double), data={"decision": "cancel"})
    answer = dict(parse_qsl(urlsplit(response.headers["location"]).query))
    assert (answer["error"], answer["state"]) == ("access_denied", "s1")


@pytest.mark.parametrize(
    "wrong",
    ["http://evil.example/", CALLBACK + "x", CALLBACK + "/../x", "https://127.0.0.1/auth/github/callback"],
)
def test_redirect_uri_outside_the_callback_url_is_refused(double: Control, wrong: str):
    location = httpx2.get(page_url(double, redirect_uri=wrong)).headers["location"]
    assert location.startswith("http://127.0.0.1/auth/github/callback?error=redirect_uri_mismatch")


def test_unknown_app_and_plain_challenge_are_refused(double: Control):
    assert httpx2.get(page_url(double, client_id="nothing")).status_code == 404
    assert httpx2.get(page_url(double, code_challenge_method="plain")).status_code == 400


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"code": "nothing"}, "bad_verification_code"),
        ({"code_verifier": "w" * 43}, "bad_verification_code"),
        ({"code_verifier": ""}, "bad_verification_code"),
        ({"client_secret": "wrong"}, "incorrect_client_credentials"),
        ({"redirect_uri": CALLBACK + "/other"}, "redirect_uri_mismatch"),
    ],
)
def test_wrong_exchange_is_an_error_with_status_200(double: Control, changed: dict[str, str], error: str):
    answer = exchange(double, code_for(double), **changed)
    assert answer["error"] == error
    assert set(answer) == {"error", "error_description", "error_uri"}


def test_code_works_once(double: Control):
    code = code_for(double)
    assert "access_token" in exchange(double, code)
    assert exchange(double, code)["error"] == "bad_verification_code"


def test_wrong_verifier_uses_the_code_up(double: Control):
    code = code_for(double)
    exchange(double, code, code_verifier="wrong")
    assert exchange(double, code)["error"] == "bad_verification_code"


def test_code_expires_after_ten_minutes(double: Control):
    code = code_for(double)
    double.advance(601)
    assert exchange(double, code)["error"] == "bad_verification_code"


def test_app_without_client_id_is_not_found(double: Control):
    response = httpx2.post(f"{double.url}/login/oauth/access_token", data={"client_id": "no"}, headers=JSON)
    assert (response.status_code, response.json()) == (404, {"error": "Not Found"})


def test_answer_is_a_form_without_accept_header(double: Control):
    asked = {"client_id": CLIENT_ID, "client_secret": CLIENT_SECRET, "code": "nothing"}
    response = httpx2.post(f"{double.url}/login/oauth/access_token", data=asked)
    assert response.headers["content-type"].startswith("application/x-www-form-urlencoded")
    assert dict(parse_qsl(response.text))["error"] == "bad_verification_code"


def poll(double: Control, device_code: str) -> dict[str, Any]:
    asked = {
        "client_id": CLIENT_ID,
        "device_code": device_code,
        "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
    }
    return httpx2.post(f"{double.url}/login/oauth/access_token", json=asked, headers=JSON).json()


def start_device(double: Control) -> dict[str, Any]:
    asked = {"client_id": CLIENT_ID, "scope": "repo"}
    return httpx2.post(f"{double.url}/login/device/code", data=asked, headers=JSON).json()


def test_device_flow_gives_a_token_after_the_user_entered_the_code(double: Control):
    device = start_device(double)
    assert (device["interval"], device["expires_in"]) == (5, 900)
    assert poll(double, device["device_code"])["error"] == "authorization_pending"
    form = {"user_code": device["user_code"]}
    assert "Authorize as octo" in httpx2.get(device["verification_uri"], params=form).text
    assert "all set" in httpx2.post(device["verification_uri"], data={**form, "login": "octo"}).text
    double.advance(5)
    assert poll(double, device["device_code"])["scope"] == "repo"
    double.advance(5)
    assert poll(double, device["device_code"])["error"] == "incorrect_device_code"


def test_device_that_polls_too_often_is_slowed_down(double: Control):
    device = start_device(double)
    poll(double, device["device_code"])
    answer = poll(double, device["device_code"])
    assert (answer["error"], answer["interval"]) == ("slow_down", 10)
    double.advance(6)
    assert poll(double, device["device_code"])["error"] == "slow_down"


def test_device_code_expires_and_can_be_denied(double: Control):
    device = start_device(double)
    httpx2.post(device["verification_uri"], data={"user_code": device["user_code"], "decision": "cancel"})
    assert poll(double, device["device_code"])["error"] == "access_denied"
    double.advance(901)
    assert poll(double, device["device_code"])["error"] == "expired_token"


def test_app_can_revoke_a_token(double: Control):
    token = exchange(double, code_for(double))["access_token"]
    url, body = f"{double.url}/api/v3/applications/{CLIENT_ID}/token", {"access_token": token}
    assert httpx2.request("DELETE", url, json=body, auth=(CLIENT_ID, "wrong")).status_code == 404
    assert httpx2.request("DELETE", url, json=body, auth=(CLIENT_ID, CLIENT_SECRET)).status_code == 204
    assert httpx2.request("DELETE", url, json=body, auth=(CLIENT_ID, CLIENT_SECRET)).status_code == 404
    user = httpx2.get(f"{double.url}/api/v3/user", headers={"authorization": f"Bearer {token}"})
    assert (user.status_code, user.json()["message"]) == (401, "Bad credentials")


def test_revoking_the_grant_revokes_all_tokens_of_the_user(double: Control):
    tokens = [exchange(double, code_for(double))["access_token"] for _ in range(2)]
    grant = f"{double.url}/api/v3/applications/{CLIENT_ID}/grant"
    body = {"access_token": tokens[0]}
    assert httpx2.request("DELETE", grant, json=body, auth=(CLIENT_ID, CLIENT_SECRET)).status_code == 204
    for token in tokens:
        answer = httpx2.get(f"{double.url}/api/v3/user", headers={"authorization": f"token {token}"})
        assert answer.status_code == 401
