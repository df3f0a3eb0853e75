import anyio

from forge.accounts.models import Account, Role, owner_id
from forge.accounts.service import Accounts, ensure_owner
from forge.accounts.tables import accounts as accounts_table
from forge.store.database import Store


async def test_first_start_creates_the_owner_and_later_starts_find_it(store: Store):
    async with store.begin() as tx:
        first = await ensure_owner(tx)
    async with store.begin() as tx:
        second = await ensure_owner(tx)
    assert (
        first == second == Account(id=owner_id(), name="Owner", role=Role.OWNER, created_at=first.created_at)
    )


async def test_concurrent_first_starts_create_one_owner(store: Store, rows):
    made: list[Account] = []

    async def start() -> None:
        async with store.begin() as tx:
            made.append(await ensure_owner(tx))

    async with anyio.create_task_group() as group:
        for _ in range(8):
            group.start_soon(start)
    assert made == [made[0]] * 8
    assert [row["id"] for row in await rows(accounts_table)] == [owner_id()]


async def test_renaming_the_owner_survives_a_restart(accounts: Accounts):
    renamed = await accounts.rename(owner_id(), "Ada")
    assert await accounts.ensure_owner() == renamed == await accounts.account(owner_id())
    assert renamed.name == "Ada"
