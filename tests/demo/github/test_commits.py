"""Branches, commits, comparisons, files and statuses through the API."""

from base64 import b64decode

import httpx2
import pytest
from tests.demo.github.conftest import OpenApi
from tests.support.github import Control

ROOT = "/repos/octo/code"


@pytest.fixture(scope="module", autouse=True)
def commits(double: Control) -> list[str]:
    """Two commits on main, and one on `topic/a` that starts at the first."""
    files = {"README.md": "# code\n", "src/app.py": "A = 1\n"}
    first = double.add_repository("octo/code", files=files)
    start = httpx2.get(f"{double.url}/api/v3{ROOT}/commits/main").json()["sha"]
    assert first.default_branch == "main"
    second = double.push(
        "octo/code", {"src/app.py": "A = 2\nB = 3\n", "README.md": None}, message="Second\n\nWhy."
    )
    third = double.push(
        "octo/code", {"src/new.py": "C = 4\n"}, branch="topic/a", parent=start, message="Third"
    )
    return [start, second, third]


def test_branches_are_listed_and_found(octo: httpx2.Client, commits: list[str]):
    listed = {each["name"]: each["commit"]["sha"] for each in octo.get(f"{ROOT}/branches").json()}
    assert listed == {"main": commits[1], "topic/a": commits[2]}
    branch = octo.get(f"{ROOT}/branches/topic/a").json()
    assert (branch["commit"]["commit"]["message"], branch["protected"]) == ("Third", False)
    missing = octo.get(f"{ROOT}/branches/nothing")
    assert (missing.status_code, missing.json()["message"]) == (404, "Branch not found")


def test_commits_are_listed_by_branch_and_path(octo: httpx2.Client, commits: list[str]):
    def shas(query: str) -> list[str]:
        return [each["sha"] for each in octo.get(f"{ROOT}/commits{query}").json()]

    assert shas("") == [commits[1], commits[0]]
    assert shas("?sha=topic/a") == [commits[2], commits[0]]
    assert shas("?sha=topic/a&path=src/new.py") == [commits[2]]
    assert octo.get(f"{ROOT}/commits?sha=nothing").status_code == 404


def test_commit_has_files_and_numbers(octo: httpx2.Client, commits: list[str]):
    commit = octo.get(f"{ROOT}/commits/main").json()
    assert (commit["sha"], commit["commit"]["message"]) == (commits[1], "Second\n\nWhy.")
    assert commit["stats"] == {"total": 4, "additions": 2, "deletions": 2}
    assert {each["filename"]: each["status"] for each in commit["files"]} == {
        "README.md": "removed",
        "src/app.py": "modified",
    }
    sha = octo.get(f"{ROOT}/commits/topic/a", headers={"accept": "application/vnd.github.sha"})
    assert sha.text == commits[2]
    missing = octo.get(f"{ROOT}/commits/{'1' * 40}")
    assert (missing.status_code, missing.json()["message"]) == (422, f"No commit found for SHA: {'1' * 40}")


def test_comparison_tells_how_far_apart_two_commits_are(octo: httpx2.Client, commits: list[str]):
    compared = octo.get(f"{ROOT}/compare/main...topic/a").json()
    assert (compared["status"], compared["ahead_by"], compared["behind_by"]) == ("diverged", 1, 1)
    assert compared["merge_base_commit"]["sha"] == commits[0]
    assert [each["sha"] for each in compared["commits"]] == [commits[2]]
    assert [each["filename"] for each in compared["files"]] == ["src/new.py"]
    assert octo.get(f"{ROOT}/compare/{commits[0]}...main").json()["status"] == "ahead"
    assert octo.get(f"{ROOT}/compare/main...{commits[0]}").json()["status"] == "behind"
    assert octo.get(f"{ROOT}/compare/main...main").json()["status"] == "identical"
    assert octo.get(f"{ROOT}/compare/main...nothing").status_code == 404


def test_contents_are_files_and_folders(double: Control, octo: httpx2.Client):
    file = octo.get(f"{ROOT}/contents/src/app.py").json()
    assert (b64decode(file["content"]), file["encoding"], file["type"]) == (
        b"A = 2\nB = 3\n",
        "base64",
        "file",
    )
    assert [each["path"] for each in octo.get(f"{ROOT}/contents/src?ref=topic/a").json()] == [
        "src/app.py",
        "src/new.py",
    ]
    assert [each["type"] for each in octo.get(f"{ROOT}/contents").json()] == ["dir"]
    raw = octo.get(f"{ROOT}/contents/src/app.py", headers={"accept": "application/vnd.github.raw+json"})
    assert raw.content == b"A = 2\nB = 3\n"
    assert octo.get(f"{ROOT}/contents/nothing").status_code == 404
    assert octo.get(f"{ROOT}/contents/src?ref=nothing").status_code == 404
    double.add_repository("octo/void")
    assert octo.get("/repos/octo/void/contents/x").json()["message"] == "This repository is empty."


def test_statuses_combine_by_context(octo: httpx2.Client, commits: list[str]):
    sha = commits[2]
    assert octo.get(f"{ROOT}/commits/topic/a/status").json()["state"] == "pending"
    for state, context in (("pending", "forge"), ("success", "forge"), ("success", "lint")):
        body = {
            "state": state,
            "context": context,
            "target_url": "http://127.0.0.1/x",
            "description": "Said so.",
        }
        made = octo.post(f"{ROOT}/statuses/{sha}", json=body)
        assert (made.status_code, made.json()["creator"]["login"]) == (201, "octo")
    combined = octo.get(f"{ROOT}/commits/topic/a/status").json()
    assert (combined["state"], combined["total_count"], combined["sha"]) == ("success", 2, sha)
    octo.post(f"{ROOT}/statuses/{sha}", json={"state": "error", "context": "lint"})
    assert octo.get(f"{ROOT}/commits/{sha}/status").json()["state"] == "failure"
    listed = octo.get(f"{ROOT}/commits/{sha}/statuses").json()
    assert [each["state"] for each in listed] == ["error", "success", "success", "pending"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "state"),
        ({"state": "great"}, "not included in the list"),
        ({"state": "success", "description": "x" * 141}, "too long (maximum is 140 characters)"),
    ],
)
def test_wrong_status_is_422(octo: httpx2.Client, commits: list[str], body: dict[str, str], message: str):
    refused = octo.post(f"{ROOT}/statuses/{commits[0]}", json=body)
    assert refused.status_code == 422
    assert message in refused.text


def test_status_of_unknown_commit_is_422(octo: httpx2.Client):
    refused = octo.post(f"{ROOT}/statuses/{'1' * 40}", json={"state": "success"})
    assert refused.json()["message"] == f"No commit found for SHA: {'1' * 40}"


def test_status_needs_scope_permission_and_push_access(
    double: Control, client_with: OpenApi, commits: list[str]
):
    double.add_user("visitor")
    url, body = f"{ROOT}/statuses/{commits[0]}", {"state": "success"}
    assert client_with(scopes=["repo:status"]).post(url, json=body).status_code == 201
    assert client_with(permissions={"statuses": "write"}).post(url, json=body).status_code == 201
    assert client_with(scopes=["read:user"]).post(url, json=body).status_code == 404
    assert client_with("visitor", scopes=["repo"]).post(url, json=body).status_code == 404
    refused = client_with(permissions={"contents": "write"}).post(url, json=body)
    assert (refused.status_code, refused.headers["x-accepted-github-permissions"]) == (403, "statuses=write")


def test_protection_is_set_shown_and_removed(double: Control, octo: httpx2.Client, client_with: OpenApi):
    url = f"{ROOT}/branches/main/protection"
    assert octo.get(url).json()["message"] == "Branch not protected"
    settings = {"required_status_checks": {"strict": True, "contexts": ["forge"]}, "enforce_admins": True}
    incomplete = octo.put(url, json=settings)
    assert (incomplete.status_code, "weren't supplied" in incomplete.text) == (422, True)
    settings |= {"required_pull_request_reviews": None, "restrictions": None}
    assert octo.put(url, json=settings).json()["required_status_checks"]["contexts"] == ["forge"]
    assert [each["name"] for each in octo.get(f"{ROOT}/branches?protected=true").json()] == ["main"]
    double.add_user("pusher")
    double.change_repository("octo/code", collaborators={"pusher": "push"})
    assert client_with("pusher", scopes=["repo"]).get(url).status_code == 404
    assert octo.put(url, json=settings | {"restrictions": {"users": [], "teams": []}}).status_code == 422
    assert octo.delete(url).status_code == 204
    assert octo.delete(url).status_code == 404
