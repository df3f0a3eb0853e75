"""REST endpoints about users, organizations and the API itself."""

from forge.demo.github.api import ApiError, Call, Endpoint, Reply, not_found
from forge.demo.github.views import membership_view, organization_view, profile_view
from forge.demo.github.world import Account


async def _get_viewer(call: Call) -> Reply:
    return Reply(profile_view(call.world, call.require_user()))


async def _get_user(call: Call) -> Reply:
    return Reply(profile_view(call.world, _account(call, call.path["login"])))


async def _list_organizations(call: Call) -> Reply:
    user = call.require_user()
    _require_org_scope(call, "user", "list your organizations")
    organizations = [] if call.is_fine_grained else list(call.world.organizations_of(user))
    return call.page(organizations, lambda each: organization_view(call.world, each))


async def _list_memberships(call: Call) -> Reply:
    user = call.require_user()
    _require_org_scope(call, "admin:org", "list your organization memberships")
    organizations = [] if call.is_fine_grained else list(call.world.organizations_of(user))
    return call.page(organizations, lambda each: membership_view(call.world, each, user))


async def _check_member(call: Call) -> Reply:
    """Only members of an organization can see who the others are."""
    organization, login = _organization(call), call.path["login"]
    if call.is_fine_grained:
        call.require_permission("members=read")
    may_see = call.is_fine_grained or call.has_scope("read:org", "write:org", "admin:org")
    if call.viewer is None or not may_see or call.viewer.id not in organization.members:
        url = f"{call.world.api_url}/orgs/{organization.login}/public_members/{login}"
        return Reply(status=302, headers={"location": url})
    if _account(call, login).id not in organization.members:
        raise not_found()
    return Reply(status=204)


async def _check_public_member(call: Call) -> Reply:
    if _account(call, call.path["login"]).id not in _organization(call).public_members:
        raise not_found()
    return Reply(status=204)


async def _get_rate_limit(call: Call) -> Reply:
    numbers = call.limiter.numbers(call.token)
    return Reply({"resources": {"core": numbers, "search": numbers}, "rate": numbers})


async def _get_meta(call: Call) -> Reply:
    networks = ["127.0.0.0/8"]
    return Reply(
        {"verifiable_password_authentication": False, "hooks": networks, "web": networks, "api": networks}
        | {"git": networks, "installed_version": "3.19.0"}
    )


def _account(call: Call, login: str) -> Account:
    account = call.world.find_account(login)
    if account is None:
        raise not_found()
    return account


def _organization(call: Call) -> Account:
    account = _account(call, call.path["org"])
    if not account.is_organization:
        raise not_found()
    return account


def _require_org_scope(call: Call, other_scope: str, purpose: str) -> None:
    if not call.is_fine_grained and not call.has_scope("read:org", "write:org", "admin:org", other_scope):
        raise ApiError(403, f"You need at least read:org scope or {other_scope} scope to {purpose}.")


ENDPOINTS = [
    Endpoint("GET", "/user", _get_viewer),
    Endpoint("GET", "/user/orgs", _list_organizations),
    Endpoint("GET", "/user/memberships/orgs", _list_memberships),
    Endpoint("GET", "/users/{login}", _get_user),
    Endpoint("GET", "/orgs/{org}/members/{login}", _check_member),
    Endpoint("GET", "/orgs/{org}/public_members/{login}", _check_public_member),
    Endpoint("GET", "/rate_limit", _get_rate_limit, is_free=True),
    Endpoint("GET", "/meta", _get_meta),
]
