"""The payload of a push event, made of what is in the repository."""

from collections.abc import Mapping

from forge.demo.github.bare_repository import ZERO, Commit, Person
from forge.demo.github.views import repository_view, user_view
from forge.demo.github.world import Account, JsonObject, Repository, World

MAX_COMMITS = 2048


async def push_payload(
    world: World, repository: Repository, pusher: Account, ref: str, refs: Mapping[str, str], after: str
) -> JsonObject:
    """Return the payload for a ref that changed to `after`; `refs` are the ones before the push."""
    before, page = refs.get(ref, ZERO), f"{world.url}/{repository.full_name}"
    is_update = ZERO not in (before, after)
    commits = [] if after == ZERO else await _commits(world, repository, before, after, refs)
    head = None if after == ZERO else (await repository.git.log("-1", after, files=True))[0]
    known = {commit["id"]: commit for commit in commits}
    owner = repository.owner
    return {
        "ref": ref,
        "before": before,
        "after": after,
        "repository": {
            **repository_view(world, repository, None),
            "owner": {**user_view(world, owner), "name": owner.login, "email": owner.email},
            "created_at": int(repository.created_at.timestamp()),
            "pushed_at": int(repository.pushed_at.timestamp()),
            "url": page,
            "custom_properties": {},
            "stargazers": 0,
            "master_branch": repository.default_branch,
        },
        "pusher": {"name": pusher.login, "email": pusher.email},
        "sender": user_view(world, pusher),
        "created": before == ZERO,
        "deleted": after == ZERO,
        "forced": is_update and not await repository.git.is_ancestor(before, after),
        "base_ref": None if before != ZERO else _branch_at(after, refs),
        "compare": f"{page}/compare/{before[:12]}...{after[:12]}"
        if before != ZERO
        else f"{page}/commit/{after}",
        "commits": commits,
        "head_commit": head and known.get(head.sha, _commit(world, repository, head, is_new=True)),
    }


async def _commits(
    world: World, repository: Repository, before: str, after: str, refs: Mapping[str, str]
) -> list[JsonObject]:
    """Return the commits of an update, or those of a new ref that no other ref had, oldest first."""
    git = repository.git
    excluded = "".join(f"^{sha}\n" for sha in set(refs.values()))
    new = {commit.sha for commit in await git.log(after, stdin=excluded.encode())}
    chosen = f"{after}\n{excluded}" if before == ZERO else f"{after}\n^{before}\n"
    commits = await git.log(f"-{MAX_COMMITS}", stdin=chosen.encode(), files=True)
    return [_commit(world, repository, each, is_new=each.sha in new) for each in reversed(commits)]


def _commit(world: World, repository: Repository, commit: Commit, *, is_new: bool) -> JsonObject:
    return {
        "id": commit.sha,
        "tree_id": commit.tree,
        "distinct": is_new,
        "message": commit.message,
        "timestamp": commit.committer.date,
        "url": f"{world.url}/{repository.full_name}/commit/{commit.sha}",
        "author": _person(world, commit.author),
        "committer": _person(world, commit.committer),
        **{
            status: [change.path for change in commit.files if change.status == status]
            for status in ("added", "removed", "modified")
        },
    }


def _person(world: World, person: Person) -> JsonObject:
    account = world.find_by_email(person.email)
    username = {"username": account.login} if account else {}
    return {"name": person.name, "email": person.email, "date": person.date, **username}


def _branch_at(sha: str, refs: Mapping[str, str]) -> str | None:
    return next((ref for ref, other in refs.items() if other == sha and ref.startswith("refs/heads/")), None)
