"""REST endpoints about the webhooks of a repository and their deliveries."""

from typing import Any
from urllib.parse import urlsplit

from forge.demo.github.api import Call, Endpoint, Reply, Requirement, invalid, not_found
from forge.demo.github.views import delivery_view, full_delivery_view, hook_view
from forge.demo.github.world import Delivery, Hook, JsonObject, Repository, Role
from forge.demo.loopback_server import LOOPBACK

KNOWN_EVENTS = {
    *(
        "*",
        "push",
        "create",
        "delete",
        "pull_request",
        "status",
        "check_run",
        "check_suite",
        "issues",
        "repository",
    ),
    *("issue_comment", "release", "workflow_run", "workflow_job", "member", "fork", "ping"),
}
_ADMIN, _WRITE = "admin:repo_hook", "write:repo_hook"
READ = Requirement(Role.ADMIN, "repository_hooks=read", (_ADMIN, _WRITE, "read:repo_hook"))
WRITE = Requirement(Role.ADMIN, "repository_hooks=write", (_ADMIN, _WRITE))
DELETE = Requirement(Role.ADMIN, "repository_hooks=write", (_ADMIN,))


async def _list(call: Call) -> Reply:
    repository = call.repository(READ)
    hooks = list(repository.hooks.values())
    return call.page(hooks, lambda each: hook_view(call.world, repository, each))


async def _create(call: Call) -> Reply:
    repository, sender, moment = call.repository(WRITE), call.require_user(), call.world.now()
    if call.optional("name", "web") != "web":
        raise invalid("Hook", "name", "name must be web")
    hook = Hook(call.world.new_id(), "", ["push"], moment, moment)
    _change(call, hook)
    if not hook.url:
        raise invalid("Hook", None, "Config must contain URL for webhooks")
    for other in repository.hooks.values():
        if (other.url, set(other.events)) == (hook.url, set(hook.events)):
            raise invalid("Hook", None, "Hook already exists on this repository")
    repository.hooks[hook.id] = hook
    view = hook_view(call.world, repository, hook)
    call.webhooks.ping(hook, repository, sender)
    return Reply(view, 201, {"location": view["url"]})


def _change(call: Call, hook: Hook) -> None:
    """Apply the body of a request to a hook."""
    config: JsonObject = call.optional("config", {})
    url, events = str(config.get("url", hook.url)), call.optional("events", hook.events)
    if url and (urlsplit(url).scheme not in ("http", "https") or urlsplit(url).hostname not in LOOPBACK):
        message = "url is not supported because the double delivers to this machine only"
        raise invalid("Hook", "url", message)
    if not events or not KNOWN_EVENTS.issuperset(events):
        raise invalid("Hook", "events", "Events is invalid")
    if config.get("content_type", "form") not in ("json", "form"):
        raise invalid("Hook", "content_type", "content_type must be json or form")
    hook.url, hook.events, hook.is_active = url, events, call.optional("active", hook.is_active)
    hook.content_type = config.get("content_type", hook.content_type)
    hook.insecure_ssl = str(config.get("insecure_ssl", hook.insecure_ssl))
    if config:
        hook.secret = config.get("secret")  # a configuration without it removes the secret


def _hook(call: Call, repository: Repository) -> Hook:
    hook = repository.hooks.get(int(call.path["hook_id"]))
    if hook is None:
        raise not_found()
    return hook


async def _get(call: Call) -> Reply:
    repository = call.repository(READ)
    return Reply(hook_view(call.world, repository, _hook(call, repository)))


async def _update(call: Call) -> Reply:
    repository = call.repository(WRITE)
    hook = _hook(call, repository)
    _change(call, hook)
    hook.updated_at = call.world.now()
    return Reply(hook_view(call.world, repository, hook))


async def _delete(call: Call) -> Reply:
    repository = call.repository(DELETE)
    del repository.hooks[_hook(call, repository).id]
    return Reply(status=204)


async def _ping(call: Call) -> Reply:
    repository = call.repository(READ)
    call.webhooks.ping(_hook(call, repository), repository, call.require_user())
    return Reply(status=204)


async def _list_deliveries(call: Call) -> Reply:
    """Newest first, in pages that begin at a cursor: the id of a delivery."""
    repository = call.repository(READ)
    per_page, cursor = call.integer("per_page", 30, 100), call.integer("cursor", 0, 1 << 62)
    newest = sorted(_hook(call, repository).deliveries, key=lambda each: -each.id)
    left = [each for each in newest if not cursor or each.id <= cursor]
    reply = Reply([delivery_view(repository, each) for each in left[:per_page]])
    if len(left) > per_page:
        reply.headers.update(call.link_header({"next": {"cursor": left[per_page].id}}))
    return reply


def _delivery(call: Call, hook: Hook) -> Delivery:
    wanted = int(call.path["delivery_id"])
    found = next((each for each in hook.deliveries if each.id == wanted), None)
    if found is None:
        raise not_found()
    return found


async def _get_delivery(call: Call) -> Reply:
    repository = call.repository(READ)
    hook = _hook(call, repository)
    return Reply(full_delivery_view(repository, hook, _delivery(call, hook)))


async def _redeliver(call: Call) -> Reply:
    repository = call.repository(WRITE)
    hook = _hook(call, repository)
    call.webhooks.redeliver(hook, repository, _delivery(call, hook))
    empty: dict[str, Any] = {}
    return Reply(empty, 202)


_HOOKS = "/repos/{owner}/{repo}/hooks"
_HOOK = f"{_HOOKS}/{{hook_id:int}}"
ENDPOINTS = [
    Endpoint("GET", _HOOKS, _list),
    Endpoint("POST", _HOOKS, _create),
    Endpoint("GET", _HOOK, _get),
    Endpoint("PATCH", _HOOK, _update),
    Endpoint("DELETE", _HOOK, _delete),
    Endpoint("POST", f"{_HOOK}/pings", _ping),
    Endpoint("GET", f"{_HOOK}/deliveries", _list_deliveries),
    Endpoint("GET", f"{_HOOK}/deliveries/{{delivery_id:int}}", _get_delivery),
    Endpoint("POST", f"{_HOOK}/deliveries/{{delivery_id:int}}/attempts", _redeliver),
]
