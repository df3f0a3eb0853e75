"""The first account: whoever started this server."""

from forge.accounts import store
from forge.accounts.models import Account, Role
from forge.errors import NotFound
from forge.kernel.clock import now
from forge.kernel.ids import derived_id
from forge.store.engine import Tx

FIRST_NAME = "Owner"


def owner_id() -> str:
    """Always the same, so that two first starts at once cannot make two owners."""
    return derived_id("account", "owner")


async def ensure_owner(tx: Tx) -> Account:
    await store.insert_account_once(
        tx, Account(id=owner_id(), name=FIRST_NAME, role=Role.OWNER, created_at=now())
    )
    return await find(tx, owner_id())


async def find(tx: Tx, account_id: str) -> Account:
    return _existing(await store.find_account(tx, account_id))


async def rename(tx: Tx, account_id: str, name: str) -> Account:
    return _existing(await store.rename_account(tx, account_id, name))


def _existing(account: Account | None) -> Account:
    if account is None:
        raise NotFound("There is no such account.")
    return account
