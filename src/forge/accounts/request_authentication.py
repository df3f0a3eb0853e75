"""Authenticate HTTP requests: read their headers and cookies, set the cookies of sessions."""

from starlette.requests import HTTPConnection

from forge.accounts.address import canonical_origin
from forge.accounts.authentication import Credentials, RequestKind
from forge.accounts.service import Accounts
from forge.accounts.tokens import csrf_token
from forge.http.caller import Caller

SESSION_COOKIE = "forge_session"
CSRF_COOKIE = "forge_csrf"

_DAY_S = 24 * 60 * 60


def session_cookies(token: str, *, secure: bool, days: int) -> list[str]:
    """Return the cookies to set after login and whenever the token was rotated."""
    return _cookie_pair(token, csrf_token(token), secure=secure, max_age_s=days * _DAY_S)


def ended_session_cookies(*, secure: bool) -> list[str]:
    """Return the cookies that make the browser drop the session."""
    return _cookie_pair("", "", secure=secure, max_age_s=0)


def _cookie_pair(token: str, csrf: str, *, secure: bool, max_age_s: int) -> list[str]:
    common = f"Path=/; Max-Age={max_age_s}; SameSite=Lax" + ("; Secure" if secure else "")
    return [f"{SESSION_COOKIE}={token}; {common}; HttpOnly", f"{CSRF_COOKIE}={csrf}; {common}"]


_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


async def authenticate(connection: HTTPConnection) -> Caller:
    """Authenticate a request; installed as `app.state.authenticate`.

    Stores `state.new_session_token` for the middleware that sets cookies.
    """
    accounts: Accounts = connection.app.state.accounts
    authentication = await accounts.authenticator.authenticate(credentials_of(connection, accounts))
    connection.state.new_session_token = authentication.new_session_token
    return authentication.caller


def needs_secure_cookies(connection: HTTPConnection, accounts: Accounts) -> bool:
    return connection.url.scheme in {"https", "wss"} or accounts.address.is_https


def credentials_of(connection: HTTPConnection, accounts: Accounts) -> Credentials:
    headers = connection.headers
    return Credentials(
        kind=_kind(connection),
        authorization=headers.get("authorization"),
        api_key=headers.get("x-api-key"),
        session_token=connection.cookies.get(SESSION_COOKIE),
        csrf_token=headers.get("x-csrf-token"),
        origin=canonical_origin(headers.get("origin")),
        allowed_origins=accounts.address.allowed_origins(headers.get("host")),
    )


def _kind(connection: HTTPConnection) -> RequestKind:
    if connection.scope["type"] == "websocket":
        return RequestKind.WEBSOCKET
    return RequestKind.SAFE if connection.scope["method"] in _SAFE else RequestKind.UNSAFE
