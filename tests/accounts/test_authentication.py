"""All combinations of credentials. Token rotation is tested in test_sessions, the lifecycle of keys in test_keys."""

from dataclasses import replace

import pytest

from forge.accounts.authentication import Credentials, RequestKind
from forge.accounts.models import NewKey
from forge.accounts.service import Accounts
from forge.accounts.tokens import csrf_token
from forge.errors import Denied, Unauthenticated
from forge.http.caller import Caller
from forge.http.scope import CallerMethod

ORIGIN = "http://localhost:8000"
SAFE, UNSAFE, WEBSOCKET = RequestKind.SAFE, RequestKind.UNSAFE, RequestKind.WEBSOCKET


@pytest.fixture
async def session_token(accounts: Accounts, sign_in) -> str:
    return await sign_in()


@pytest.fixture
async def key(accounts: Accounts, owner: Caller) -> str:
    return (await accounts.create_key(owner, NewKey(name="CI"))).key


def from_page(kind: RequestKind, token: str) -> Credentials:
    """Return the credentials that a page of Forge sends."""
    return Credentials(
        kind=kind,
        session_token=token,
        csrf_token=csrf_token(token),
        origin=ORIGIN,
        allowed_origins=frozenset({ORIGIN}),
    )


@pytest.mark.parametrize("kind", RequestKind)
async def test_own_page_is_authenticated(accounts: Accounts, session_token: str, kind: RequestKind):
    recognized = await accounts.authenticator.authenticate(from_page(kind, session_token))
    assert recognized.caller.method is CallerMethod.SESSION


@pytest.mark.parametrize("origin", [None, "null", "", "http://localhost:3000", "https://evil.example"])
@pytest.mark.parametrize("kind", [UNSAFE, WEBSOCKET])
async def test_cookie_from_a_foreign_page_is_rejected(
    accounts: Accounts, session_token: str, kind: RequestKind, origin: str | None
):
    with pytest.raises(Denied, match="Origin"):
        await accounts.authenticator.authenticate(replace(from_page(kind, session_token), origin=origin))


@pytest.mark.parametrize("origin", [None, "https://evil.example"])
async def test_safe_request_with_a_cookie_needs_neither_origin_nor_token(
    accounts: Accounts, session_token: str, origin: str | None
):
    credentials = replace(from_page(SAFE, session_token), origin=origin, csrf_token=None)
    assert (await accounts.authenticator.authenticate(credentials)).caller.method is CallerMethod.SESSION


@pytest.mark.parametrize("token", [None, "", "0" * 64, "é", csrf_token("another session")])
async def test_unsafe_request_with_a_cookie_needs_the_csrf_token_of_its_session(
    accounts: Accounts, session_token: str, token: str | None
):
    with pytest.raises(Denied, match="X-CSRF-Token"):
        await accounts.authenticator.authenticate(replace(from_page(UNSAFE, session_token), csrf_token=token))


async def test_websocket_needs_no_csrf_token(accounts: Accounts, session_token: str):
    credentials = replace(from_page(WEBSOCKET, session_token), csrf_token=None)
    assert (await accounts.authenticator.authenticate(credentials)).caller.method is CallerMethod.SESSION


async def test_unsafe_request_without_allowed_origins_is_rejected(accounts: Accounts, session_token: str):
    credentials = replace(from_page(UNSAFE, session_token), allowed_origins=frozenset[str]())
    with pytest.raises(Denied, match="is not an address of this server"):
        await accounts.authenticator.authenticate(credentials)


@pytest.mark.parametrize("kind", RequestKind)
@pytest.mark.parametrize("header", ["Bearer {}", "bearer   {} ", "api_key", "both"])
async def test_key_needs_neither_origin_nor_csrf_token(
    accounts: Accounts, key: str, kind: RequestKind, header: str
):
    credentials = Credentials(
        kind=kind,
        authorization=None if header == "api_key" else header.replace("both", "Bearer {}").format(key),
        api_key=key if header in {"api_key", "both"} else None,
        origin="https://evil.example",
    )
    assert (await accounts.authenticator.authenticate(credentials)).caller.method is CallerMethod.API_KEY


async def test_two_different_keys_are_rejected(accounts: Accounts, key: str):
    credentials = Credentials(kind=SAFE, authorization=f"Bearer {key}", api_key="forge_other")
    with pytest.raises(Unauthenticated, match="Two different"):
        await accounts.authenticator.authenticate(credentials)


async def test_key_takes_precedence_over_cookie(accounts: Accounts, key: str, session_token: str):
    credentials = replace(from_page(UNSAFE, session_token), api_key=key)
    assert (await accounts.authenticator.authenticate(credentials)).caller.method is CallerMethod.API_KEY


async def test_valid_cookie_does_not_rescue_an_invalid_key(accounts: Accounts, session_token: str):
    with pytest.raises(Unauthenticated, match="Unknown API key"):
        await accounts.authenticator.authenticate(
            replace(from_page(SAFE, session_token), api_key="forge_bad")
        )


async def test_proxy_authorization_header_does_not_hide_the_cookie(accounts: Accounts, session_token: str):
    credentials = replace(from_page(SAFE, session_token), authorization="Basic YTpi")
    assert (await accounts.authenticator.authenticate(credentials)).caller.method is CallerMethod.SESSION


async def test_session_token_is_rejected_as_api_key(accounts: Accounts, session_token: str):
    with pytest.raises(Unauthenticated, match="Unknown API key"):
        await accounts.authenticator.authenticate(
            Credentials(kind=SAFE, authorization=f"Bearer {session_token}")
        )


@pytest.mark.parametrize("kind", RequestKind)
@pytest.mark.parametrize("token", [None, ""])
async def test_request_without_credentials_is_rejected(
    accounts: Accounts, kind: RequestKind, token: str | None
):
    with pytest.raises(Unauthenticated, match="Not signed in"):
        await accounts.authenticator.authenticate(Credentials(kind=kind, session_token=token, origin=ORIGIN))


def test_repr_of_credentials_hides_secrets():
    credentials = Credentials(
        kind=SAFE,
        authorization="Bearer s3cret",
        api_key="s3cret",
        session_token="s3cret",
        csrf_token="s3cret",
    )
    assert "s3cret" not in repr(credentials)
