"""Answers of the double are valid by GitHub's own OpenAPI description, which npm has in a package of 28 MB."""

import json
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import httpx2
import jsonschema_rs
import pytest
from tests.support.github import CLIENT_ID, CLIENT_SECRET, Control

pytestmark = pytest.mark.full
ROOT = Path(__file__).parents[3]
PACKAGE = "@octokit/openapi@23.0.2"
DESCRIPTION = "package/generated/api.github.com.json"


@pytest.fixture(scope="module")
def description(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("openapi")
    command = [
        sys.executable,
        ROOT / "scripts/node.py",
        "pack",
        "--silent",
        "--pack-destination",
        folder,
        PACKAGE,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"npm cannot fetch {PACKAGE}: {done.stderr.strip()[-200:]}")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        file = archive.extractfile(DESCRIPTION)
        assert file is not None
        return json.load(file)


def as_json_schema(node: Any) -> Any:
    """Translate `nullable` of OpenAPI 3.0 into JSON Schema."""
    if isinstance(node, list):
        return [as_json_schema(each) for each in node]
    if not isinstance(node, dict):
        return node
    changed = {name: as_json_schema(each) for name, each in node.items() if name != "nullable"}
    return {"anyOf": [changed, {"type": "null"}]} if node.get("nullable") is True else changed


PROTECTION = {
    "required_status_checks": {"strict": True, "contexts": ["x"]},
    "enforce_admins": True,
    "required_pull_request_reviews": {},
    "restrictions": None,
}
OPERATIONS: list[tuple[str, str, dict[str, Any] | None]] = [
    ("GET", "/user", None),
    ("GET", "/users/{username}", None),
    ("GET", "/user/orgs", None),
    ("GET", "/user/memberships/orgs", None),
    ("GET", "/orgs/{org}/members/{username}", None),
    ("GET", "/rate_limit", None),
    ("GET", "/meta", None),
    ("GET", "/user/repos", None),
    ("POST", "/user/repos", {"name": "made", "auto_init": True}),
    ("GET", "/repos/{owner}/{repo}", None),
    ("GET", "/repos/{owner}/{repo}/branches", None),
    ("PUT", "/repos/{owner}/{repo}/branches/{branch}/protection", PROTECTION),
    ("GET", "/repos/{owner}/{repo}/branches/{branch}/protection", None),
    ("GET", "/repos/{owner}/{repo}/branches/{branch}", None),
    ("DELETE", "/repos/{owner}/{repo}/branches/{branch}/protection", None),
    ("GET", "/repos/{owner}/{repo}/commits", None),
    ("GET", "/repos/{owner}/{repo}/commits/{ref}", None),
    ("GET", "/repos/{owner}/{repo}/compare/{basehead}", None),
    ("GET", "/repos/{owner}/{repo}/contents/{path}", None),
    ("POST", "/repos/{owner}/{repo}/statuses/{sha}", {"state": "success", "description": "x", "context": "forge"}),
    ("GET", "/repos/{owner}/{repo}/commits/{ref}/status", None),
    ("GET", "/repos/{owner}/{repo}/commits/{ref}/statuses", None),
    ("GET", "/repos/{owner}/{repo}/git/ref/{ref}", None),
    ("GET", "/repos/{owner}/{repo}/git/matching-refs/{ref}", None),
    ("POST", "/repos/{owner}/{repo}/git/refs", {"ref": "refs/heads/new", "sha": "{sha}"}),
    ("PATCH", "/repos/{owner}/{repo}/git/refs/{ref}", {"sha": "{sha}"}),
    ("POST", "/repos/{owner}/{repo}/git/blobs", {"content": "x"}),
    ("GET", "/repos/{owner}/{repo}/git/blobs/{file_sha}", None),
    ("POST", "/repos/{owner}/{repo}/git/trees", {
        "tree": [{"path": "a/b", "mode": "100644", "type": "blob", "content": "x"}]
    }),
    ("GET", "/repos/{owner}/{repo}/git/trees/{tree_sha}", None),
    ("POST", "/repos/{owner}/{repo}/git/commits", {"message": "x", "tree": "{tree_sha}", "parents": ["{sha}"]}),
    ("GET", "/repos/{owner}/{repo}/git/commits/{commit_sha}", None),
    ("GET", "/repos/{owner}/{repo}/hooks", None),
    ("POST", "/repos/{owner}/{repo}/hooks", {"config": {"url": "http://127.0.0.1:9/new", "secret": "x"}}),
    ("GET", "/repos/{owner}/{repo}/hooks/{hook_id}", None),
    ("PATCH", "/repos/{owner}/{repo}/hooks/{hook_id}", {"active": True}),
    ("POST", "/repos/{owner}/{repo}/hooks/{hook_id}/pings", None),
    ("GET", "/repos/{owner}/{repo}/hooks/{hook_id}/deliveries", None),
    ("GET", "/repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}", None),
    ("POST", "/repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}/attempts", None),
    ("DELETE", "/repos/{owner}/{repo}/hooks/{hook_id}", None),
    ("DELETE", "/repos/{owner}/{repo}", None),
]  # fmt: skip


@pytest.fixture(scope="module")
def values(double: Control, octo: httpx2.Client) -> dict[str, str]:
    sha = double.push("acme/shop", {"new.py": "N = 1\n"}, branch="topic")
    hook = octo.post("/repos/acme/shop/hooks", json={"config": {"url": "http://127.0.0.1:9/"}}).json()
    double.push("acme/shop", {"more.py": "M = 1\n"})
    octo.put("/repos/acme/shop/branches/main/protection", json=PROTECTION)
    double.wait_for_deliveries()
    delivery = octo.get(f"/repos/acme/shop/hooks/{hook['id']}/deliveries").json()[0]
    tree = octo.get(f"/repos/acme/shop/git/commits/{sha}").json()["tree"]["sha"]
    file = next(each["sha"] for each in octo.get(f"/repos/acme/shop/git/trees/{tree}").json()["tree"])
    return {
        "owner": "acme", "repo": "shop", "username": "octo", "org": "acme", "branch": "main", "path": "shop.py",
        "ref": "heads/topic", "sha": sha, "commit_sha": sha, "basehead": "main...topic", "file_sha": file,
        "hook_id": str(hook["id"]), "delivery_id": str(delivery["id"]), "tree_sha": tree,
    }  # fmt: skip


def filled(text: str, values: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: values[found[1]], text)


@pytest.mark.parametrize(
    ("method", "path", "body"), OPERATIONS, ids=[f"{each[0]} {each[1]}" for each in OPERATIONS]
)
def test_answer_is_valid_by_githubs_description(
    description: dict[str, Any],
    octo: httpx2.Client,
    values: dict[str, str],
    method: str,
    path: str,
    body: dict[str, Any] | None,
):
    target = filled(path, values).replace("/commits/heads/topic", "/commits/topic")
    content = (
        json.dumps(body).replace("{sha}", values["sha"]).replace("{tree_sha}", values["tree_sha"])
        if body
        else None
    )
    response = octo.request(method, target, content=content)
    assert response.is_success, response.text
    declared = description["paths"][path][method.lower()]["responses"]
    assert str(response.status_code) in declared
    answer = declared[str(response.status_code)]
    if "$ref" in answer:
        answer = description["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    if "content" not in answer:
        assert response.content == b""
        return
    schema = as_json_schema(answer["content"]["application/json"]["schema"])
    whole = {**schema, "components": {"schemas": as_json_schema(description["components"]["schemas"])}}
    errors = jsonschema_rs.validator_for(whole).iter_errors(response.json())
    assert [f"{error.instance_path}: {error.message[:200]}" for error in errors] == []


def test_revoked_token_is_answered_as_described(description: dict[str, Any], double: Control):
    path = "/applications/{client_id}/token"
    url, auth = f"{double.url}/api/v3/applications/{CLIENT_ID}/token", (CLIENT_ID, CLIENT_SECRET)
    answer = httpx2.request("DELETE", url, json={"access_token": "x"}, auth=auth)
    assert str(answer.status_code) in {*description["paths"][path]["delete"]["responses"], "404"}
