"""Purge of bots thirty days after their deletion."""

from datetime import timedelta

import sqlalchemy as sa
from tests.bots.environment import ME, BotEnvironment

from forge.accounts.tables import secrets
from forge.bots.background_jobs import purge_expired
from forge.bots.models import BotChanged, BotFile, NewBot
from forge.bots.tables import bot_memories, bot_versions, bots, chat_sessions
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.llm.tables import model_roles

MONTH = timedelta(days=31)


async def purge(env: BotEnvironment, later: timedelta = MONTH) -> int:
    return await purge_expired(env.database, env.events, env.folders, at=now() + later)


async def add_conversation(env: BotEnvironment, bot_id: str) -> str:
    """Add a conversation with one event in its stream."""
    session_id, at = new_id(), now()
    async with env.database.begin() as tx:
        values = {"standing": [], "is_titled": False, "title": "Hello", "created_at": at, "updated_at": at}
        await tx.execute(
            sa.insert(chat_sessions).values(id=session_id, account_id=ME, bot_id=bot_id, **values)
        )
        event = BotChanged(bot_id=bot_id, slug="x", part="session")
        await env.events.append(tx, f"session:{session_id}", event)
    return session_id


async def add_model_and_secret(env: BotEnvironment, bot_id: str) -> None:
    """Give the bot its own model and secret."""
    scope, at = f"bot:{bot_id}", now()
    sealed = {"nonce": b"n", "ciphertext": b"c", "last_four": "", "created_at": at, "updated_at": at}
    async with env.database.begin() as tx:
        chosen = {"account_id": ME, "scope": scope, "role": "bot", "chain": ["other:x"]}
        await tx.execute(sa.insert(model_roles).values(**chosen))
        await tx.execute(
            sa.insert(secrets).values(account_id=ME, scope=scope, name="OTHER_API_KEY", **sealed)
        )


async def count(env: BotEnvironment, table: sa.Table) -> int:
    async with env.database.read() as tx:
        return (await tx.execute(sa.select(sa.func.count()).select_from(table))).scalar_one()


async def test_expired_bot_is_purged(env: BotEnvironment):
    old = await env.bots.create(ME, NewBot(name="Old"), by="Ada")
    kept = await env.bots.create(ME, NewBot(name="Kept"), by="Ada")
    streams = [f"session:{await add_conversation(env, bot.id)}" for bot in (old, kept)]
    await env.bots.delete(ME, "old")
    assert await purge(env, timedelta(days=29)) == 0
    assert await purge(env) == 1
    assert [await env.events.last_seq(stream) for stream in streams] == [0, 1]
    assert [await count(env, table) for table in (bots, chat_sessions, bot_memories)] == [1, 1, 0]
    assert await count(env, bot_versions) == len(BotFile)
    assert [name for name in env.tree() if "old" in name or old.id in name] == []
    assert (await env.bots.create(ME, NewBot(name="Old"), by="Ada")).slug == "old"
    assert await purge(env) == 0


async def test_purge_deletes_models_and_secrets(env: BotEnvironment):
    old = await env.bots.create(ME, NewBot(name="Old"), by="Ada")
    kept = await env.bots.create(ME, NewBot(name="Kept"), by="Ada")
    for bot in (old, kept):
        await add_model_and_secret(env, bot.id)
    await env.bots.delete(ME, "old")
    assert await purge(env) == 1
    async with env.database.read() as tx:
        scopes = [
            (await tx.execute(sa.select(table.c.scope))).scalars().all() for table in (model_roles, secrets)
        ]
    assert scopes == [[f"bot:{kept.id}"]] * 2


async def test_purge_deletes_folder_left_in_place(env: BotEnvironment):
    created = await env.bots.create(ME, NewBot(name="Old"), by="Ada")
    async with env.database.begin() as tx:
        await tx.execute(sa.update(bots).values(deleted_at=created.created_at))
    assert await purge(env) == 1
    assert env.tree() == ["bots", "bots/.trash"]


async def test_interrupted_purge_is_finished(env: BotEnvironment):
    created = await env.bots.create(ME, NewBot(name="Old"), by="Ada")
    await env.bots.delete(ME, "old")
    env.folders.delete_from_trash(created.id)
    assert await purge(env) == 1
    assert await count(env, bots) == 0
