"""The control API over HTTP, recorded requests, and faults."""

import threading
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.support.github import CLIENT_ID, Control, open_api
from tests.support.repositories import make_repository

from forge.demo.github.server import open_github_double


def call(double: Control, operation: str, **values: Any) -> httpx2.Response:
    return httpx2.post(f"{double.url}/_double/{operation}", json=values)


def test_world_can_be_set_up_over_http(double: Control, tmp_path: Path):
    source = make_repository(tmp_path / "source", {"main.py": "M = 1\n"})
    source.git("branch", "topic")
    assert call(double, "add_user", login="ines", email="ines@example.com").json()["login"] == "ines"
    made = call(double, "add_repository", full_name="ines/work", source=str(source.path), private=True)
    assert (made.status_code, made.json()["full_name"]) == (200, "ines/work")
    token = call(double, "add_token", login="ines", scopes=["repo"]).json()["token"]
    with open_api(double, token) as client:
        assert [each["name"] for each in client.get("/repos/ines/work/branches").json()] == ["main", "topic"]
        sha = call(double, "push", full_name="ines/work", files={"b.py": "B = 1\n", "main.py": None}).json()
        commit = client.get(f"/repos/ines/work/commits/{sha}").json()
        assert {each["filename"]: each["status"] for each in commit["files"]} == {
            "b.py": "added",
            "main.py": "removed",
        }
        assert call(double, "revoke_token", token=token).json() is None
        assert client.get("/user").status_code == 401


@pytest.mark.parametrize(
    ("operation", "values"),
    [
        ("add_user", {}),
        ("add_user", {"login": "octo"}),
        ("add_user", {"login": "x", "color": "red"}),
        ("add_repository", {"full_name": "nobody/x"}),
        ("add_repository", {"full_name": "octo/hello"}),
        ("add_repository", {"full_name": "octo/.."}),
        ("push", {"full_name": "octo/missing", "files": {}}),
        ("fail", {"kind": "fire"}),
        ("revoke_token", {"token": "x"}),
    ],
)
def test_wrong_operation_is_422_and_changes_nothing(double: Control, operation: str, values: dict[str, Any]):
    answer = call(double, operation, **values)
    assert answer.status_code == 422
    assert answer.json()["error"]


def test_requests_are_recorded_without_secrets(double: Control, octo: httpx2.Client):
    token = double.add_token("octo", scopes=["repo"]).value
    with open_api(double, token) as client:
        client.post(
            "/repos/octo/hello/hooks", json={"config": {"url": "http://127.0.0.1:9/", "secret": "s3cret"}}
        )
        client.get("/user?per_page=3&access_token=s3cret")
    login = {"client_id": CLIENT_ID, "client_secret": "s3cret", "code": "s3cret"}
    httpx2.post(f"{double.url}/login/oauth/access_token", data=login)
    created, asked, exchanged = double.requests()[-3:]
    assert (created.method, created.path, created.status) == ("POST", "/api/v3/repos/octo/hello/hooks", 201)
    assert created.body == {"config": {"url": "http://127.0.0.1:9/", "secret": "***"}}
    assert (created.login, asked.query) == ("octo", {"per_page": "3", "access_token": "***"})
    assert exchanged.body == {"client_id": CLIENT_ID, "client_secret": "***", "code": "***"}
    shown = call(double, "requests").text
    assert "s3cret" not in shown
    assert token not in shown


def test_down_closes_the_connection(recovered: Control, octo: httpx2.Client):
    recovered.fail("down", path="/api/v3/user", times=2)
    for _ in range(2):
        with pytest.raises(httpx2.RemoteProtocolError):
            octo.get("/user")
    assert octo.get("/user").status_code == 200
    assert [each.fault for each in recovered.requests()][-3:] == ["down", "down", None]


def test_errors_are_those_of_a_broken_github(recovered: Control, octo: httpx2.Client):
    recovered.fail("500", times=1)
    assert octo.get("/user").json()["message"] == "Server Error"
    recovered.fail("502", times=1)
    assert octo.get("/user").headers["content-type"].startswith("text/html")
    recovered.fail("rate_limited", times=1)
    limited = octo.get("/user")
    assert (limited.status_code, limited.headers["x-ratelimit-remaining"]) == (403, "0")
    recovered.fail("secondary_limit", times=1, retry_after_s=7)
    slowed = octo.get("/user")
    assert (slowed.status_code, slowed.headers["retry-after"]) == (429, "7")
    assert "secondary rate limit" in slowed.json()["message"]


def test_fault_affects_only_its_path_and_method_until_recovery(recovered: Control, octo: httpx2.Client):
    recovered.fail("500", path="/octo/hello.git/*")
    recovered.fail("500", path="/api/v3/user*", method="POST")
    assert httpx2.get(f"{recovered.url}/octo/hello.git/info/refs?service=git-upload-pack").status_code == 500
    assert octo.get("/user").status_code == 200
    assert octo.post("/user/repos", json={}).status_code == 500
    recovered.recover()
    assert octo.post("/user/repos", json={}).status_code == 422


def test_slow_response_comes_late_but_does_not_delay_the_end(tmp_path: Path):
    with open_github_double(tmp_path) as double:
        double.fail("slow", delay_s=0.1, times=1)
        assert httpx2.get(f"{double.url}/api/v3/meta").status_code == 200
        double.fail("slow", delay_s=3600)
        waiting = threading.Thread(target=lambda: httpx2.get(f"{double.url}/api/v3/meta", timeout=None))
        waiting.start()
        while len(double.requests()) < 2:  # until it has arrived
            pass
    waiting.join()


def test_other_hosts_are_refused(double: Control):
    assert httpx2.get(f"{double.url}/api/v3/meta", headers={"host": "github.example"}).status_code == 400
