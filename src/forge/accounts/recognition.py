"""Where a request meets the authenticator: its headers and cookies in, the caller out."""

from starlette.requests import HTTPConnection

from forge.accounts.address import canonical_origin
from forge.accounts.authentication import Credentials, RequestKind
from forge.accounts.cookies import SESSION_COOKIE
from forge.accounts.service import Accounts
from forge.http.caller import Caller

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


async def authenticate(connection: HTTPConnection) -> Caller:
    """Goes on `app.state.authenticate`. Leaves `state.new_session_token` for whoever writes the answer's headers."""
    accounts: Accounts = connection.app.state.accounts
    recognised = await accounts.authenticator.recognise(credentials_of(connection, accounts))
    connection.state.new_session_token = recognised.new_session_token
    return recognised.caller


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
