"""Sign-in with GitHub: who is admitted, and every way it fails."""

from dataclasses import replace

import pytest
import sqlalchemy as sa
from tests.github.conftest import Browser, Team

from forge.accounts.models import Account, Role, owner_id
from forge.accounts.tables import accounts, github_identities, sessions
from forge.errors import Conflict, Denied, ForgeError, Gone
from forge.github.client import Github, OauthApp
from forge.github.errors import GithubDenied, GithubTokenRejected, GithubUnavailable
from forge.github.sign_in import SignIn
from forge.store.database import Store


async def count(store: Store, table: sa.Table) -> int:
    async with store.read() as tx:
        return int((await tx.execute(sa.select(sa.func.count()).select_from(table))).scalar_one())


async def refuse(team: Team, browser: Browser, store: Store) -> ForgeError:
    """Finish a sign-in that must fail, and check that nobody is signed in or admitted by it."""
    before = [await count(store, table) for table in (accounts, github_identities, sessions)]
    with pytest.raises(ForgeError) as refused:
        await team.finish(browser)
    assert [await count(store, table) for table in (accounts, github_identities, sessions)] == before
    return refused.value


async def test_invited_user_becomes_a_member_and_can_sign_in_again(team: Team):
    finished = await team.enter("octo", invitation=await team.invite(github_login="Octo"))
    assert (finished.account.name, finished.account.role) == ("octo", Role.MEMBER)
    assert finished.session is not None and finished.session.account == finished.account
    assert (await team.enter("octo")).account == finished.account
    assert await team.connections.token(finished.account.id)
    [owner, member] = await team.members.all()
    assert (owner.account.role, owner.github_login) == (Role.OWNER, None)
    assert (member.account, member.github_login) == (finished.account, "octo")


async def test_user_without_invitation_is_not_admitted(team: Team, store: Store):
    refused = await refuse(team, await team.start("octo"), store)
    assert (type(refused), refused.message) == (
        Denied,
        "The GitHub user octo has no account on this server.",
    )


async def test_invitation_for_another_login_is_refused_and_can_still_be_used(team: Team, store: Store):
    team.double.add_user("mallory")
    invitation = await team.invite(github_login="octo")
    refused = await refuse(team, await team.start("mallory", invitation=invitation), store)
    assert refused.message == "This invitation is for octo; you signed in to GitHub as mallory."
    assert (await team.enter("octo", invitation=invitation)).account.name == "octo"


async def test_organization_invitation_admits_its_members_only(team: Team, store: Store):
    team.double.add_user("newcomer")
    team.double.add_user("stranger")
    team.double.set_member("acme", "newcomer")
    invitation = await team.invite(organizations=["Acme"])
    assert (await team.enter("newcomer", invitation=invitation)).account.name == "newcomer"
    assert (await team.enter("octo", invitation=invitation)).account.name == "octo"
    refused = await refuse(team, await team.start("stranger", invitation=invitation), store)
    assert "GitHub does not list stranger as one" in refused.message


@pytest.mark.parametrize("case", ["used", "expired", "revoked", "unknown"])
async def test_invalid_invitation_cannot_start_a_sign_in(team: Team, case: str):
    invitation = await team.invite(github_login="octo")
    if case == "used":
        await team.enter("octo", invitation=invitation)
    elif case == "expired":
        team.clock.advance(days=7)
    elif case == "revoked":
        await team.members.revoke_invitation((await team.members.invitations())[0].id)
    with pytest.raises((Gone, Denied), match=case if case != "unknown" else "Unknown invitation"):
        await team.sign_in.start("http://x", invitation="x" if case == "unknown" else invitation)


async def test_renamed_user_keeps_the_account(team: Team):
    team.double.add_user("before-rename")
    first = await team.enter("before-rename", invitation=await team.invite(github_login="before-rename"))
    team.double.rename_user("before-rename", "after-rename")
    team.double.add_user("before-rename")  # the old name belongs to somebody else now
    assert (await team.enter("after-rename")).account == first.account
    with pytest.raises(Denied, match="has no account"):
        await team.enter("before-rename")
    assert [member.github_login for member in await team.members.all()] == [None, "after-rename"]


async def test_removed_member_cannot_sign_in_until_invited_again(team: Team, store: Store):
    member = (await team.enter("octo", invitation=await team.invite(github_login="octo"))).account
    await team.members.remove(member.id)
    assert await count(store, sessions) == 0
    refused = await refuse(team, await team.start("octo"), store)
    assert refused.message == "The GitHub user octo was removed from this server."
    again = await team.enter("octo", invitation=await team.invite(github_login="octo"))
    assert again.account == member


async def test_owner_connects_github_and_then_signs_in_with_it(team: Team):
    connected = await team.enter("octo", account_id=owner_id())
    assert connected.session is None
    entered = await team.enter("octo")
    assert entered.account.role is Role.OWNER


async def test_github_user_of_another_account_cannot_be_connected(team: Team, store: Store):
    await team.enter("octo", invitation=await team.invite(github_login="octo"))
    refused = await refuse(team, await team.start("octo", account_id=owner_id()), store)
    assert isinstance(refused, Conflict)


async def admitted(team: Team) -> Account:
    return (await team.enter("octo", invitation=await team.invite(github_login="octo"))).account


async def test_state_works_once(team: Team, store: Store):
    await admitted(team)
    browser = await team.start("octo")
    await team.finish(browser)
    assert isinstance(await refuse(team, browser, store), Gone)


async def test_state_expires(team: Team, store: Store):
    await admitted(team)
    browser = await team.start("octo")
    team.clock.advance(minutes=10)
    assert "longer than 10 minutes" in (await refuse(team, browser, store)).message


@pytest.mark.parametrize("cookie", ["", "another"])
async def test_state_of_another_browser_is_refused_and_stays_valid(team: Team, store: Store, cookie: str):
    await admitted(team)
    browser = await team.start("octo")
    refused = await refuse(team, replace(browser, cookie=cookie), store)
    assert refused.message == "This sign-in was started in another browser."
    assert (await team.finish(browser)).session is not None


async def test_state_that_was_never_started_is_refused(team: Team, store: Store):
    await admitted(team)
    browser = await team.start("octo")
    refused = await refuse(team, replace(browser, state="made-up"), store)
    assert refused.message == "This sign-in was not started here."


async def test_code_works_once(team: Team, store: Store):
    await admitted(team)
    first, second = await team.start("octo"), await team.start("octo")
    await team.finish(first)
    assert (
        "GitHub refused the sign-in" in (await refuse(team, replace(second, code=first.code), store)).message
    )


async def test_code_of_another_sign_in_is_refused_by_its_verifier(team: Team, store: Store):
    """A stolen code is useless: the verifier belongs to the browser that started."""
    await admitted(team)
    thief, victim = await team.start("octo"), await team.start("octo")
    refused = await refuse(team, replace(thief, code=victim.code), store)
    assert isinstance(refused, Denied)


@pytest.mark.parametrize(
    ("fault", "error"),
    [("down", GithubUnavailable), ("500", GithubUnavailable), ("502", GithubUnavailable)],
)
@pytest.mark.parametrize("path", ["/login/oauth/access_token", "/api/v3/user"])
async def test_failing_github_signs_nobody_in(
    team: Team, store: Store, fault: str, path: str, error: type[ForgeError]
):
    await admitted(team)
    browser = await team.start("octo")
    team.double.fail(fault, path=path)  # pyright: ignore[reportArgumentType]  # a FaultName
    refused = await refuse(team, browser, store)
    assert isinstance(refused, error) and refused.hint


async def test_deleted_github_user_cannot_sign_in(team: Team, store: Store):
    team.double.add_user("leaver")
    await team.enter("leaver", invitation=await team.invite(github_login="leaver"))
    browser = await team.start("leaver")
    team.double.delete_user("leaver")
    assert isinstance(await refuse(team, browser, store), Denied | GithubDenied | GithubTokenRejected)


async def test_cancelled_sign_in_uses_up_the_state(team: Team, store: Store):
    await admitted(team)
    browser = await team.start("octo")
    await team.sign_in.reject(browser.state, browser.cookie)
    assert isinstance(await refuse(team, browser, store), Gone)


async def test_sign_in_without_oauth_app_says_how_to_configure_it(team: Team, store: Store):
    github = Github(team.double.url)
    for app in (None, OauthApp("client", None)):
        unconfigured = SignIn(store, team.vault, github, app, session_days=1)
        with pytest.raises(Conflict, match="not configured") as refused:
            await unconfigured.start("http://x")
        assert "GITHUB_CLIENT_ID" in (refused.value.hint or "")
    await github.close()


async def test_token_is_stored_encrypted_and_hidden_from_the_secrets(team: Team, store: Store):
    member = await admitted(team)
    token = (await team.connections.token(member.id)).get_secret_value()
    assert await team.vault.of(member.id).list() == []
    assert await team.vault.of(member.id).find("github_access") is None
    async with store.read() as tx:
        rows = (await tx.execute(sa.text("SELECT * FROM secrets"))).all()
    assert token not in repr(rows)
    assert all(token not in repr(request) for request in team.double.requests())
