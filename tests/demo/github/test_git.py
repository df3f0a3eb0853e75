"""Clone, fetch and push with the installed git."""

import subprocess
from pathlib import Path

import httpx2
import pytest
from tests.support.github import Control
from tests.support.repositories import Repository


def clone(double: Control, token: str | None, full_name: str, folder: Path, *options: str) -> Repository:
    login = f"x-access-token:{token}@" if token else ""
    url = double.url.replace("http://", f"http://{login}")
    folder.mkdir(exist_ok=True)
    Repository(folder).git("clone", "--quiet", *options, f"{url}/{full_name}.git", "clone")
    return Repository(folder / "clone")


@pytest.fixture
def token(double: Control) -> str:
    return double.add_token("octo", scopes=["repo"]).value


def failure(repository: Repository, *arguments: str) -> str:
    """Run a git command that must fail and return what it printed."""
    command = ["git", *arguments]
    env = {"PATH": "/usr/bin:/bin", "GIT_TERMINAL_PROMPT": "0", "HOME": str(repository.path)}
    done = subprocess.run(command, cwd=repository.path, env=env, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    return done.stderr


def test_public_repository_is_cloned_without_a_token(double: Control, tmp_path: Path):
    clone_ = clone(double, None, "octo/hello", tmp_path)
    assert (clone_.path / "README.md").read_text() == "# hello\n"
    assert clone_.git("rev-parse", "--abbrev-ref", "HEAD") == "main"


def test_private_repository_needs_a_token_that_may_read_it(double: Control, token: str, tmp_path: Path):
    here = Repository(tmp_path)
    url = double.url + "/acme/shop.git"
    assert "could not read Username" in failure(here, "clone", url, "x")
    assert (
        httpx2.get(f"{url}/info/refs?service=git-upload-pack").headers["www-authenticate"].startswith("Basic")
    )
    with_login = url.replace("http://", "http://octo:{}@")
    assert "Authentication failed" in failure(here, "clone", with_login.format("wrong"), "x")
    double.add_user("stranger")
    others = double.add_token("stranger", scopes=["repo"]).value
    assert "not found" in failure(here, "clone", with_login.format(others), "x")
    no_scope = double.add_token("octo", scopes=["read:user"]).value
    assert "not found" in failure(here, "clone", with_login.format(no_scope), "x")
    no_contents = double.add_token("octo", permissions={"issues": "read"}).value
    assert "403" in failure(here, "clone", with_login.format(no_contents), "x")
    assert (clone(double, token, "acme/shop", tmp_path).path / "shop.py").exists()


def test_push_and_fetch_move_the_same_commits(double: Control, token: str, tmp_path: Path):
    double.add_repository("octo/pushed", files={"a.txt": "1\n"})
    first = clone(double, token, "octo/pushed", tmp_path / "1")
    second = clone(double, token, "octo/pushed", tmp_path / "2")
    sha = first.commit({"b.txt": "2\n", "large.bin": b"x" * 3_000_000})  # chunked upload
    first.git("push", "--quiet", "origin", "main", "HEAD:refs/heads/feature")
    second.git("fetch", "--quiet")
    assert second.git("rev-parse", "origin/main", "origin/feature").split() == [sha, sha]


def test_empty_repository_takes_the_first_push(double: Control, token: str, tmp_path: Path):
    double.add_repository("octo/empty")
    empty = clone(double, token, "octo/empty", tmp_path)
    empty.git("checkout", "--quiet", "-b", "main")
    sha = empty.commit({"a": "1"})
    empty.git("push", "--quiet", "origin", "main")
    assert sha in empty.git("ls-remote", "origin", "refs/heads/main")


def test_partial_clone_fetches_blobs_on_demand(double: Control, token: str, tmp_path: Path):
    cut = clone(double, token, "octo/hello", tmp_path, "--depth", "1", "--filter=blob:none", "--no-checkout")
    assert cut.git("rev-list", "--objects", "--missing=print", "HEAD").count("?") == 2
    cut.git("checkout", "--quiet", "main")
    assert (cut.path / "hello.py").exists()


def test_push_needs_a_token_that_may_write(double: Control, tmp_path: Path):
    double.add_user("reader")
    read_only = double.add_token("octo", permissions={"contents": "read"}).value
    for token in (read_only, double.add_token("reader", scopes=["repo"]).value):
        repository = clone(double, token, "octo/hello", tmp_path / token)
        repository.commit({"x": "1"})
        assert "403" in failure(repository, "push", "origin", "main")
    anonymous = clone(double, None, "octo/hello", tmp_path / "anonymous")
    anonymous.commit({"x": "1"})
    assert "could not read Username" in failure(anonymous, "push", "origin", "main")


def test_archived_repository_refuses_pushes(double: Control, token: str, tmp_path: Path):
    double.add_repository("octo/old", files={"a": "1"})
    repository = clone(double, token, "octo/old", tmp_path)
    double.change_repository("octo/old", archived=True)
    repository.commit({"b": "1"})
    assert "403" in failure(repository, "push", "origin", "main")


def test_renamed_repository_redirects_git(double: Control, token: str, tmp_path: Path):
    double.add_repository("octo/before", files={"a": "1"})
    double.change_repository("octo/before", name="after")
    assert (clone(double, token, "octo/before", tmp_path).path / "a").exists()


def test_default_branch_cannot_be_deleted(double: Control, token: str, tmp_path: Path):
    repository = clone(double, token, "octo/hello", tmp_path)
    assert "refusing to delete the current branch" in failure(repository, "push", "origin", ":main")


PROTECTION = {
    "required_status_checks": None,
    "enforce_admins": True,
    "required_pull_request_reviews": None,
    "restrictions": None,
}


def protect(octo: httpx2.Client, full_name: str, **changed: object) -> None:
    response = octo.put(f"/repos/{full_name}/branches/main/protection", json={**PROTECTION, **changed})
    assert response.status_code == 200, response.text


def test_protected_branch_refuses_force_pushes_and_deletion(
    double: Control, octo: httpx2.Client, token: str, tmp_path: Path
):
    double.add_repository("octo/guarded", files={"a": "1"})
    protect(octo, "octo/guarded")
    repository = clone(double, token, "octo/guarded", tmp_path)
    repository.commit({"b": "1"})
    repository.git("push", "--quiet", "origin", "main")
    repository.git("commit", "--quiet", "--amend", "--message", "Other")
    printed = failure(repository, "push", "--force", "origin", "main")
    assert "GH006: Protected branch update failed for refs/heads/main." in printed
    assert "- Cannot force-push to this branch" in printed
    repository.git("push", "--quiet", "origin", "HEAD:refs/heads/free")
    repository.git("push", "--quiet", "--force", "origin", "HEAD~1:refs/heads/free")


def test_protected_branch_can_require_a_pull_request(
    double: Control, octo: httpx2.Client, token: str, tmp_path: Path
):
    double.add_repository("octo/reviewed", files={"a": "1"})
    protect(octo, "octo/reviewed", required_pull_request_reviews={})
    repository = clone(double, token, "octo/reviewed", tmp_path)
    repository.commit({"b": "1"})
    assert "Changes must be made through a pull request." in failure(repository, "push", "origin", "main")
    protect(octo, "octo/reviewed", required_pull_request_reviews={}, enforce_admins=False)
    repository.git("push", "--quiet", "origin", "main")


def test_protected_branch_can_require_a_status(
    double: Control, octo: httpx2.Client, token: str, tmp_path: Path
):
    double.add_repository("octo/checked", files={"a": "1"})
    protect(octo, "octo/checked", required_status_checks={"strict": False, "contexts": ["forge"]})
    repository = clone(double, token, "octo/checked", tmp_path)
    sha = repository.commit({"b": "1"})
    repository.git("push", "--quiet", "origin", "HEAD:refs/heads/candidate")
    assert 'Required status check "forge" is expected.' in failure(repository, "push", "origin", "main")
    state = {"state": "success", "context": "forge"}
    assert octo.post(f"/repos/octo/checked/statuses/{sha}", json=state).status_code == 201
    repository.git("push", "--quiet", "origin", "main")
