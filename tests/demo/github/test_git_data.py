"""The Git Data API: the same objects and ids as git makes itself."""

from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.support.github import Control
from tests.support.repositories import Repository, make_repository

ROOT = "/repos/octo/data/git"
PERSON = {"name": "Ada", "email": "ada@example.com", "date": "2026-03-01T12:00:00+01:00"}


@pytest.fixture(scope="module", autouse=True)
def start(double: Control, octo: httpx2.Client) -> str:
    double.add_repository(
        "octo/data", files={"README.md": "# data\n", "src/a.py": "A = 1\n", "src/b.py": "B = 2\n"}
    )
    return octo.get(f"{ROOT}/ref/heads/main").json()["object"]["sha"]


def create(octo: httpx2.Client, what: str, **body: Any) -> str:
    response = octo.post(f"{ROOT}/{what}", json=body)
    assert response.status_code == 201, response.text
    return response.json()["sha"]


def refused(octo: httpx2.Client, what: str, **body: Any) -> tuple[int, str]:
    response = octo.post(f"{ROOT}/{what}", json=body)
    return response.status_code, response.json()["message"]


@pytest.fixture
def local(double: Control, tmp_path: Path) -> Repository:
    make_repository(tmp_path / "local").git("pull", "--quiet", f"{double.url}/octo/data.git", "main")
    return Repository(tmp_path / "local")


def test_tree_and_commit_are_those_of_git(octo: httpx2.Client, start: str, local: Repository):
    local.write({"src/c.py": "C = 3\n", "bin/run": "#!/bin/sh\n", "data.bin": b"\0\xff"})
    (local.path / "bin/run").chmod(0o755)
    (local.path / "src/b.py").unlink()
    local.git("add", "--all")
    expected_tree = local.git("write-tree")
    environment = "GIT_AUTHOR_DATE=2026-03-01T12:00:00+01:00 GIT_COMMITTER_DATE=2026-03-01T12:00:00+01:00"
    expected = local.git(
        "-c", f"alias.c=!{environment} git commit-tree", "c", expected_tree, "-p", start, "-m", "More"
    )

    binary = create(octo, "blobs", content=b64encode(b"\0\xff").decode(), encoding="base64")
    entries = [
        {"path": "src/c.py", "mode": "100644", "type": "blob", "content": "C = 3\n"},
        {"path": "bin/run", "mode": "100755", "type": "blob", "content": "#!/bin/sh\n"},
        {"path": "data.bin", "mode": "100644", "type": "blob", "sha": binary},
        {"path": "src/b.py", "mode": "100644", "type": "blob", "sha": None},
    ]
    tree = create(octo, "trees", base_tree=start, tree=entries)
    commit = create(octo, "commits", message="More\n", tree=tree, parents=[start], author=PERSON)
    assert (tree, commit) == (expected_tree, expected)

    moved = octo.patch(f"{ROOT}/refs/heads/main", json={"sha": commit, "force": False})
    assert (moved.status_code, moved.json()["object"]["sha"]) == (200, commit)
    back = octo.patch(f"{ROOT}/refs/heads/main", json={"sha": start})
    assert (back.status_code, back.json()["message"]) == (422, "Update is not a fast forward")
    assert octo.patch(f"{ROOT}/refs/heads/main", json={"sha": start, "force": True}).status_code == 200


def test_tree_can_take_and_replace_folders(octo: httpx2.Client, start: str):
    source = octo.get(f"{ROOT}/trees/{start}").json()
    src = next(each for each in source["tree"] if each["path"] == "src")
    tree = create(
        octo,
        "trees",
        base_tree=start,
        tree=[
            {"path": "copy", "mode": "040000", "type": "tree", "sha": src["sha"]},
            {"path": "src", "mode": "100644", "type": "blob", "content": "now a file\n"},
        ],
    )
    listed = octo.get(f"{ROOT}/trees/{tree}?recursive=1").json()
    kinds = {each["path"]: each["type"] for each in listed["tree"]}
    assert kinds == {
        "README.md": "blob",
        "copy": "tree",
        "copy/a.py": "blob",
        "copy/b.py": "blob",
        "src": "blob",
    }
    assert listed["truncated"] is False


def test_blob_comes_back_as_base64_or_raw(octo: httpx2.Client):
    sha = create(octo, "blobs", content="Grüße\n")
    blob = octo.get(f"{ROOT}/blobs/{sha}").json()
    assert (b64decode(blob["content"]).decode(), blob["size"]) == ("Grüße\n", 8)
    raw = octo.get(f"{ROOT}/blobs/{sha}", headers={"accept": "application/vnd.github.raw"})
    assert raw.text == "Grüße\n"
    assert octo.get(f"{ROOT}/blobs/{'1' * 40}").status_code == 404


def test_commit_defaults_to_the_user_and_keeps_the_message(octo: httpx2.Client, start: str):
    tree = octo.get(f"{ROOT}/commits/{start}").json()["tree"]["sha"]
    sha = create(octo, "commits", message="One\n\nTwo", tree=tree)
    commit = octo.get(f"{ROOT}/commits/{sha}").json()
    assert (commit["author"]["name"], commit["message"], commit["parents"]) == ("Octo Cat", "One\n\nTwo", [])


def test_refs_are_created_listed_and_deleted(octo: httpx2.Client, start: str):
    made = octo.post(f"{ROOT}/refs", json={"ref": "refs/heads/feature/x", "sha": start})
    assert (made.status_code, made.json()["ref"]) == (201, "refs/heads/feature/x")
    found = octo.get(f"{ROOT}/matching-refs/heads/feature").json()
    assert [each["ref"] for each in found] == ["refs/heads/feature/x"]
    assert octo.get(f"{ROOT}/ref/heads/feature").status_code == 404
    assert octo.delete(f"{ROOT}/refs/heads/feature/x").status_code == 204
    assert octo.delete(f"{ROOT}/refs/heads/feature/x").json()["message"] == "Reference does not exist"
    assert octo.delete(f"{ROOT}/refs/heads/main").status_code == 422
    assert (
        octo.patch(f"{ROOT}/refs/heads/none", json={"sha": start}).json()["message"]
        == "Reference does not exist"
    )


def test_wrong_objects_are_422(octo: httpx2.Client, start: str):
    def entry(**changed: Any) -> dict[str, Any]:
        return {"path": "x", "mode": "100644", "type": "blob", "content": "x", **changed}

    assert refused(octo, "refs", ref="refs/heads/main", sha=start) == (422, "Reference already exists")
    assert refused(octo, "refs", ref="refs/heads/y", sha="1" * 40) == (422, "Object does not exist")
    assert refused(octo, "refs", ref="main", sha=start)[0] == 422
    assert refused(octo, "refs", ref="refs/heads/a..b", sha=start)[0] == 422
    assert refused(octo, "commits", message="x", tree="1" * 40) == (422, "Tree SHA does not exist")
    assert refused(octo, "commits", message="x", tree=start, parents=["1" * 40])[0] == 422
    assert refused(octo, "blobs", content="%", encoding="base64")[0] == 422
    assert refused(octo, "trees", tree=[entry(mode="777")]) == (422, "Must supply a valid tree.mode")
    for path in ("/x", "a/../b", ".git/config", "a//b"):
        message = "tree.path contains a malformed path component"
        assert refused(octo, "trees", tree=[entry(path=path)]) == (422, message)
    no_content = {"path": "x", "mode": "100644", "type": "blob", "sha": "1" * 40}
    assert refused(octo, "trees", tree=[no_content])[0] == 422
    assert refused(octo, "trees", tree=[entry()], base_tree="1" * 40)[0] == 422


def test_empty_repository_is_409(double: Control, octo: httpx2.Client):
    double.add_repository("octo/nothing")
    answer = octo.post("/repos/octo/nothing/git/blobs", json={"content": "x"})
    assert (answer.status_code, answer.json()["message"]) == (409, "Git Repository is empty.")
    assert octo.get("/repos/octo/nothing/git/ref/heads/main").status_code == 409


def test_protected_branch_refuses_ref_updates(octo: httpx2.Client, start: str):
    protection = {"required_status_checks": None, "enforce_admins": True, "restrictions": None}
    reviews = protection | {"required_pull_request_reviews": {}}
    octo.post(f"{ROOT}/refs", json={"ref": "refs/heads/guarded", "sha": start})
    assert octo.put("/repos/octo/data/branches/guarded/protection", json=reviews).status_code == 200
    tree = octo.get(f"{ROOT}/commits/{start}").json()["tree"]["sha"]
    commit = create(octo, "commits", message="x", tree=tree, parents=[start])
    answer = octo.patch(f"{ROOT}/refs/heads/guarded", json={"sha": commit})
    assert (answer.status_code, answer.json()["message"]) == (
        422,
        "Changes must be made through a pull request.",
    )
    assert octo.delete(f"{ROOT}/refs/heads/guarded").json()["message"] == "Cannot delete this branch"
