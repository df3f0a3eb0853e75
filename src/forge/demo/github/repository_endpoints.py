"""REST endpoints about repositories as a whole."""

import re
from datetime import datetime

from forge.demo.github.api import READ, Access, ApiError, Call, Endpoint, Reply, access_to, invalid
from forge.demo.github.bare_repository import Person
from forge.demo.github.views import full_repository_view, repository_view
from forge.demo.github.world import Account, Repository, Role

MAX_NAME = 100
_SORT_KEYS = ("created", "updated", "pushed", "full_name")


async def _list_repositories(call: Call) -> Reply:
    user = call.require_user()
    affiliations = call.query.get("affiliation", "owner,collaborator,organization_member").split(",")
    visibility = call.query.get("visibility", "all")
    listed = [
        each
        for each in call.world.repositories.values()
        if _affiliation(each, user) in affiliations
        and access_to(each, call.token) is Access.GRANTED
        and (call.token is None or call.token.selects(each.id))
        and visibility in ("all", "private" if each.is_private else "public")
    ]
    sort = call.query.get("sort", "full_name")
    if sort not in _SORT_KEYS:
        raise ApiError(422, f"Validation Failed: sort is not one of {', '.join(_SORT_KEYS)}.")
    is_descending = call.query.get("direction", "asc" if sort == "full_name" else "desc") == "desc"
    listed.sort(key=lambda each: _sort_key(each, sort), reverse=is_descending)
    return call.page(listed, lambda each: repository_view(call.world, each, user))


def _sort_key(repository: Repository, sort: str) -> tuple[datetime | str, int]:
    moments = {
        "created": repository.created_at,
        "updated": repository.updated_at,
        "pushed": repository.pushed_at,
    }
    return moments.get(sort, repository.full_name.lower()), repository.id


def _affiliation(repository: Repository, user: Account) -> str | None:
    if repository.owner is user:
        return "owner"
    if user.id in repository.collaborators:
        return "collaborator"
    return "organization_member" if user.id in repository.owner.members else None


async def _create_repository(call: Call) -> Reply:
    user = call.require_user()
    is_private = call.optional("private", False)
    if call.is_fine_grained:
        call.require_permission("administration=write")
    elif not call.has_scope("repo", *([] if is_private else ["public_repo"])):
        raise ApiError(404, "Not Found")
    name = clean_name(call.required("name", str))
    if call.world.find_repository(f"{user.login}/{name}"):
        raise _refused_name("name already exists on this account")
    repository = await call.world.add_repository(
        user, name, is_private=is_private, description=call.optional("description", None, str)
    )
    if call.token and call.token.repositories is not None:
        call.token.repositories |= {repository.id}
    if call.optional("auto_init", False):
        await _create_readme(repository, user, call.world.now())
    view = full_repository_view(call.world, repository, user)
    return Reply(view, 201, {"location": view["url"]})


def clean_name(name: str) -> str:
    """Return the name that GitHub makes of one; raise ApiError if it refuses it."""
    cleaned = re.sub(r"[^A-Za-z0-9._-]+", "-", name)
    if not cleaned.strip("-") and not name.strip():
        raise _refused_name("name is too short (minimum is 1 character)")
    if len(cleaned) > MAX_NAME:
        raise _refused_name(f"name is too long (maximum is {MAX_NAME} characters)")
    if cleaned in (".", "..") or cleaned.lower().endswith((".git", ".wiki")):
        raise _refused_name("name is reserved")
    return cleaned


def _refused_name(message: str) -> ApiError:
    return invalid("Repository", "name", message, "Repository creation failed.")


async def _create_readme(repository: Repository, user: Account, moment: datetime) -> None:
    text = f"# {repository.name}\n" + (f"{repository.description}\n" if repository.description else "")
    sha = await repository.git.commit_files({"README.md": text}, "Initial commit", person_of(user, moment))
    await repository.git.set_ref(f"refs/heads/{repository.default_branch}", sha)


def person_of(user: Account, moment: datetime) -> Person:
    """Return a user as the author of commits that are made at a moment."""
    email = user.email or f"{user.id}+{user.login}@users.noreply.github.com"
    return Person(user.name or user.login, email, moment.isoformat(timespec="seconds"))


async def _get_repository(call: Call) -> Reply:
    return Reply(full_repository_view(call.world, call.repository(READ), call.viewer))


async def _delete_repository(call: Call) -> Reply:
    repository = call.repository(READ)
    if call.is_fine_grained:
        call.require_permission("administration=write")
    elif not call.has_scope("delete_repo") or repository.role_of(call.viewer) < Role.ADMIN:
        raise ApiError(403, "Must have admin rights to Repository.")
    await call.world.delete_repository(repository)
    return Reply(status=204)


ENDPOINTS = [
    Endpoint("GET", "/user/repos", _list_repositories),
    Endpoint("POST", "/user/repos", _create_repository),
    Endpoint("GET", "/repos/{owner}/{repo}", _get_repository),
    Endpoint("DELETE", "/repos/{owner}/{repo}", _delete_repository),
]
