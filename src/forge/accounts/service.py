"""The accounts service: each method is one transaction."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from forge.accounts import keys, sessions, store, tokens
from forge.accounts.address import OwnAddress
from forge.accounts.authentication import Authenticator
from forge.accounts.bearer_tokens import BearerTokens
from forge.accounts.models import Account, ApiKey, CreatedKey, LoginLink, NewKey, Role, owner_id
from forge.accounts.sessions import OpenedSession
from forge.accounts.vault import Vault
from forge.errors import Conflict, ForgeError, Gone, NotFound, Unauthenticated
from forge.http.caller import Caller
from forge.http.scope import CallerMethod
from forge.kernel.clock import now
from forge.kernel.hashing import hash_text
from forge.store.database import Store, Tx

LIFETIME = timedelta(minutes=15)
RETENTION = timedelta(days=7)
"""How long used and expired links are kept, so that an error can say why they are rejected."""
NEW_LINK = "Get a new one in the terminal: forge login --link"


@dataclass(frozen=True)
class NewLink:
    token: str = field(repr=False)
    expires_at: datetime


async def create_login_link(tx: Tx, account_id: str, at: datetime) -> NewLink:
    await store.delete_links_expired_before(tx, at - RETENTION)
    link = NewLink(tokens.new_token(), at + LIFETIME)
    await store.insert_link(tx, hash_text(link.token), account_id, created_at=at, expires_at=link.expires_at)
    return link


async def use_login_link(tx: Tx, token: str, at: datetime) -> str:
    """Consume a link and return its account id. Of several concurrent uses exactly one succeeds."""
    account_id = await store.use_link(tx, hash_text(token), at)
    if account_id is None:
        raise _rejection(await store.find_link(tx, hash_text(token)))
    return account_id


def _rejection(link: store.LinkRow | None) -> ForgeError:
    if link is None:
        return Unauthenticated("Unknown login link.", hint=NEW_LINK)
    if link.used_at is not None:
        return Gone("This login link has been used; it works once.", hint=NEW_LINK)
    return Gone(f"This login link has expired; it works for {LIFETIME.seconds // 60} minutes.", hint=NEW_LINK)


DEFAULT_NAME = "Owner"


async def ensure_owner(tx: Tx) -> Account:
    await store.insert_account_once(
        tx, Account(id=owner_id(), name=DEFAULT_NAME, role=Role.OWNER, created_at=now())
    )
    return await find_account(tx, owner_id())


async def find_account(tx: Tx, account_id: str) -> Account:
    return _existing(await store.find_account(tx, account_id))


async def rename_account(tx: Tx, account_id: str, name: str) -> Account:
    return _existing(await store.rename_account(tx, account_id, name))


def _existing(account: Account | None) -> Account:
    if account is None:
        raise NotFound("Account not found.")
    return account


LOGIN_PAGE = "/login"


class Accounts:
    def __init__(
        self,
        store: Store,
        vault: Vault,
        address: OwnAddress,
        bearer: BearerTokens,
        *,
        session_days: int,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self.vault = vault
        self.address = address
        self.session_days = session_days
        self.authenticator = Authenticator(store, bearer, session_days=session_days, clock=clock)
        self._store = store
        self._clock = clock

    async def ensure_owner(self) -> Account:
        async with self._store.begin() as tx:
            return await ensure_owner(tx)

    async def replace_local_key(self, machine: str) -> str:
        async with self._store.begin() as tx:
            return await keys.replace_local_key(tx, (await ensure_owner(tx)).id, machine)

    async def account(self, account_id: str) -> Account:
        async with self._store.read() as tx:
            return await find_account(tx, account_id)

    async def rename(self, account_id: str, name: str) -> Account:
        async with self._store.begin() as tx:
            return await rename_account(tx, account_id, name)

    async def create_login_link(self, account_id: str, host_header: str | None = None) -> LoginLink:
        async with self._store.begin() as tx:
            link = await create_login_link(tx, account_id, self._clock())
        # In the fragment, because browsers never send it: no log and no proxy sees the token.
        url = f"{self.address.url(host_header)}{LOGIN_PAGE}#token={link.token}"
        return LoginLink(url=url, expires_at=link.expires_at)

    async def owner_login_link(self) -> LoginLink:
        return await self.create_login_link(owner_id())

    async def check_credential(self, caller: Caller) -> None:
        """Check that the session or key of a long-lived connection is still valid."""
        async with self._store.read() as tx:
            if not await store.is_credential_alive(tx, caller.credential_id, self._clock()):
                raise Unauthenticated("The session or key of this connection is no longer valid.")

    async def log_in(self, token: str) -> OpenedSession:
        at = self._clock()
        async with self._store.begin() as tx:
            account = await find_account(tx, await use_login_link(tx, token, at))
            return await sessions.open_session(tx, account, at, timedelta(days=self.session_days))

    async def log_out(self, caller: Caller) -> None:
        if caller.method is not CallerMethod.SESSION:
            raise Conflict(
                "This request was made with an API key, so there is no session to end.",
                hint="To revoke the key: forge keys revoke ID",
            )
        async with self._store.begin() as tx:
            await store.delete_session(tx, caller.credential_id)

    async def list_keys(self, account_id: str) -> list[ApiKey]:
        async with self._store.read() as tx:
            return await store.list_user_keys(tx, account_id)

    async def create_key(self, caller: Caller, wanted: NewKey) -> CreatedKey:
        async with self._store.begin() as tx:
            return await keys.create(tx, caller, wanted, self._clock())

    async def revoke_key(self, caller: Caller, key_id: str) -> ApiKey:
        async with self._store.begin() as tx:
            return await keys.revoke(tx, caller, key_id, self._clock())
