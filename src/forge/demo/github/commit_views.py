"""The JSON of git objects and of what belongs to commits."""

from base64 import encodebytes
from datetime import datetime
from typing import Any

from forge.demo.github.bare_repository import Commit, FileChange, Person
from forge.demo.github.views import iso, repository_view, user_view
from forge.demo.github.world import JsonObject, Repository, Status, World

_UNSIGNED = {"verified": False, "reason": "unsigned", "signature": None, "payload": None, "verified_at": None}


def repository_url(world: World, repository: Repository) -> str:
    return f"{world.api_url}/repos/{repository.full_name}"


async def ref_view(world: World, repository: Repository, name: str, sha: str) -> JsonObject:
    url, kind = f"{repository_url(world, repository)}/git", await repository.git.kind_of(sha)
    target = {"sha": sha, "type": kind, "url": f"{url}/{kind}s/{sha}"}
    return {"ref": name, "node_id": f"REF_{name}", "url": f"{url}/{name}", "object": target}


def blob_view(world: World, repository: Repository, sha: str, content: bytes) -> JsonObject:
    return {
        "sha": sha,
        "node_id": f"B_{sha}",
        "size": len(content),
        "url": f"{repository_url(world, repository)}/git/blobs/{sha}",
        "content": encodebytes(content).decode(),
        "encoding": "base64",
    }


async def tree_view(
    world: World, repository: Repository, sha: str, *, is_recursive: bool = False
) -> JsonObject:
    url, entries = f"{repository_url(world, repository)}/git", list[JsonObject]()
    for entry in await repository.git.list_tree(sha, *(["-r", "-t"] if is_recursive else [])):
        link = {} if entry.kind == "commit" else {"url": f"{url}/{entry.kind}s/{entry.sha}"}
        size = {} if entry.size is None else {"size": entry.size}
        entries.append(
            {"path": entry.path, "mode": entry.mode, "type": entry.kind, "sha": entry.sha, **size, **link}
        )
    return {"sha": sha, "url": f"{url}/trees/{sha}", "tree": entries, "truncated": False}


def git_commit_view(world: World, repository: Repository, commit: Commit) -> JsonObject:
    url, page = repository_url(world, repository), f"{world.url}/{repository.full_name}/commit"
    return {
        "sha": commit.sha,
        "node_id": f"C_{commit.sha}",
        "url": f"{url}/git/commits/{commit.sha}",
        "html_url": f"{page}/{commit.sha}",
        "author": _person(commit.author),
        "committer": _person(commit.committer),
        "tree": {"sha": commit.tree, "url": f"{url}/git/trees/{commit.tree}"},
        "message": commit.message,
        "parents": [
            {"sha": sha, "url": f"{url}/git/commits/{sha}", "html_url": f"{page}/{sha}"}
            for sha in commit.parents
        ],
        "verification": _UNSIGNED,
    }


def _person(person: Person) -> JsonObject:
    return {"name": person.name, "email": person.email, "date": iso(datetime.fromisoformat(person.date))}


def commit_view(world: World, repository: Repository, commit: Commit) -> JsonObject:
    url, page = repository_url(world, repository), f"{world.url}/{repository.full_name}/commit"
    inner = git_commit_view(world, repository, commit)
    people = {
        name: (account := world.find_by_email(person.email)) and user_view(world, account)
        for name, person in (("author", commit.author), ("committer", commit.committer))
    }
    return {
        "sha": commit.sha,
        "node_id": f"C_{commit.sha}",
        "commit": {
            **{
                name: inner[name]
                for name in ("author", "committer", "message", "tree", "url", "verification")
            },
            "comment_count": 0,
        },
        "url": f"{url}/commits/{commit.sha}",
        "html_url": f"{page}/{commit.sha}",
        "comments_url": f"{url}/commits/{commit.sha}/comments",
        **people,
        "parents": [
            {"sha": sha, "url": f"{url}/commits/{sha}", "html_url": f"{page}/{sha}"} for sha in commit.parents
        ],
    }


def file_view(world: World, repository: Repository, ref: str, change: FileChange) -> JsonObject:
    page = f"{world.url}/{repository.full_name}"
    return {
        "sha": change.sha,
        "filename": change.path,
        "status": change.status,
        "additions": change.additions,
        "deletions": change.deletions,
        "changes": change.additions + change.deletions,
        "blob_url": f"{page}/blob/{ref}/{change.path}",
        "raw_url": f"{page}/raw/{ref}/{change.path}",
        "contents_url": f"{repository_url(world, repository)}/contents/{change.path}?ref={ref}",
    }


def status_view(world: World, repository: Repository, status: Status) -> JsonObject:
    return {
        **_status_fields(world, repository, status),
        "creator": user_view(world, status.creator),
    }


def _status_fields(world: World, repository: Repository, status: Status) -> JsonObject:
    return {
        "url": f"{repository_url(world, repository)}/statuses/{status.sha}",
        "avatar_url": f"{world.url}/avatars/{status.creator.id}",
        "id": status.id,
        "node_id": f"S_{status.id}",
        "state": status.state,
        "description": status.description,
        "target_url": status.target_url,
        "context": status.context,
        "created_at": iso(status.created_at),
        "updated_at": iso(status.created_at),
    }


def combined_status_view(world: World, repository: Repository, sha: str) -> JsonObject:
    """Return the latest status of each context and what they amount to."""
    latest, url = list(repository.latest_statuses(sha).values()), repository_url(world, repository)
    states = {status.state for status in latest}
    state = "failure" if states & {"error", "failure"} else "success" if states == {"success"} else "pending"
    return {
        "state": state,
        "statuses": [_status_fields(world, repository, status) for status in latest],
        "sha": sha,
        "total_count": len(latest),
        "repository": repository_view(world, repository, None),
        "commit_url": f"{url}/commits/{sha}",
        "url": f"{url}/commits/{sha}/status",
    }


def contents_view(
    world: World, repository: Repository, ref: str, path: str, sha: str, size: int, kind: str
) -> dict[str, Any]:
    url = f"{repository_url(world, repository)}/contents/{path}?ref={ref}"
    git_url = f"{repository_url(world, repository)}/git/{'trees' if kind == 'dir' else 'blobs'}/{sha}"
    page = f"{world.url}/{repository.full_name}/{'tree' if kind == 'dir' else 'blob'}/{ref}/{path}"
    return {
        "name": path.rpartition("/")[2],
        "path": path,
        "sha": sha,
        "size": size,
        "url": url,
        "html_url": page,
        "git_url": git_url,
        "download_url": None if kind != "file" else f"{world.url}/{repository.full_name}/raw/{ref}/{path}",
        "type": kind,
        "_links": {"self": url, "git": git_url, "html": page},
    }
