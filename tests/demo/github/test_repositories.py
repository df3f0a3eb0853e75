"""Repositories: who sees them, creating and deleting them, lists in pages."""

import httpx2
import pytest
from tests.demo.github.conftest import OpenApi
from tests.support.github import Control


def names(answer: httpx2.Response) -> list[str]:
    return [each["full_name"] for each in answer.json()]


def test_repository_has_metadata_and_permissions(double: Control, octo: httpx2.Client):
    found = octo.get("/repos/acme/shop").json()
    assert (found["private"], found["visibility"], found["default_branch"]) == (True, "private", "main")
    assert found["clone_url"] == f"{double.url}/acme/shop.git"
    assert found["permissions"] == {
        "admin": True,
        "maintain": True,
        "push": True,
        "triage": True,
        "pull": True,
    }
    assert octo.get(f"/repositories/{found['id']}").json() == found
    assert octo.get("/repos/ACME/Shop").json()["id"] == found["id"]


def test_private_repository_is_404_for_those_who_cannot_see_it(
    double: Control, anonymous: httpx2.Client, client_with: OpenApi
):
    double.add_user("outsider")
    shop = client_with(scopes=["repo"]).get("/repos/acme/shop").json()["id"]
    refused = [
        anonymous,
        client_with("outsider", scopes=["repo"]),
        client_with(scopes=["public_repo"]),
        client_with(permissions={"metadata": "read"}, repositories=["octo/hello"]),
    ]
    for client in refused:
        assert client.get("/repos/acme/shop").status_code == 404
        assert client.get(f"/repositories/{shop}").status_code == 404
        assert client.get("/repos/octo/hello").status_code == 200


def test_collaborators_have_their_role(double: Control, client_with: OpenApi):
    double.add_user("writer")
    double.change_repository("acme/shop", collaborators={"writer": "push"})
    permissions = client_with("writer", scopes=["repo"]).get("/repos/acme/shop").json()["permissions"]
    assert (permissions["admin"], permissions["push"], permissions["pull"]) == (False, True, True)


def test_list_is_filtered_sorted_and_cut_into_pages(double: Control, client_with: OpenApi):
    double.add_user("lister")
    for number in range(5):
        double.add_repository(f"lister/r{number}", private=number == 0, files={"a": "1"})
    double.push("lister/r2", {"a": "2"})
    client = client_with("lister", scopes=["repo"])
    assert names(client.get("/user/repos")) == [f"lister/r{number}" for number in range(5)]
    assert names(client.get("/user/repos?sort=pushed"))[0] == "lister/r2"
    assert names(client.get("/user/repos?sort=created&direction=asc"))[0] == "lister/r0"
    assert names(client.get("/user/repos?visibility=private")) == ["lister/r0"]
    assert names(client.get("/user/repos?affiliation=collaborator")) == []
    assert names(client_with("lister", scopes=[]).get("/user/repos")) == [
        f"lister/r{number}" for number in range(1, 5)
    ]
    chosen = client_with("lister", permissions={"contents": "read"}, repositories=["lister/r3"])
    assert names(chosen.get("/user/repos")) == ["lister/r3"]
    assert client.get("/user/repos?sort=stars").status_code == 422

    pages = [client.get("/user/repos?per_page=2")]
    while "next" in pages[-1].links:
        pages.append(client.get(pages[-1].links["next"]["url"]))
    assert [names(page) for page in pages] == [
        ["lister/r0", "lister/r1"],
        ["lister/r2", "lister/r3"],
        ["lister/r4"],
    ]
    assert set(pages[1].links) == {"prev", "next", "last", "first"}
    assert set(pages[2].links) == {"prev", "first"}


def test_repository_is_created_empty_or_with_a_readme(octo: httpx2.Client):
    empty = octo.post("/user/repos", json={"name": "bare", "private": True, "description": "Empty."})
    assert (empty.status_code, empty.json()["full_name"], empty.json()["private"]) == (201, "octo/bare", True)
    assert octo.get("/repos/octo/bare/branches").json() == []
    assert octo.get("/repos/octo/bare/commits").json()["message"] == "Git Repository is empty."
    octo.post("/user/repos", json={"name": "filled", "auto_init": True})
    [commit] = octo.get("/repos/octo/filled/commits").json()
    assert (commit["commit"]["message"], commit["author"]["login"]) == ("Initial commit", "octo")


def test_name_is_cleaned_or_refused(octo: httpx2.Client):
    assert octo.post("/user/repos", json={"name": "my new app!"}).json()["name"] == "my-new-app-"
    taken = octo.post("/user/repos", json={"name": "Hello"})
    assert taken.status_code == 422
    assert taken.json()["errors"] == [
        {
            "resource": "Repository",
            "code": "custom",
            "field": "name",
            "message": "name already exists on this account",
        }
    ]
    for name in ("", "x" * 101, "..", "site.git"):
        refused = octo.post("/user/repos", json={"name": name})
        assert (refused.status_code, refused.json()["message"]) == (422, "Repository creation failed.")


def test_creating_needs_scope_or_permission(client_with: OpenApi):
    public_only = client_with(scopes=["public_repo"])
    assert public_only.post("/user/repos", json={"name": "secret", "private": True}).status_code == 404
    assert public_only.post("/user/repos", json={"name": "open"}).status_code == 201
    refused = client_with(permissions={"contents": "write"}).post("/user/repos", json={"name": "no"})
    assert refused.headers["x-accepted-github-permissions"] == "administration=write"
    assert refused.json()["message"] == "Resource not accessible by personal access token"
    allowed = client_with(permissions={"administration": "write"}, repositories=[])
    assert allowed.post("/user/repos", json={"name": "chosen"}).status_code == 201
    assert allowed.get("/user/repos").json()[0]["name"] == "chosen"


def test_deleting_needs_its_own_scope(double: Control, client_with: OpenApi, octo: httpx2.Client):
    double.add_repository("octo/doomed", files={"a": "1"})
    refused = client_with(scopes=["repo"]).delete("/repos/octo/doomed")
    assert (refused.status_code, refused.json()["message"]) == (403, "Must have admin rights to Repository.")
    assert octo.delete("/repos/octo/doomed").status_code == 204
    assert octo.get("/repos/octo/doomed").status_code == 404


def test_renamed_repository_redirects_by_id(double: Control, octo: httpx2.Client):
    double.add_repository("octo/first", files={"a": "1"})
    double.change_repository("octo/first", name="second")
    moved = octo.get("/repos/octo/first/branches/main")
    assert (moved.status_code, moved.json()["message"]) == (301, "Moved Permanently")
    assert octo.get(moved.headers["location"]).json()["name"] == "main"
    double.add_repository("octo/first")
    assert octo.get("/repos/octo/first").json()["name"] == "first"


@pytest.mark.parametrize("path", ["/repos/octo/stored/statuses/{sha}", "/repos/octo/stored/git/blobs"])
def test_archived_repository_is_read_only(double: Control, octo: httpx2.Client, path: str):
    if octo.get("/repos/octo/stored").status_code == 404:
        double.add_repository("octo/stored", files={"a": "1"})
        double.change_repository("octo/stored", archived=True)
    refused = octo.post(path, json={})
    assert (refused.status_code, refused.json()["message"]) == (
        403,
        "Repository was archived so is read-only.",
    )
