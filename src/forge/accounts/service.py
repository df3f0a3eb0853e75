"""The one object the API and the commands talk to: each verb is one transaction."""

from collections.abc import Callable
from datetime import datetime, timedelta

from forge.accounts import keys, links, owner, sessions, store
from forge.accounts.address import OwnAddress
from forge.accounts.authentication import Authenticator
from forge.accounts.models import Account, ApiKey, CreatedKey, LoginLink, NewKey
from forge.accounts.sessions import OpenedSession
from forge.accounts.vault import Vault
from forge.errors import Conflict, Unauthenticated
from forge.http.caller import Caller
from forge.http.scope import CallerMethod
from forge.kernel.clock import now
from forge.store.engine import Store

LOGIN_PAGE = "/login"


class Accounts:
    def __init__(
        self,
        store: Store,
        vault: Vault,
        address: OwnAddress,
        *,
        session_days: int,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self.vault = vault
        self.address = address
        self.session_days = session_days
        self.authenticator = Authenticator(store, session_days=session_days, clock=clock)
        self._store = store
        self._clock = clock

    async def ensure_owner(self) -> Account:
        async with self._store.begin() as tx:
            return await owner.ensure_owner(tx)

    async def replace_local_key(self, machine: str) -> str:
        async with self._store.begin() as tx:
            return await keys.replace_local_key(tx, machine)

    async def account(self, account_id: str) -> Account:
        async with self._store.read() as tx:
            return await owner.find(tx, account_id)

    async def rename(self, account_id: str, name: str) -> Account:
        async with self._store.begin() as tx:
            return await owner.rename(tx, account_id, name)

    async def create_login_link(self, account_id: str, host_header: str | None = None) -> LoginLink:
        async with self._store.begin() as tx:
            link = await links.create(tx, account_id, self._clock())
        # After the #, because that part of an address is never sent: no log and no proxy sees the token.
        url = f"{self.address.url(host_header)}{LOGIN_PAGE}#token={link.token}"
        return LoginLink(url=url, expires_at=link.expires_at)

    async def owner_login_link(self) -> LoginLink:
        return await self.create_login_link(owner.owner_id())

    async def check_still_welcome(self, caller: Caller) -> None:
        """For connections that stay open: the session or key they began with may have ended meanwhile."""
        async with self._store.read() as tx:
            if not await store.is_credential_alive(tx, caller.credential_id, self._clock()):
                raise Unauthenticated("The session or key of this connection has ended.")

    async def log_in(self, token: str) -> OpenedSession:
        at = self._clock()
        async with self._store.begin() as tx:
            account = await owner.find(tx, await links.use(tx, token, at))
            return await sessions.open_session(tx, account, at, timedelta(days=self.session_days))

    async def log_out(self, caller: Caller) -> None:
        if caller.method is not CallerMethod.SESSION:
            raise Conflict(
                "There is no session to end: this request was made with an API key.",
                hint="To make a key useless, revoke it: forge keys revoke ID",
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
