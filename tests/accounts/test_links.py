import anyio
import pytest

from forge.accounts.models import LoginLink, owner_id
from forge.accounts.service import Accounts
from forge.accounts.sessions import OpenedSession
from forge.accounts.tables import login_links, sessions
from forge.errors import ForgeError, Gone, Unauthenticated
from forge.kernel.hashing import hash_text


def token_in(url: str) -> str:
    return url.partition("#token=")[2]


async def test_link_opens_a_session_of_the_owner(accounts: Accounts):
    link = await accounts.create_login_link(owner_id())
    opened = await accounts.log_in(token_in(link.url))
    assert opened.account == await accounts.account(owner_id())
    assert len(opened.token) == 43


async def test_links_and_sessions_are_stored_as_hashes(accounts: Accounts, rows):
    link = await accounts.create_login_link(owner_id())
    opened = await accounts.log_in(token_in(link.url))
    [stored_link], [stored_session] = await rows(login_links), await rows(sessions)
    assert stored_link["token_hash"] == hash_text(token_in(link.url))
    assert stored_session["token_hash"] == hash_text(opened.token)
    assert token_in(link.url) not in repr(stored_link) + repr(link)
    assert opened.token not in repr(stored_session) + repr(opened)


async def test_link_expires_after_fifteen_minutes(accounts: Accounts, clock):
    made_at = clock.at
    link = await accounts.create_login_link(owner_id())
    assert (link.expires_at - made_at).total_seconds() == 15 * 60
    clock.advance(minutes=15)
    with pytest.raises(Gone, match="has expired") as refused:
        await accounts.log_in(token_in(link.url))
    assert refused.value.hint == "Get a new one in the terminal: forge login --link"


async def test_link_is_valid_until_its_last_second(accounts: Accounts, clock):
    link = await accounts.create_login_link(owner_id())
    clock.advance(minutes=14, seconds=59)
    assert await accounts.log_in(token_in(link.url))


async def test_link_works_once(accounts: Accounts):
    link = await accounts.create_login_link(owner_id())
    await accounts.log_in(token_in(link.url))
    with pytest.raises(Gone, match="has been used"):
        await accounts.log_in(token_in(link.url))


async def test_unknown_link_is_rejected(accounts: Accounts):
    with pytest.raises(Unauthenticated, match="Unknown login link"):
        await accounts.log_in("nonsense")


async def test_concurrent_uses_of_a_link_succeed_once(accounts: Accounts, rows, link_token):
    token = await link_token()
    opened: list[OpenedSession] = []
    refused: list[ForgeError] = []

    async def use() -> None:
        try:
            opened.append(await accounts.log_in(token))
        except ForgeError as error:
            refused.append(error)

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(use)
    assert len(opened) == 1
    assert [type(error) for error in refused] == [Gone] * 7
    assert len(await rows(sessions)) == 1


async def test_creating_a_link_deletes_old_ones(accounts: Accounts, clock, rows):
    await accounts.create_login_link(owner_id())
    clock.advance(days=8)
    link = await accounts.create_login_link(owner_id())
    assert [row["token_hash"] for row in await rows(login_links)] == [hash_text(token_in(link.url))]


async def test_link_uses_the_requested_address(accounts: Accounts):
    async def start_of(host: str | None) -> str:
        link: LoginLink = await accounts.create_login_link(owner_id(), host)
        return link.url.partition("#")[0]

    assert await start_of("localhost:8000") == "http://localhost:8000/login"
    assert await start_of("evil.example") == "http://127.0.0.1:8000/login"
    assert await start_of(None) == "http://127.0.0.1:8000/login"
