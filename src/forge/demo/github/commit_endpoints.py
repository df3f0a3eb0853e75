"""REST endpoints that read branches, commits, comparisons and files, and those for statuses and branch protection."""

from forge.demo.github.api import (
    READ_CONTENTS,
    ApiError,
    Call,
    Endpoint,
    Reply,
    Requirement,
    invalid,
    not_found,
)
from forge.demo.github.bare_repository import Commit, TreeEntry
from forge.demo.github.commit_views import (
    blob_view,
    combined_status_view,
    commit_view,
    contents_view,
    file_view,
    repository_url,
    status_view,
)
from forge.demo.github.git_endpoints import filled_repository
from forge.demo.github.protection import required_contexts
from forge.demo.github.world import JsonObject, Repository, Role, Status

ADMIN_READ = Requirement(Role.ADMIN, "administration=read")
ADMIN_WRITE = Requirement(Role.ADMIN, "administration=write")
STATUS_READ = Requirement(Role.PULL, "statuses=read", ("repo:status",))
STATUS_WRITE = Requirement(Role.PUSH, "statuses=write", ("repo:status",))
MAX_DESCRIPTION = 140
MAX_FILES = 300
MAX_COMPARED = 250
_STATES = ("error", "failure", "pending", "success")
_KINDS = {"tree": "dir", "commit": "submodule", "blob": "file"}


async def _list_branches(call: Call) -> Reply:
    repository = call.repository(READ_CONTENTS)
    branches = await repository.git.refs("refs/heads/")
    wanted = call.query.get("protected")
    names = [name.removeprefix("refs/heads/") for name in branches]
    if wanted is not None:
        names = [name for name in names if (name in repository.protections) == (wanted == "true")]
    views = [_short_branch(call, repository, name, branches[f"refs/heads/{name}"]) for name in names]
    return call.page(views)


def _short_branch(call: Call, repository: Repository, name: str, sha: str) -> JsonObject:
    url = repository_url(call.world, repository)
    settings = repository.protections.get(name)
    contexts = required_contexts(settings) if settings else []
    level = (
        "off" if not contexts else "everyone" if settings and settings.get("enforce_admins") else "non_admins"
    )
    return {
        "name": name,
        "commit": {"sha": sha, "url": f"{url}/commits/{sha}"},
        "protected": settings is not None,
        "protection": {
            "enabled": settings is not None,
            "required_status_checks": {"enforcement_level": level, "contexts": contexts, "checks": []},
        },
        "protection_url": f"{url}/branches/{name}/protection",
    }


async def _branch(call: Call, repository: Repository) -> tuple[str, str]:
    """Return name and commit of the branch in the path."""
    name = call.path["branch"]
    sha = (await repository.git.refs(f"refs/heads/{name}")).get(f"refs/heads/{name}")
    if sha is None:
        raise ApiError(404, "Branch not found")
    return name, sha


async def _get_branch(call: Call) -> Reply:
    repository = call.repository(READ_CONTENTS)
    name, sha = await _branch(call, repository)
    [commit] = await repository.git.log("-1", sha)
    url = repository_url(call.world, repository)
    links = {
        "self": f"{url}/branches/{name}",
        "html": f"{call.world.url}/{repository.full_name}/tree/{name}",
    }
    view = _short_branch(call, repository, name, sha)
    return Reply(view | {"commit": commit_view(call.world, repository, commit), "_links": links})


async def _get_protection(call: Call) -> Reply:
    repository = call.repository(ADMIN_READ)
    name, _ = await _branch(call, repository)
    if name not in repository.protections:
        raise ApiError(404, "Branch not protected")
    return Reply(_protection(call, repository, name))


def _protection(call: Call, repository: Repository, name: str) -> JsonObject:
    url = f"{repository_url(call.world, repository)}/branches/{name}/protection"
    settings = repository.protections[name]
    view: JsonObject = {"url": url, "enforce_admins": {"url": f"{url}/enforce_admins"}}
    view["enforce_admins"]["enabled"] = bool(settings["enforce_admins"])
    if settings["required_status_checks"] is not None:
        contexts = required_contexts(settings)
        view["required_status_checks"] = {
            "url": f"{url}/required_status_checks",
            "strict": bool(settings["required_status_checks"].get("strict")),
            "contexts": contexts,
            "contexts_url": f"{url}/required_status_checks/contexts",
            "checks": [{"context": context, "app_id": None} for context in contexts],
        }
    if (reviews := settings["required_pull_request_reviews"]) is not None:
        view["required_pull_request_reviews"] = {
            "url": f"{url}/required_pull_request_reviews",
            "dismiss_stale_reviews": reviews.get("dismiss_stale_reviews", False),
            "require_code_owner_reviews": reviews.get("require_code_owner_reviews", False),
            "required_approving_review_count": reviews.get("required_approving_review_count", 1),
            "require_last_push_approval": reviews.get("require_last_push_approval", False),
        }
    for name in ("allow_force_pushes", "allow_deletions"):
        view[name] = {"enabled": bool(settings.get(name))}
    return view


async def _protect(call: Call) -> Reply:
    repository = call.repository(ADMIN_WRITE)
    name, _ = await _branch(call, repository)
    body, needed = call.json(), ("required_status_checks", "enforce_admins", "required_pull_request_reviews")
    if missing := [each for each in (*needed, "restrictions") if each not in body]:
        quoted = ", ".join(f'"{each}"' for each in missing)
        raise ApiError(422, f"Invalid request.\n\n{quoted} weren't supplied.")
    if body["restrictions"] is not None and not repository.owner.is_organization:
        raise ApiError(
            422, "Validation Failed: Only organization repositories can have users and team restrictions"
        )
    repository.protections[name] = body
    return Reply(_protection(call, repository, name))


async def _unprotect(call: Call) -> Reply:
    repository = call.repository(ADMIN_WRITE)
    name, _ = await _branch(call, repository)
    if repository.protections.pop(name, None) is None:
        raise ApiError(404, "Branch not protected")
    return Reply(status=204)


async def _list_commits(call: Call) -> Reply:
    repository = await filled_repository(call, READ_CONTENTS)
    start = await repository.git.resolve(call.query.get("sha", repository.default_branch))
    if start is None:
        raise not_found()
    options = [f"--{name}={call.query[name]}" for name in ("since", "until", "author") if name in call.query]
    paths = ["--", call.query["path"]] if "path" in call.query else []
    commits = await repository.git.log(*options, start, *paths)
    return call.page([commit_view(call.world, repository, each) for each in commits])


async def _commit(call: Call, repository: Repository, revision: str, *, files: bool = False) -> Commit:
    sha = await repository.git.resolve(revision)
    if sha is None:
        raise ApiError(422, f"No commit found for SHA: {revision}")
    return (await repository.git.log("-1", sha, files=files))[0]


async def _get_commit(call: Call) -> Reply:
    repository = await filled_repository(call, READ_CONTENTS)
    commit = await _commit(call, repository, call.path["ref"], files=True)
    if call.wants("sha"):
        return Reply(commit.sha.encode(), media_type="application/vnd.github.sha; charset=utf-8")
    added, deleted = (
        sum(each.additions for each in commit.files),
        sum(each.deletions for each in commit.files),
    )
    files = [file_view(call.world, repository, commit.sha, each) for each in commit.files[:MAX_FILES]]
    stats = {"total": added + deleted, "additions": added, "deletions": deleted}
    return Reply(commit_view(call.world, repository, commit) | {"stats": stats, "files": files})


async def _compare(call: Call) -> Reply:
    repository = await filled_repository(call, READ_CONTENTS)
    git, (base, _, head) = repository.git, call.path["basehead"].partition("...")
    old, new = await git.resolve(base), await git.resolve(head)
    fork = await git.merge_base(old, new) if old and new else None
    if old is None or new is None or fork is None:
        raise not_found()
    ahead, behind = await git.log(f"{old}..{new}"), await git.log(f"{new}..{old}")
    status = "diverged" if ahead and behind else "ahead" if ahead else "behind" if behind else "identical"
    url, page = (
        f"{repository_url(call.world, repository)}/compare",
        f"{call.world.url}/{repository.full_name}/compare",
    )
    [first], [shared] = await git.log("-1", old), await git.log("-1", fork)
    view = {
        "url": f"{url}/{base}...{head}",
        "html_url": f"{page}/{base}...{head}",
        "permalink_url": f"{page}/{old[:7]}...{new[:7]}",
        "diff_url": f"{page}/{base}...{head}.diff",
        "patch_url": f"{page}/{base}...{head}.patch",
        "base_commit": commit_view(call.world, repository, first),
        "merge_base_commit": commit_view(call.world, repository, shared),
        "status": status,
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [commit_view(call.world, repository, each) for each in ahead[::-1][:MAX_COMPARED]],
        "files": [
            file_view(call.world, repository, new, each) for each in (await git.diff(fork, new))[:MAX_FILES]
        ],
    }
    return Reply(view)


async def _get_contents(call: Call) -> Reply:
    repository = call.repository(READ_CONTENTS)
    ref, path = call.query.get("ref", repository.default_branch), call.path.get("path", "").strip("/")
    if not await repository.git.refs():
        raise ApiError(404, "This repository is empty.")
    tree = await repository.git.resolve(ref, "tree")
    if tree is None:
        raise ApiError(404, f"No commit found for the ref {ref}")
    found = await repository.git.list_tree(tree, "--", path) if path else []
    if path and not found:
        raise not_found()
    if not path or found[0].kind == "tree":
        entries = await repository.git.list_tree(found[0].sha if found else tree)
        return Reply([_entry(call, repository, ref, path, each) for each in entries])
    content = await repository.git.run("cat-file", "blob", found[0].sha)
    if call.wants("raw"):
        return Reply(content, media_type="application/vnd.github.raw; charset=utf-8")
    blob = blob_view(call.world, repository, found[0].sha, content)
    view = _entry(call, repository, ref, path.rpartition("/")[0], found[0])
    return Reply(view | {"encoding": "base64", "content": blob["content"]})


def _entry(call: Call, repository: Repository, ref: str, folder: str, entry: TreeEntry) -> JsonObject:
    path = f"{folder}/{entry.path.rpartition('/')[2]}".lstrip("/")
    kind = "symlink" if entry.mode == "120000" else _KINDS[entry.kind]
    return contents_view(call.world, repository, ref, path, entry.sha, entry.size or 0, kind)


async def _create_status(call: Call) -> Reply:
    repository = call.repository(STATUS_WRITE)
    sha, state = call.path["sha"], call.required("state", str)
    description: str | None = call.optional("description", None, str)
    if await repository.git.kind_of(sha) != "commit":
        raise ApiError(422, f"No commit found for SHA: {sha}")
    if state not in _STATES:
        raise invalid("Status", "state", "state is not included in the list")
    if len(description or "") > MAX_DESCRIPTION:
        message = f"description is too long (maximum is {MAX_DESCRIPTION} characters)"
        raise invalid("Status", "description", message)
    context = call.optional("context", "default")
    target: str | None = call.optional("target_url", None, str)
    creator, world = call.require_user(), call.world
    status = Status(world.new_id(), sha, state, context, description, target, creator, world.now())
    repository.statuses.append(status)
    view = status_view(world, repository, status)
    return Reply(view, 201, {"location": view["url"]})


async def _list_statuses(call: Call) -> Reply:
    repository = call.repository(STATUS_READ)
    commit = await _commit(call, repository, call.path["ref"])
    statuses = [each for each in reversed(repository.statuses) if each.sha == commit.sha]
    return call.page([status_view(call.world, repository, each) for each in statuses])


async def _combine_statuses(call: Call) -> Reply:
    repository = call.repository(STATUS_READ)
    commit = await _commit(call, repository, call.path["ref"])
    return Reply(combined_status_view(call.world, repository, commit.sha))


_REPO = "/repos/{owner}/{repo}"
_PROTECTION = f"{_REPO}/branches/{{branch:path}}/protection"
ENDPOINTS = [
    Endpoint("GET", f"{_REPO}/branches", _list_branches),
    Endpoint("GET", _PROTECTION, _get_protection),
    Endpoint("PUT", _PROTECTION, _protect),
    Endpoint("DELETE", _PROTECTION, _unprotect),
    Endpoint("GET", f"{_REPO}/branches/{{branch:path}}", _get_branch),
    Endpoint("GET", f"{_REPO}/commits", _list_commits),
    Endpoint("GET", f"{_REPO}/commits/{{ref:path}}/statuses", _list_statuses),
    Endpoint("GET", f"{_REPO}/commits/{{ref:path}}/status", _combine_statuses),
    Endpoint("GET", f"{_REPO}/commits/{{ref:path}}", _get_commit),
    Endpoint("GET", f"{_REPO}/compare/{{basehead:path}}", _compare),
    Endpoint("GET", f"{_REPO}/contents", _get_contents),
    Endpoint("GET", f"{_REPO}/contents/{{path:path}}", _get_contents),
    Endpoint("POST", f"{_REPO}/statuses/{{sha}}", _create_status),
]
