"""An accounts service per test, with its own database and a manual clock."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import SecretBytes

from forge.accounts.address import OwnAddress
from forge.accounts.bearer_tokens import BearerTokens
from forge.accounts.models import owner_id
from forge.accounts.service import Accounts
from forge.accounts.vault import AccountVault, Vault
from forge.http.caller import Caller
from forge.http.scope import CallerMethod, Scope
from forge.store.database import Store

Rows = list[dict[str, Any]]


@dataclass
class Clock:
    at: datetime = datetime(2030, 1, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def advance(self, **by: float) -> None:
        self.at += timedelta(**by)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def address() -> OwnAddress:
    return OwnAddress(host="127.0.0.1", port=8000, machine="forgehost")


@pytest.fixture
def vault_key() -> SecretBytes:
    return SecretBytes(b"k" * 32)


@pytest.fixture
def vaults(store: Store, vault_key: SecretBytes, clock: Clock) -> Vault:
    return Vault(store, vault_key, environment={}, clock=clock)


@pytest.fixture
def vault(vaults: Vault) -> AccountVault:
    """The owner's secrets."""
    return vaults.of(owner_id())


@pytest.fixture
async def accounts(
    store: Store, vaults: Vault, vault_key: SecretBytes, address: OwnAddress, clock: Clock
) -> Accounts:
    accounts = Accounts(store, vaults, address, BearerTokens(vault_key), session_days=30, clock=clock)
    await accounts.ensure_owner()
    return accounts


@pytest.fixture
async def owner(accounts: Accounts) -> Caller:
    account = await accounts.ensure_owner()
    return Caller(
        account.id, account.name, frozenset({Scope.ADMIN}), CallerMethod.SESSION, "a-session", is_owner=True
    )


@pytest.fixture
def link_token(accounts: Accounts) -> Callable[[], Awaitable[str]]:
    """Create login links and return their tokens, as the login page extracts them."""

    async def create() -> str:
        link = await accounts.create_login_link(owner_id())
        return link.url.partition("#token=")[2]

    return create


@pytest.fixture
def sign_in(accounts: Accounts, link_token: Callable[[], Awaitable[str]]) -> Callable[[], Awaitable[str]]:
    """Open sessions and return their tokens."""

    async def open_session() -> str:
        return (await accounts.log_in(await link_token())).token

    return open_session


@pytest.fixture
def rows(store: Store) -> Callable[[sa.Table], Awaitable[Rows]]:
    """Read all rows of a table."""

    async def read(table: sa.Table) -> Rows:
        async with store.read() as tx:
            return [dict(row) for row in (await tx.execute(sa.select(table))).mappings()]

    return read
