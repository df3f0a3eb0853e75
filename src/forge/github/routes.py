"""HTTP routes for signing in with GitHub, and for the GitHub connection of the caller's account."""

import json
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Depends, Header, Query, Request, Response, status
from fastapi.responses import RedirectResponse

from forge.accounts.bearer_tokens import LIFETIME
from forge.accounts.request_authentication import needs_secure_cookies, session_cookies
from forge.accounts.service import Accounts
from forge.errors import Denied, ForgeError, Invalid
from forge.github.component import GithubServices
from forge.github.models import (
    DeviceCode,
    DevicePoll,
    DeviceProgress,
    GithubConfiguration,
    GithubConnection,
    GithubUser,
    NewToken,
    OauthCode,
    RedirectUrl,
    SignedIn,
)
from forge.github.sign_in import STATE_LIFETIME, Finished
from forge.http.caller import Admin, Reader
from forge.http.envelope import Envelope, reply
from forge.kernel.clock import now

router = APIRouter(prefix="/api/v1")
CALLBACK = "/auth/github/callback"
STATE_COOKIE = "forge_oauth"
PROBLEM_COOKIE = "forge_problem"
PROBLEM_S = 60


def services(request: Request) -> GithubServices:
    return request.app.state.github


Services = Annotated[GithubServices, Depends(services)]
Invitation = Annotated[
    str | None,
    Header(alias="X-Forge-Invitation", description="The token of an invitation.", max_length=200),
]


@router.get("/auth/configuration", tags=["github"])
async def get_configuration(github: Services) -> Envelope[GithubConfiguration]:
    """Return how users can sign in. Needs no authentication."""
    return reply(github.connections.configuration())


@router.get("/auth/github", tags=["github"])
async def start_sign_in(
    request: Request, response: Response, github: Services, invitation: Invitation = None
) -> Envelope[RedirectUrl]:
    """Start signing in with GitHub: send the browser to `redirect_url`.

    The response sets a cookie; only the client that keeps it can finish the sign-in.
    """
    started = await github.sign_in.start(_callback_url(request), invitation=invitation)
    _set_cookie(request, response, STATE_COOKIE, started.browser_token, STATE_LIFETIME.seconds)
    return reply(RedirectUrl(redirect_url=started.redirect_url))


@router.post("/auth/github", tags=["github"])
async def exchange_code(
    request: Request, response: Response, body: OauthCode, github: Services
) -> Envelope[SignedIn]:
    """Exchange the code from GitHub for a bearer token, valid for 24 hours."""
    finished = await _finish(request, github, body.code, body.state)
    _set_cookie(request, response, STATE_COOKIE, "", 0)
    return reply(_signed_in(github, finished))


@router.get("/auth/github/callback", tags=["github"], response_model=Envelope[SignedIn])
async def handle_callback(
    request: Request,
    github: Services,
    state: Annotated[str, Query(max_length=500)],
    code: Annotated[str, Query(max_length=500)] = "",
    error: Annotated[str, Query(max_length=200)] = "",
    error_description: Annotated[str, Query(max_length=1000)] = "",
) -> Response:
    """Receive the browser back from GitHub.

    A browser gets session cookies and is sent on to the app; other clients get a bearer token as from POST.
    """
    is_browser = "text/html" in request.headers.get("accept", "")
    try:
        if error:
            await github.sign_in.reject(state, request.cookies.get(STATE_COOKIE))
            raise Denied(f"GitHub: {error_description or error}", hint="Start again from the login page.")
        finished = await _finish(request, github, code, state)
    except ForgeError as problem:
        if not is_browser:
            raise
        return _back_to_login(request, problem)
    if not is_browser:
        body = reply(_signed_in(github, finished))
        return Response(body.model_dump_json(), media_type="application/json")
    return _enter(request, finished)


@router.get("/auth/me", tags=["github"])
async def get_signed_in_user(caller: Reader, github: Services) -> Envelope[GithubUser]:
    connection = await github.connections.identity(caller.account_id)
    return reply(
        GithubUser(
            id=caller.account_id,
            github_login=connection.login if connection else "",
            avatar_url=connection.avatar_url if connection else "",
        )
    )


@router.get("/github", tags=["github"])
async def get_connection(caller: Reader, github: Services) -> Envelope[GithubConnection]:
    """Return the GitHub connection of the account, and what GitHub allows with it right now."""
    return reply(await github.connections.connection(caller.account_id))


@router.put("/github/token", tags=["github"])
async def set_token(caller: Admin, body: NewToken, github: Services) -> Envelope[GithubConnection]:
    """Connect the account with a personal access token, which is checked at GitHub first."""
    return reply(await github.connections.use_token(caller.account_id, body.token))


@router.delete("/github/token", tags=["github"])
async def delete_token(caller: Admin, github: Services) -> Envelope[GithubConnection]:
    return reply(await github.connections.disconnect(caller.account_id))


@router.post("/github/connect", tags=["github"])
async def connect_account(
    caller: Admin, request: Request, response: Response, github: Services
) -> Envelope[RedirectUrl]:
    """Connect GitHub to the signed-in account: send the browser to `redirect_url`."""
    started = await github.sign_in.start(_callback_url(request), account_id=caller.account_id)
    _set_cookie(request, response, STATE_COOKIE, started.browser_token, STATE_LIFETIME.seconds)
    return reply(RedirectUrl(redirect_url=started.redirect_url))


@router.post("/github/device", status_code=status.HTTP_201_CREATED, tags=["github"])
async def start_device_flow(caller: Admin, github: Services) -> Envelope[DeviceCode]:
    """Start connecting from a terminal: the person enters `user_code` at `verification_uri`."""
    return reply(await github.connections.start_device_flow())


@router.post("/github/device/poll", tags=["github"])
async def poll_device_flow(caller: Admin, body: DevicePoll, github: Services) -> Envelope[DeviceProgress]:
    """Ask whether the person has approved. Wait `interval_s` before asking again."""
    return reply(await github.connections.poll_device_flow(caller.account_id, body.device_code))


async def _finish(request: Request, github: GithubServices, code: str, state: str) -> Finished:
    if not code:
        raise Invalid("The code from GitHub is missing.", field="code")
    return await github.sign_in.finish(
        code=code,
        state=state,
        browser_token=request.cookies.get(STATE_COOKIE),
        redirect_uri=_callback_url(request),
    )


def _signed_in(github: GithubServices, finished: Finished) -> SignedIn:
    if finished.session is None:
        raise Invalid("This sign-in connects GitHub to an account in the browser.")
    at = now()
    token = github.bearer.issue(
        session_id=finished.session.id,
        account_id=finished.account.id,
        github_login=finished.identity.login,
        at=at,
    )
    user = GithubUser(
        id=finished.account.id,
        github_login=finished.identity.login,
        avatar_url=finished.identity.avatar_url,
    )
    return SignedIn(token=token, user=user, expires_at=at + LIFETIME)


def _enter(request: Request, finished: Finished) -> Response:
    accounts = _accounts(request)
    if finished.session is None:
        response = RedirectResponse("/settings/github", status.HTTP_303_SEE_OTHER)
    else:
        response = RedirectResponse("/", status.HTTP_303_SEE_OTHER)
        secure = needs_secure_cookies(request, accounts)
        for cookie in session_cookies(finished.session.token, secure=secure, days=accounts.session_days):
            response.headers.append("set-cookie", cookie)
    _set_cookie(request, response, STATE_COOKIE, "", 0)
    return response


def _back_to_login(request: Request, problem: ForgeError) -> Response:
    """Send the browser to the login page, which shows the problem.

    It is in a cookie and not in the address, so that no link can put words on the login page.
    """
    response = RedirectResponse("/login", status.HTTP_303_SEE_OTHER)
    text = quote(json.dumps({"message": problem.message, "hint": problem.hint}))
    _set_cookie(request, response, PROBLEM_COOKIE, text, PROBLEM_S, http_only=False)
    _set_cookie(request, response, STATE_COOKIE, "", 0)
    return response


def _set_cookie(
    request: Request, response: Response, name: str, value: str, seconds: int, *, http_only: bool = True
) -> None:
    response.set_cookie(
        name,
        value,
        max_age=seconds,
        secure=needs_secure_cookies(request, _accounts(request)),
        httponly=http_only,
        samesite="lax",
    )


def _callback_url(request: Request) -> str:
    return _accounts(request).address.url(request.headers.get("host")) + CALLBACK


def _accounts(request: Request) -> Accounts:
    return request.app.state.accounts
