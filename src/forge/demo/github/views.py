"""The JSON of accounts and repositories, which REST answers and webhook payloads share."""

from base64 import b64encode
from datetime import UTC, datetime

from forge.demo.github.world import Account, Delivery, Hook, JsonObject, Repository, Role, World

_USER_URLS = (
    "followers following{/other_user} gists{/gist_id} starred{/owner}{/repo} subscriptions organizations=orgs repos "
    "events{/privacy} received_events"
)
_ORGANIZATION_URLS = "repos events hooks issues members{/member} public_members{/member}"
_REPOSITORY_URLS = (
    "forks keys{/key_id} collaborators{/collaborator} teams hooks issue_events=issues/events{/number} events "
    "assignees{/user} branches{/branch} tags blobs=git/blobs{/sha} git_tags=git/tags{/sha} git_refs=git/refs{/sha} "
    "trees=git/trees{/sha} statuses=statuses/{sha} languages stargazers contributors subscribers subscription "
    "commits{/sha} git_commits=git/commits{/sha} comments{/number} issue_comment=issues/comments{/number} "
    "contents=contents/{+path} compare=compare/{base}...{head} merges archive={archive_format}{/ref} downloads "
    "issues{/number} pulls{/number} milestones{/number} notifications{?since,all,participating} labels{/name} "
    "releases{/id} deployments"
)


def iso(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def node_id(kind: str, number: int) -> str:
    return b64encode(f"{kind}:{number}".encode()).decode()


def user_view(world: World, account: Account) -> JsonObject:
    url = f"{world.api_url}/users/{account.login}"
    return {
        "login": account.login,
        "id": account.id,
        "node_id": node_id("User", account.id),
        "avatar_url": f"{world.url}/avatars/{account.id}",
        "gravatar_id": "",
        "url": url,
        "html_url": f"{world.url}/{account.login}",
        **_urls(url, _USER_URLS),
        "type": "Organization" if account.is_organization else "User",
        "site_admin": False,
    }


def profile_view(world: World, account: Account) -> JsonObject:
    """Return the public profile of a user."""
    owned = [each for each in world.repositories.values() if each.owner is account and not each.is_private]
    return {
        **user_view(world, account),
        "name": account.name,
        "company": None,
        "blog": "",
        "location": None,
        "email": account.email,
        "hireable": None,
        "bio": None,
        "twitter_username": None,
        "public_repos": len(owned),
        "public_gists": 0,
        "followers": 0,
        "following": 0,
        "created_at": iso(account.created_at),
        "updated_at": iso(account.created_at),
    }


def organization_view(world: World, account: Account) -> JsonObject:
    url = f"{world.api_url}/orgs/{account.login}"
    return {
        "login": account.login,
        "id": account.id,
        "node_id": node_id("Organization", account.id),
        "url": url,
        **_urls(url, _ORGANIZATION_URLS),
        "avatar_url": f"{world.url}/avatars/{account.id}",
        "description": account.name,
    }


def membership_view(world: World, organization: Account, user: Account) -> JsonObject:
    url = f"{world.api_url}/orgs/{organization.login}"
    return {
        "url": f"{url}/memberships/{user.login}",
        "state": "active",
        "role": organization.members[user.id],
        "organization_url": url,
        "direct_membership": True,
        "organization": organization_view(world, organization),
        "user": user_view(world, user),
    }


def repository_view(world: World, repository: Repository, viewer: Account | None) -> JsonObject:
    url = f"{world.api_url}/repos/{repository.full_name}"
    page, role = f"{world.url}/{repository.full_name}", repository.role_of(viewer)
    roles = {
        "admin": Role.ADMIN,
        "maintain": Role.ADMIN,
        "push": Role.PUSH,
        "triage": Role.PUSH,
        "pull": Role.PULL,
    }
    return {
        "id": repository.id,
        "node_id": node_id("Repository", repository.id),
        "name": repository.name,
        "full_name": repository.full_name,
        "private": repository.is_private,
        "owner": user_view(world, repository.owner),
        "html_url": page,
        "description": repository.description,
        "fork": False,
        "url": url,
        **_urls(url, _REPOSITORY_URLS),
        "created_at": iso(repository.created_at),
        "updated_at": iso(repository.updated_at),
        "pushed_at": iso(repository.pushed_at),
        "git_url": f"{page.replace('http', 'git', 1)}.git",
        "ssh_url": f"git@{world.url.partition('://')[2].partition(':')[0]}:{repository.full_name}.git",
        "clone_url": f"{page}.git",
        "svn_url": page,
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        **dict.fromkeys(
            ("size", "stargazers_count", "watchers_count", "forks_count", "open_issues_count"), 0
        ),
        **dict.fromkeys(("watchers", "forks", "open_issues"), 0),
        **dict.fromkeys(("has_issues", "has_projects", "has_downloads", "has_wiki", "allow_forking"), True),
        **dict.fromkeys(("has_pages", "has_discussions", "is_template", "disabled"), False),
        "web_commit_signoff_required": False,
        "archived": repository.is_archived,
        "topics": [],
        "visibility": "private" if repository.is_private else "public",
        "default_branch": repository.default_branch,
        "permissions": {name: role >= needed for name, needed in roles.items()},
    }


def full_repository_view(world: World, repository: Repository, viewer: Account | None) -> JsonObject:
    return {
        **repository_view(world, repository, viewer),
        **({"organization": user_view(world, repository.owner)} if repository.owner.is_organization else {}),
        "temp_clone_token": None,
        "network_count": 0,
        "subscribers_count": 0,
    }


def _urls(base: str, entries: str) -> dict[str, str]:
    """Return URL templates by field. An entry is a path that begins with its field's name, or `name=path`."""
    urls: dict[str, str] = {}
    for entry in entries.split():
        name, _, path = entry.partition("=") if "=" in entry else (entry.partition("{")[0], "", entry)
        urls[f"{name}_url"] = f"{base}/{path}"
    return urls


def hook_view(world: World, repository: Repository, hook: Hook) -> JsonObject:
    url = f"{world.api_url}/repos/{repository.full_name}/hooks/{hook.id}"
    last = hook.deliveries[-1] if hook.deliveries else None
    config = {"content_type": hook.content_type, "insecure_ssl": hook.insecure_ssl, "url": hook.url}
    return {
        "type": "Repository",
        "id": hook.id,
        "name": "web",
        "active": hook.is_active,
        "events": hook.events,
        "config": config | ({"secret": "********"} if hook.secret else {}),
        "updated_at": iso(hook.updated_at),
        "created_at": iso(hook.created_at),
        "url": url,
        "test_url": f"{url}/test",
        "ping_url": f"{url}/pings",
        "deliveries_url": f"{url}/deliveries",
        "last_response": {
            "code": (last.status_code or None) if last else None,
            "status": "unused" if last is None else "active" if last.status == "OK" else "failed",
            "message": last.status if last else None,
        },
    }


def delivery_view(repository: Repository, delivery: Delivery) -> JsonObject:
    return {
        "id": delivery.id,
        "guid": delivery.guid,
        "delivered_at": iso(delivery.delivered_at),
        "redelivery": delivery.is_redelivery,
        "duration": delivery.duration_s,
        "status": delivery.status,
        "status_code": delivery.status_code,
        "event": delivery.event,
        "action": None,
        "installation_id": None,
        "repository_id": repository.id,
        "throttled_at": None,
    }


def full_delivery_view(repository: Repository, hook: Hook, delivery: Delivery) -> JsonObject:
    return {
        **delivery_view(repository, delivery),
        "url": hook.url,
        "request": {"headers": delivery.request_headers, "payload": delivery.payload},
        "response": {"headers": delivery.response_headers, "payload": delivery.response_body},
    }
