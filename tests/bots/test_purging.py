"""Thirty days after it was deleted, nothing of a bot is left."""

from datetime import timedelta

import sqlalchemy as sa
from tests.bots.workshop import ME, Workshop

from forge.accounts.tables import secrets
from forge.bots.models import BotChanged, BotFile, NewBot
from forge.bots.purging import sweep
from forge.bots.tables import bot_memories, bot_versions, bots, chat_sessions
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.llm.tables import model_roles

MONTH = timedelta(days=31)


async def purge(shop: Workshop, later: timedelta = MONTH) -> int:
    return await sweep(shop.database, shop.events, shop.folders, at=now() + later)


async def talk(shop: Workshop, bot_id: str) -> str:
    """A conversation with an event in its stream."""
    session_id, at = new_id(), now()
    async with shop.database.begin() as tx:
        values = {"standing": [], "is_titled": False, "title": "Hello", "created_at": at, "updated_at": at}
        await tx.execute(
            sa.insert(chat_sessions).values(id=session_id, account_id=ME, bot_id=bot_id, **values)
        )
        fact = BotChanged(bot_id=bot_id, slug="x", part="session")
        await shop.events.append(tx, f"session:{session_id}", fact)
    return session_id


async def give(shop: Workshop, bot_id: str) -> None:
    """A model and a secret of its own."""
    scope, at = f"bot:{bot_id}", now()
    sealed = {"nonce": b"n", "ciphertext": b"c", "last_four": "", "created_at": at, "updated_at": at}
    async with shop.database.begin() as tx:
        chosen = {"account_id": ME, "scope": scope, "role": "bot", "chain": ["other:x"]}
        await tx.execute(sa.insert(model_roles).values(**chosen))
        await tx.execute(sa.insert(secrets).values(scope=scope, name="OTHER_API_KEY", **sealed))


async def count(shop: Workshop, table: sa.Table) -> int:
    async with shop.database.read() as tx:
        return (await tx.execute(sa.select(sa.func.count()).select_from(table))).scalar_one()


async def test_what_was_deleted_long_ago_is_gone_for_good(shop: Workshop):
    old = await shop.bots.create(ME, NewBot(name="Old"), by="Ada")
    kept = await shop.bots.create(ME, NewBot(name="Kept"), by="Ada")
    streams = [f"session:{await talk(shop, bot.id)}" for bot in (old, kept)]
    await shop.bots.delete(ME, "old")
    assert await purge(shop, timedelta(days=29)) == 0
    assert await purge(shop) == 1
    assert [await shop.events.last_seq(stream) for stream in streams] == [0, 1]
    assert [await count(shop, table) for table in (bots, chat_sessions, bot_memories)] == [1, 1, 0]
    assert await count(shop, bot_versions) == len(BotFile)
    assert [name for name in shop.tree() if "old" in name or old.id in name] == []
    assert (await shop.bots.create(ME, NewBot(name="Old"), by="Ada")).slug == "old"
    assert await purge(shop) == 0


async def test_the_models_and_secrets_of_a_bot_go_with_it(shop: Workshop):
    old = await shop.bots.create(ME, NewBot(name="Old"), by="Ada")
    kept = await shop.bots.create(ME, NewBot(name="Kept"), by="Ada")
    for bot in (old, kept):
        await give(shop, bot.id)
    await shop.bots.delete(ME, "old")
    assert await purge(shop) == 1
    async with shop.database.read() as tx:
        left = [
            (await tx.execute(sa.select(table.c.scope))).scalars().all() for table in (model_roles, secrets)
        ]
    assert left == [[f"bot:{kept.id}"]] * 2


async def test_a_folder_that_was_never_moved_goes_too(shop: Workshop):
    made = await shop.bots.create(ME, NewBot(name="Old"), by="Ada")
    async with shop.database.begin() as tx:
        await tx.execute(sa.update(bots).values(deleted_at=made.created_at))
    assert await purge(shop) == 1
    assert shop.tree() == ["bots", "bots/.trash"]


async def test_a_purge_that_was_interrupted_is_finished(shop: Workshop):
    made = await shop.bots.create(ME, NewBot(name="Old"), by="Ada")
    await shop.bots.delete(ME, "old")
    shop.folders.discard(made.id)
    assert await purge(shop) == 1
    assert await count(shop, bots) == 0
