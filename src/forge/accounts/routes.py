"""HTTP routes for accounts: login, API keys, secrets."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response, status

from forge.accounts.members import Members
from forge.accounts.models import (
    Account,
    ApiKey,
    CreatedInvitation,
    CreatedKey,
    Invitation,
    Login,
    LoginLink,
    Me,
    Member,
    NewInvitation,
    NewKey,
    NewSecret,
    Rename,
    SecretName,
    SecretScope,
    SecretView,
)
from forge.accounts.request_authentication import ended_session_cookies, needs_secure_cookies, session_cookies
from forge.accounts.service import Accounts
from forge.http.caller import Admin, Owner, OwnerReader, Reader, Writer
from forge.http.envelope import Envelope, reply
from forge.http.parameters import Id, OptionalLimit
from forge.http.scope import Scope

router = APIRouter(prefix="/api/v1")


def service(request: Request) -> Accounts:
    return request.app.state.accounts


def member_service(request: Request) -> Members:
    return request.app.state.members


Service = Annotated[Accounts, Depends(service)]
MemberService = Annotated[Members, Depends(member_service)]
ScopeFilter = Annotated[
    SecretScope | None, Query(description="Return only secrets of this scope. Default: all.")
]
ScopeOf = Annotated[
    SecretScope,
    Query(description="The owner of the secret, like `bot:ID`; empty for a secret shared by all."),
]


@router.post("/login", tags=["account"])
async def log_in(body: Login, request: Request, response: Response, accounts: Service) -> Envelope[Account]:
    """Exchange the token of a one-time link for a session (two cookies)."""
    opened = await accounts.log_in(body.token)
    secure = needs_secure_cookies(request, accounts)
    _set_cookies(response, session_cookies(opened.token, secure=secure, days=accounts.session_days))
    return reply(opened.account)


@router.post("/logout", tags=["account"])
async def log_out(caller: Reader, request: Request, response: Response, accounts: Service) -> Envelope[None]:
    await accounts.log_out(caller)
    request.state.new_session_token = None  # otherwise a token rotated by this request would be sent
    _set_cookies(response, ended_session_cookies(secure=needs_secure_cookies(request, accounts)))
    return reply(None)


@router.post("/login-links", status_code=status.HTTP_201_CREATED, tags=["account"])
async def create_login_link(caller: Admin, request: Request, accounts: Service) -> Envelope[LoginLink]:
    """Create a one-time login link for a browser that is not signed in."""
    return reply(await accounts.create_login_link(caller.account_id, request.headers.get("host")))


@router.get("/me", tags=["account"])
async def me(caller: Reader, accounts: Service) -> Envelope[Me]:
    account = await accounts.account(caller.account_id)
    return reply(Me(account=account, scopes=[s for s in Scope if s in caller.scopes], method=caller.method))


@router.patch("/me", tags=["account"])
async def rename(caller: Writer, body: Rename, accounts: Service) -> Envelope[Account]:
    return reply(await accounts.rename(caller.account_id, body.name))


@router.get("/keys", tags=["keys"])
async def list_keys(caller: Reader, accounts: Service, limit: OptionalLimit = None) -> Envelope[list[ApiKey]]:
    return reply((await accounts.list_keys(caller.account_id))[:limit])


@router.post("/keys", status_code=status.HTTP_201_CREATED, tags=["keys"])
async def create_key(caller: Writer, body: NewKey, accounts: Service) -> Envelope[CreatedKey]:
    """Create an API key. The key is shown only in this response; its scopes cannot exceed the caller's."""
    return reply(await accounts.create_key(caller, body))


@router.delete("/keys/{key_id}", tags=["keys"])
async def revoke_key(caller: Writer, key_id: str, accounts: Service) -> Envelope[ApiKey]:
    return reply(await accounts.revoke_key(caller, key_id))


@router.get("/secrets", tags=["secrets"])
async def list_secrets(
    caller: Reader, accounts: Service, scope: ScopeFilter = None, limit: OptionalLimit = None
) -> Envelope[list[SecretView]]:
    """List secrets by name with their last characters. Values are never returned."""
    return reply(list(await accounts.vault.of(caller.account_id).list(scope))[:limit])


@router.put("/secrets/{name}", tags=["secrets"])
async def set_secret(
    caller: Admin, name: SecretName, body: NewSecret, accounts: Service
) -> Envelope[SecretView]:
    return reply(await accounts.vault.of(caller.account_id).set(name, body.value, body.scope))


@router.delete("/secrets/{name}", tags=["secrets"])
async def remove_secret(
    caller: Admin, name: SecretName, accounts: Service, scope: ScopeOf = ""
) -> Envelope[SecretView]:
    return reply(await accounts.vault.of(caller.account_id).remove(name, scope))


@router.get("/members", tags=["members"])
async def list_members(
    caller: OwnerReader, members: MemberService, limit: OptionalLimit = None
) -> Envelope[list[Member]]:
    """List the accounts of this server, the owner first. Only for the owner."""
    return reply((await members.all())[:limit])


@router.delete("/members/{account_id}", tags=["members"])
async def remove_member(caller: Owner, account_id: Id, members: MemberService) -> Envelope[Member]:
    """Remove a member: sessions and keys end, runs are cancelled, triggers are switched off. The data is kept."""
    return reply(await members.remove(account_id))


@router.get("/invitations", tags=["members"])
async def list_invitations(
    caller: OwnerReader, members: MemberService, limit: OptionalLimit = None
) -> Envelope[list[Invitation]]:
    return reply((await members.invitations())[:limit])


@router.post("/invitations", status_code=status.HTTP_201_CREATED, tags=["members"])
async def create_invitation(
    caller: Owner, body: NewInvitation, request: Request, members: MemberService
) -> Envelope[CreatedInvitation]:
    """Invite a GitHub user, or the members of GitHub organizations. The link is shown only in this response."""
    return reply(await members.invite(body, request.headers.get("host")))


@router.delete("/invitations/{invitation_id}", tags=["members"])
async def revoke_invitation(caller: Owner, invitation_id: Id, members: MemberService) -> Envelope[Invitation]:
    return reply(await members.revoke_invitation(invitation_id))


def _set_cookies(response: Response, values: list[str]) -> None:
    for value in values:
        response.headers.append("set-cookie", value)
