"""REST endpoints of the Git Data API: refs, blobs, trees and commits, with the same ids as git gives them."""

import binascii
from base64 import b64decode
from typing import cast

from forge.demo.github.api import (
    READ_CONTENTS,
    WRITE_CONTENTS,
    ApiError,
    Call,
    Endpoint,
    Reply,
    Requirement,
    not_found,
)
from forge.demo.github.bare_repository import ZERO, GitFailed, Person, TreeEntry
from forge.demo.github.commit_views import blob_view, git_commit_view, ref_view, tree_view
from forge.demo.github.protection import broken_rules
from forge.demo.github.repository_endpoints import person_of
from forge.demo.github.world import JsonObject, Repository

_MODES = {"100644": "blob", "100755": "blob", "040000": "tree", "160000": "commit", "120000": "blob"}


async def filled_repository(call: Call, requirement: Requirement) -> Repository:
    """Return a repository with at least one branch; an empty one has no Git Data API."""
    repository = call.repository(requirement)
    if not await repository.git.refs():
        raise ApiError(409, "Git Repository is empty.")
    return repository


async def _get_ref(call: Call) -> Reply:
    repository = await filled_repository(call, READ_CONTENTS)
    name = f"refs/{call.path['ref']}"
    sha = (await repository.git.refs(name)).get(name)
    if sha is None:
        raise not_found()
    return Reply(await ref_view(call.world, repository, name, sha))


async def _list_refs(call: Call) -> Reply:
    repository = await filled_repository(call, READ_CONTENTS)
    start = f"refs/{call.path['ref']}"
    found = [(name, sha) for name, sha in (await repository.git.refs()).items() if name.startswith(start)]
    return call.page([await ref_view(call.world, repository, *each) for each in found])


async def _create_ref(call: Call) -> Reply:
    repository = await filled_repository(call, WRITE_CONTENTS)
    name, sha = call.required("ref", str), call.required("sha", str)
    if not name.startswith("refs/") or name.count("/") < 2 or not await _is_valid_name(repository, name):
        raise ApiError(422, f"{name} is not a valid ref name.")
    if await repository.git.kind_of(sha) is None:
        raise ApiError(422, "Object does not exist")
    if name in await repository.git.refs(name):
        raise ApiError(422, "Reference already exists")
    return Reply(await _move_ref(call, repository, name, ZERO, sha), 201)


async def _is_valid_name(repository: Repository, name: str) -> bool:
    try:
        await repository.git.run("check-ref-format", name)
    except GitFailed:
        return False
    return True


async def _update_ref(call: Call) -> Reply:
    repository = await filled_repository(call, WRITE_CONTENTS)
    name, sha = f"refs/{call.path['ref']}", call.required("sha", str)
    old = (await repository.git.refs(name)).get(name)
    if old is None:
        raise ApiError(422, "Reference does not exist")
    if await repository.git.kind_of(sha) is None:
        raise ApiError(422, "Object does not exist")
    if not call.optional("force", False) and not await repository.git.is_ancestor(old, sha):
        raise ApiError(422, "Update is not a fast forward")
    return Reply(await _move_ref(call, repository, name, old, sha))


async def _delete_ref(call: Call) -> Reply:
    repository = await filled_repository(call, WRITE_CONTENTS)
    name = f"refs/{call.path['ref']}"
    old = (await repository.git.refs(name)).get(name)
    if old is None:
        raise ApiError(422, "Reference does not exist")
    if name == f"refs/heads/{repository.default_branch}":
        raise ApiError(422, "Cannot delete the default branch")
    await _move_ref(call, repository, name, old, ZERO)
    return Reply(status=204)


async def _move_ref(call: Call, repository: Repository, name: str, old: str, new: str) -> JsonObject:
    user = call.require_user()
    if broken := await broken_rules(repository, user, name, old, new):
        raise ApiError(422, " ".join(broken))
    async with call.webhooks.reporting(repository, user):
        await repository.git.set_ref(name, new, old)
    return {} if new == ZERO else await ref_view(call.world, repository, name, new)


async def _create_blob(call: Call) -> Reply:
    repository = await filled_repository(call, WRITE_CONTENTS)
    content, encoding = call.required("content", str), call.optional("encoding", "utf-8")
    try:
        data = (
            b64decode("".join(content.split()), validate=True) if encoding == "base64" else content.encode()
        )
    except binascii.Error:
        raise ApiError(422, "content is not valid Base64") from None
    sha = await repository.git.write_object("blob", data)
    url = f"{call.world.api_url}/repos/{repository.full_name}/git/blobs/{sha}"
    return Reply({"sha": sha, "url": url}, 201, {"location": url})


async def _get_blob(call: Call) -> Reply:
    repository = await filled_repository(call, READ_CONTENTS)
    sha = call.path["sha"]
    if await repository.git.kind_of(sha) != "blob":
        raise not_found()
    content = await repository.git.run("cat-file", "blob", sha)
    if call.wants("raw"):
        return Reply(content, media_type="application/vnd.github.raw; charset=utf-8")
    return Reply(blob_view(call.world, repository, sha, content))


async def _create_tree(call: Call) -> Reply:
    repository = await filled_repository(call, WRITE_CONTENTS)
    base: str | None = call.optional("base_tree", None, str)
    if base and await repository.git.resolve(base, "tree") is None:
        raise ApiError(422, "base_tree is not a valid tree")
    listed: list[JsonObject] = call.required("tree", cast(type[list[JsonObject]], list))
    entries = [await _tree_entry(repository, each) for each in listed]
    try:
        sha = await repository.git.write_tree(base, entries)
    except GitFailed:
        raise ApiError(422, "GitRPC::BadObjectState") from None
    return Reply(await tree_view(call.world, repository, sha), 201)


async def _tree_entry(repository: Repository, given: JsonObject) -> TreeEntry:
    path, mode, sha = given.get("path", ""), given.get("mode", ""), given.get("sha")
    if mode not in _MODES:
        raise ApiError(422, "Must supply a valid tree.mode")
    if not path or path.startswith("/") or not {"", ".", "..", ".git"}.isdisjoint(path.lower().split("/")):
        raise ApiError(422, "tree.path contains a malformed path component")
    if "content" in given and "sha" in given:
        raise ApiError(422, "Must supply either tree.sha or tree.content, and not both")
    if "content" in given:
        sha = await repository.git.write_object("blob", given["content"].encode())
    elif sha is not None and mode != "160000" and await repository.git.kind_of(sha) != _MODES[mode]:
        raise ApiError(422, f"tree.sha {sha} is not a valid {_MODES[mode]}")
    return TreeEntry(mode, _MODES[mode], sha or ZERO, path)


async def _get_tree(call: Call) -> Reply:
    repository = await filled_repository(call, READ_CONTENTS)
    sha = await repository.git.resolve(call.path["sha"], "tree")
    if sha is None:
        raise not_found()
    return Reply(await tree_view(call.world, repository, sha, is_recursive="recursive" in call.query))


async def _create_commit(call: Call) -> Reply:
    repository = await filled_repository(call, WRITE_CONTENTS)
    message, tree = call.required("message", str), call.required("tree", str)
    parents: list[str] = call.optional("parents", [])
    if await repository.git.kind_of(tree) != "tree":
        raise ApiError(422, "Tree SHA does not exist")
    if [each for each in parents if await repository.git.kind_of(each) != "commit"]:
        raise ApiError(422, "Parent SHA does not exist or is not a commit object")
    default = person_of(call.require_user(), call.world.now())
    author = _person(call.optional("author", {}), default)
    committer = _person(call.optional("committer", {}), author)
    try:
        sha = await repository.git.write_commit(tree, parents, author, committer, message)
    except (GitFailed, ValueError):
        raise ApiError(422, "Invalid author or committer") from None
    [commit] = await repository.git.log("-1", sha)
    return Reply(git_commit_view(call.world, repository, commit), 201)


def _person(given: JsonObject, default: Person) -> Person:
    if given and not (given.get("name") and given.get("email")):
        raise ApiError(422, 'Invalid request.\n\n"name", "email" weren\'t supplied.')
    return Person(**{name: given.get(name, getattr(default, name)) for name in ("name", "email", "date")})


async def _get_commit(call: Call) -> Reply:
    repository = await filled_repository(call, READ_CONTENTS)
    if await repository.git.kind_of(call.path["sha"]) != "commit":
        raise not_found()
    [commit] = await repository.git.log("-1", call.path["sha"])
    return Reply(git_commit_view(call.world, repository, commit))


_GIT = "/repos/{owner}/{repo}/git"
ENDPOINTS = [
    Endpoint("GET", f"{_GIT}/ref/{{ref:path}}", _get_ref),
    Endpoint("GET", f"{_GIT}/matching-refs/{{ref:path}}", _list_refs),
    Endpoint("POST", f"{_GIT}/refs", _create_ref),
    Endpoint("PATCH", f"{_GIT}/refs/{{ref:path}}", _update_ref),
    Endpoint("DELETE", f"{_GIT}/refs/{{ref:path}}", _delete_ref),
    Endpoint("POST", f"{_GIT}/blobs", _create_blob),
    Endpoint("GET", f"{_GIT}/blobs/{{sha}}", _get_blob),
    Endpoint("POST", f"{_GIT}/trees", _create_tree),
    Endpoint("GET", f"{_GIT}/trees/{{sha:path}}", _get_tree),
    Endpoint("POST", f"{_GIT}/commits", _create_commit),
    Endpoint("GET", f"{_GIT}/commits/{{sha}}", _get_commit),
]
