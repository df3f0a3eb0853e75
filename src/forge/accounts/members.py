"""Members of a server: invited by the owner, admitted with their GitHub identity, removed by the owner.

A removed member cannot sign in, and nothing runs for the account; its data is kept, so that inviting the same person
again restores everything.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import datetime, timedelta

from forge.accounts import store, tokens
from forge.accounts.address import OwnAddress
from forge.accounts.identities import find_identity
from forge.accounts.models import (
    Account,
    CreatedInvitation,
    GithubIdentity,
    Invitation,
    Member,
    NewInvitation,
    Role,
)
from forge.errors import Conflict, Denied, Gone, NotFound
from forge.kernel.clock import now
from forge.kernel.hashing import hash_text
from forge.kernel.ids import derived_id, new_id
from forge.store.database import Store, Tx

INVITATION_LIFETIME = timedelta(days=7)
NEW_INVITATION = "Ask the owner of this server for an invitation (forge members invite)."

OnRemoval = Callable[[str], Awaitable[None]]
"""Stops everything that runs for an account."""


class Members:
    def __init__(
        self,
        store: Store,
        address: OwnAddress,
        on_removal: Sequence[OnRemoval] = (),
        *,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self._store = store
        self._address = address
        self._on_removal = on_removal
        self._clock = clock

    async def all(self) -> list[Member]:
        async with self._store.read() as tx:
            return await store.list_members(tx)

    async def invite(self, wanted: NewInvitation, host_header: str | None = None) -> CreatedInvitation:
        at, token = self._clock(), tokens.new_token()
        invitation = Invitation(
            id=new_id(),
            github_login=wanted.github_login,
            organizations=wanted.organizations,
            created_at=at,
            expires_at=at + INVITATION_LIFETIME,
        )
        async with self._store.begin() as tx:
            await store.insert_invitation(tx, invitation, hash_text(token))
        # In the fragment, because browsers never send it: no log and no proxy sees the token.
        url = f"{self._address.url(host_header)}/login#invitation={token}"
        return CreatedInvitation(url=url, invitation=invitation)

    async def invitations(self) -> list[Invitation]:
        async with self._store.read() as tx:
            return await store.list_invitations(tx)

    async def revoke_invitation(self, invitation_id: str) -> Invitation:
        async with self._store.begin() as tx:
            found = await store.find_invitation(tx, invitation_id=invitation_id)
            if found is None:
                raise NotFound("Invitation not found.", hint="List them: forge members invitations")
            if not await store.revoke_invitation(tx, invitation_id, at := self._clock()):
                raise Conflict("This invitation is already revoked.")
        return found.model_copy(update={"revoked_at": at})

    async def remove(self, account_id: str) -> Member:
        """Remove a member: credentials end at once, then everything that runs for the account."""
        at = self._clock()
        async with self._store.begin() as tx:
            member = next((one for one in await store.list_members(tx) if one.account.id == account_id), None)
            if member is None:
                raise NotFound("Member not found.", hint="List them: forge members list")
            if member.account.role is Role.OWNER:
                raise Conflict("The owner of the server cannot be removed.")
            if member.removed_at is not None:
                raise Conflict(f"{member.account.name} is already removed.")
            await store.set_removed(tx, account_id, at)
            await store.revoke_credentials(tx, account_id, at)
        for stop in self._on_removal:
            await stop(account_id)
        return member.model_copy(update={"removed_at": at})

    async def finish_removals(self) -> None:
        """Stop what runs for removed members, because the server may have been killed before."""
        for member in await self.all():
            if member.removed_at is not None:
                for stop in self._on_removal:
                    await stop(member.account.id)


async def find_active_account(tx: Tx, account_id: str) -> Account:
    found = await store.find_account(tx, account_id)
    if found is None or await store.is_removed(tx, account_id):
        raise Denied("This account was removed.")
    return found


async def find_invitation(tx: Tx, token_hash: str, at: datetime) -> Invitation:
    """Return a valid invitation; raise for any other."""
    invitation = await store.find_invitation(tx, token_hash=token_hash)
    if invitation is None:
        raise Denied("Unknown invitation.", hint=NEW_INVITATION)
    if invitation.revoked_at is not None:
        raise Gone("This invitation was revoked.", hint=NEW_INVITATION)
    if invitation.expires_at <= at:
        raise Gone("This invitation has expired.", hint=NEW_INVITATION)
    if invitation.github_login is not None and invitation.used_at is not None:
        raise Gone("This invitation has been used; it works once.", hint=NEW_INVITATION)
    return invitation


async def admit(
    tx: Tx,
    invitation: Invitation,
    identity: GithubIdentity,
    organizations: Collection[str],
    at: datetime,
) -> Account:
    """Create the account of an invited GitHub user, or restore the one that was removed."""
    _check_invited(invitation, identity, organizations)
    if not await store.use_invitation(tx, invitation.id, at) and invitation.github_login is not None:
        raise Gone("This invitation has been used; it works once.", hint=NEW_INVITATION)
    known = await find_identity(tx, github_id=identity.github_id)
    if known is not None:
        await store.set_removed(tx, known.account.id, None)
        return known.account
    account_id = derived_id(
        "account", "github", str(identity.github_id)
    )  # of two concurrent sign-ins, one creates it
    account = Account(id=account_id, name=identity.login, role=Role.MEMBER, created_at=at)
    await store.insert_account_once(tx, account)
    return account


def _check_invited(invitation: Invitation, identity: GithubIdentity, organizations: Collection[str]) -> None:
    if invitation.github_login is not None:
        if invitation.github_login.lower() != identity.login.lower():
            raise Denied(
                f"This invitation is for {invitation.github_login}; you signed in to GitHub as {identity.login}.",
                hint="Sign in to GitHub as the invited user, then open the link again.",
            )
        return
    if {name.lower() for name in organizations}.isdisjoint(name.lower() for name in invitation.organizations):
        raise Denied(
            f"This invitation is for members of {' or '.join(invitation.organizations)}; GitHub does not list "
            f"{identity.login} as one.",
            hint="The organization may have to approve this OAuth app, or your membership is pending.",
        )
