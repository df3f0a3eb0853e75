import anyio
import pytest

from forge.accounts.authentication import Authentication, Credentials, RequestKind
from forge.accounts.models import owner_id
from forge.accounts.service import Accounts
from forge.accounts.tables import sessions
from forge.accounts.tokens import csrf_token
from forge.errors import ForgeError, Unauthenticated
from forge.http.caller import Caller
from forge.http.scope import CallerMethod, Scope

ORIGIN = "http://localhost:8000"


async def authenticate(
    accounts: Accounts, token: str, kind: RequestKind = RequestKind.SAFE
) -> Authentication:
    credentials = Credentials(
        kind=kind,
        session_token=token,
        csrf_token=csrf_token(token),
        origin=ORIGIN,
        allowed_origins=frozenset({ORIGIN}),
    )
    return await accounts.authenticator.authenticate(credentials)


@pytest.fixture
async def rotated(accounts: Accounts, clock, sign_in) -> tuple[str, str]:
    """The replaced token of a session and its new one."""
    old = await sign_in()
    clock.advance(hours=1, seconds=1)
    new = (await authenticate(accounts, old)).new_session_token
    assert new is not None
    return old, new


async def test_owner_session_has_all_scopes(accounts: Accounts, rows, sign_in):
    token = await sign_in()
    [row] = await rows(sessions)
    assert await authenticate(accounts, token) == Authentication(
        Caller(owner_id(), "Owner", frozenset({Scope.ADMIN}), CallerMethod.SESSION, row["id"], is_owner=True)
    )


async def test_token_is_not_rotated_within_an_hour(accounts: Accounts, clock, sign_in):
    token = await sign_in()
    clock.advance(hours=1)
    assert (await authenticate(accounts, token)).new_session_token is None


async def test_old_token_is_rotated_and_the_new_one_works(
    rotated: tuple[str, str], accounts: Accounts, clock
):
    old, new = rotated
    clock.advance(minutes=30)
    after = await authenticate(accounts, new)
    assert new != old
    assert after.new_session_token is None


async def test_replaced_token_is_valid_for_a_minute_and_gets_the_same_new_one(
    rotated: tuple[str, str], accounts: Accounts, clock
):
    old, new = rotated
    clock.advance(seconds=60)
    assert (await authenticate(accounts, old)).new_session_token == new


async def test_late_replay_of_a_replaced_token_ends_the_session(
    rotated: tuple[str, str], accounts: Accounts, clock, rows
):
    old, new = rotated
    clock.advance(seconds=1)
    await authenticate(accounts, new)
    clock.advance(seconds=60)
    with pytest.raises(Unauthenticated, match="outdated token"):
        await authenticate(accounts, old)
    assert await rows(sessions) == []
    with pytest.raises(Unauthenticated, match="has ended"):
        await authenticate(accounts, new)


async def test_lost_new_token_is_issued_again(rotated: tuple[str, str], accounts: Accounts, clock):
    """A lost response must not sign the user out."""
    old, new = rotated
    clock.advance(hours=10)
    assert (await authenticate(accounts, old)).new_session_token == new
    clock.advance(seconds=5)
    await authenticate(accounts, new)
    assert (await authenticate(accounts, old)).new_session_token == new, (
        "a concurrent request with the old token"
    )
    clock.advance(seconds=61)
    with pytest.raises(Unauthenticated, match="outdated token"):
        await authenticate(accounts, old)


async def test_clock_set_back_neither_extends_the_grace_minute_nor_writes_per_request(
    rotated: tuple[str, str], accounts: Accounts, clock, rows
):
    old, new = rotated
    clock.advance(hours=-1)
    await authenticate(accounts, new)
    [first] = await rows(sessions)
    clock.advance(seconds=1)
    await authenticate(accounts, new)
    assert await rows(sessions) == [first]
    with pytest.raises(Unauthenticated, match="outdated token"):
        await authenticate(accounts, old)


async def test_concurrent_requests_get_the_same_new_token(accounts: Accounts, clock, sign_in):
    old = await sign_in()
    clock.advance(hours=2)
    results: list[Authentication] = []

    async def request() -> None:
        results.append(await authenticate(accounts, old))

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(request)
    assert results == [results[0]] * 8
    assert results[0].new_session_token is not None
    assert (await authenticate(accounts, results[0].new_session_token)).new_session_token is None


async def test_token_from_two_rotations_ago_is_unknown(rotated: tuple[str, str], accounts: Accounts, clock):
    oldest, old = rotated
    clock.advance(hours=2)
    new = (await authenticate(accounts, old)).new_session_token
    assert new is not None
    with pytest.raises(Unauthenticated, match="has ended"):
        await authenticate(accounts, oldest)
    assert await authenticate(accounts, new)


async def test_websocket_never_rotates_the_token(accounts: Accounts, clock, sign_in):
    token = await sign_in()
    clock.advance(hours=5)
    assert (await authenticate(accounts, token, RequestKind.WEBSOCKET)).new_session_token is None
    assert (await authenticate(accounts, token)).new_session_token is not None


async def test_forged_request_does_not_rotate_the_token(accounts: Accounts, clock, rows, sign_in):
    token = await sign_in()
    clock.advance(hours=5)
    before = await rows(sessions)
    forged = Credentials(
        kind=RequestKind.UNSAFE,
        session_token=token,
        csrf_token="guessed",
        origin=ORIGIN,
        allowed_origins=frozenset({ORIGIN}),
    )
    with pytest.raises(ForgeError, match="X-CSRF-Token"):
        await accounts.authenticator.authenticate(forged)
    assert await rows(sessions) == before


async def test_session_expires_after_thirty_days_without_use(accounts: Accounts, clock, sign_in):
    token = await sign_in()
    clock.advance(days=30)
    with pytest.raises(Unauthenticated, match="has expired"):
        await authenticate(accounts, token)


async def test_used_session_does_not_expire(accounts: Accounts, clock, sign_in):
    token = await sign_in()
    for _ in range(4):
        clock.advance(days=20)
        token = (await authenticate(accounts, token)).new_session_token or token
    assert await authenticate(accounts, token)


async def test_use_extends_the_session_at_most_once_a_minute(accounts: Accounts, clock, rows, sign_in):
    token = await sign_in()
    opened_at = clock.at
    clock.advance(seconds=59)
    await authenticate(accounts, token)
    assert (await rows(sessions))[0]["seen_at"] == opened_at
    clock.advance(seconds=1)
    await authenticate(accounts, token)
    [row] = await rows(sessions)
    assert row["seen_at"] == clock.at
    assert (row["expires_at"] - clock.at).days == 30


async def test_logout_ends_the_session(accounts: Accounts, rows, sign_in):
    token = await sign_in()
    await accounts.log_out((await authenticate(accounts, token)).caller)
    assert await rows(sessions) == []
    with pytest.raises(Unauthenticated, match="has ended"):
        await authenticate(accounts, token)


async def test_open_connection_ends_with_its_session(accounts: Accounts, clock, sign_in):
    caller = (await authenticate(accounts, await sign_in())).caller
    await accounts.check_credential(caller)
    clock.advance(days=30)
    with pytest.raises(Unauthenticated, match="no longer valid"):
        await accounts.check_credential(caller)


async def test_login_deletes_expired_sessions(accounts: Accounts, clock, rows, sign_in):
    await sign_in()
    clock.advance(days=31)
    await sign_in()
    assert [row["created_at"] for row in await rows(sessions)] == [clock.at]
