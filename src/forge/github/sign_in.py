"""Sign in with GitHub: the web flow with PKCE and a stored state that works once, in the browser that started it."""

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pydantic import SecretStr

from forge.accounts import members, sessions, tokens
from forge.accounts.identities import find_identity, upsert_identity
from forge.accounts.models import Account, GithubIdentity
from forge.accounts.sessions import OpenedSession
from forge.accounts.vault import Vault
from forge.errors import Conflict, Denied, Gone
from forge.github.client import Github, OauthApp, OauthError
from forge.github.store import (
    StateRow,
    delete_states_expired_before,
    find_state,
    insert_state,
    use_state,
)
from forge.kernel.clock import now
from forge.kernel.hashing import hash_text
from forge.store.database import Store, Tx

STATE_LIFETIME = timedelta(minutes=10)
RETENTION = timedelta(days=1)
"""How long used and expired states are kept, so that an error can say why they are rejected."""
SCOPE = "read:user read:org repo admin:repo_hook"
TOKEN_NAME, TOKEN_SCOPE = "github_access", "forge:github"  # names, not tokens
_VERIFIER = "OAuth verifier"
_AGAIN = "Start again from the login page."


@dataclass(frozen=True)
class Started:
    redirect_url: str
    browser_token: str = field(repr=False)
    """For a cookie of the browser."""


@dataclass(frozen=True)
class Finished:
    """A finished web flow; `session` is None if GitHub was connected to an account that is signed in already."""

    account: Account
    identity: GithubIdentity
    session: OpenedSession | None


class SignIn:
    def __init__(
        self,
        database: Store,
        vault: Vault,
        github: Github,
        app: OauthApp | None,
        *,
        session_days: int,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self._database = database
        self._vault = vault
        self._github = github
        self._app = app
        self._session_days = session_days
        self._clock = clock

    async def start(
        self, redirect_uri: str, *, invitation: str | None = None, account_id: str | None = None
    ) -> Started:
        """Store a new state, and return the address at GitHub. With an account, GitHub is connected to it."""
        app = self._configured()
        at = self._clock()
        state, browser, verifier = tokens.new_token(), tokens.new_token(), tokens.new_token()
        async with self._database.begin() as tx:
            await delete_states_expired_before(tx, at - RETENTION)
            if invitation is not None:
                await members.find_invitation(tx, hash_text(invitation), at)
            row = StateRow(
                hash=hash_text(state),
                browser_hash=hash_text(browser),
                verifier_sealed=self._vault.seal(_VERIFIER, verifier),
                account_id=account_id,
                invitation_hash=None if invitation is None else hash_text(invitation),
                created_at=at,
                expires_at=at + STATE_LIFETIME,
            )
            await insert_state(tx, row)
        url = self._github.authorize_url(
            app, state=state, challenge=_challenge(verifier), redirect_uri=redirect_uri, scope=SCOPE
        )
        return Started(url, browser)

    async def finish(
        self, *, code: str, state: str, browser_token: str | None, redirect_uri: str
    ) -> Finished:
        """Exchange the code and open a session. The state is used up, whatever comes next."""
        app = self._configured()
        row = await self._claim(state, browser_token)
        verifier = self._vault.unseal(_VERIFIER, row.verifier_sealed)
        try:
            token = await self._github.exchange(app, code=code, verifier=verifier, redirect_uri=redirect_uri)
        except OauthError as error:
            raise Denied(f"GitHub refused the sign-in: {error.description}", hint=_AGAIN) from error
        identity, _ = await self._github.user(token)
        at = self._clock()
        invited = await self._invitation_organizations(row, token, at)
        async with self._database.begin() as tx:
            account = await self._account(tx, row, identity, invited, at)
            await self.store_identity(tx, account, identity, token, "oauth")
            session = None
            if row.account_id is None:
                life = timedelta(days=self._session_days)
                session = await sessions.open_session(tx, account, at, life)
        return Finished(account, identity, session)

    async def reject(self, state: str, browser_token: str | None) -> None:
        """Use up the state of a sign-in that the person cancelled at GitHub."""
        await self._claim(state, browser_token)

    async def store_identity(
        self, tx: Tx, account: Account, identity: GithubIdentity, token: SecretStr, kind: str
    ) -> None:
        other = await find_identity(tx, github_id=identity.github_id)
        if other is not None and other.account.id != account.id:
            raise Conflict(f"The GitHub user {identity.login} belongs to another account of this server.")
        await upsert_identity(tx, account.id, identity, kind, self._clock())
        await self._vault.of(account.id).put(tx, TOKEN_NAME, token, TOKEN_SCOPE)

    async def _claim(self, state: str, browser_token: str | None) -> StateRow:
        at = self._clock()
        async with self._database.begin() as tx:
            row = await find_state(tx, hash_text(state))
            if row is None:
                raise Denied("This sign-in was not started here.", hint=_AGAIN)
            if browser_token is None or hash_text(browser_token) != row.browser_hash:
                raise Denied("This sign-in was started in another browser.", hint=_AGAIN)
            if not await use_state(tx, row.hash, at):
                raise Gone("This sign-in has already been completed.", hint=_AGAIN)
        if row.expires_at <= at:
            minutes = STATE_LIFETIME.seconds // 60
            raise Gone(f"This sign-in took longer than {minutes} minutes.", hint=_AGAIN)
        return row

    async def _invitation_organizations(self, row: StateRow, token: SecretStr, at: datetime) -> list[str]:
        """Return the user's organizations if the invitation needs them."""
        if row.invitation_hash is None:
            return []
        async with self._database.read() as tx:
            invitation = await members.find_invitation(tx, row.invitation_hash, at)
        return await self._github.organizations(token) if invitation.organizations else []

    async def _account(
        self, tx: Tx, row: StateRow, identity: GithubIdentity, organizations: list[str], at: datetime
    ) -> Account:
        """Return the account the GitHub user signs in to, or is admitted or connected to."""
        if row.account_id is not None:
            return await members.find_active_account(tx, row.account_id)
        known = await find_identity(tx, github_id=identity.github_id)
        if known is not None and not known.is_removed:
            return known.account
        if row.invitation_hash is None:
            what = "was removed from this server" if known else "has no account on this server"
            raise Denied(f"The GitHub user {identity.login} {what}.", hint=members.NEW_INVITATION)
        invitation = await members.find_invitation(tx, row.invitation_hash, at)
        return await members.admit(tx, invitation, identity, organizations, at)

    def _configured(self) -> OauthApp:
        if self._app is None or self._app.client_secret is None:
            raise Conflict(
                "Signing in with GitHub is not configured on this server.",
                hint="Register an OAuth app at GitHub and set GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET.",
            )
        return self._app


def _challenge(verifier: str) -> str:
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).decode().rstrip("=")
