"""Deletion and restoration of bots."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

import sqlalchemy as sa
from tests.bots.environment import ME, BotEnvironment, error_of

from forge.bots.models import (
    BotChange,
    BotFile,
    NewBot,
)
from forge.bots.tables import bots as bot_rows
from forge.errors import Conflict, Gone, NotFound

SOUL = BotFile.SOUL


async def test_deleted_bot_can_be_restored(env: BotEnvironment):
    created = await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    before = env.tree()
    deleted = await env.bots.delete(ME, "atlas")
    assert (deleted.id, deleted.blocked, deleted.deleted_at is None) == (
        created.id,
        "The bot is deleted.",
        False,
    )
    assert not env.file(created, SOUL).exists()
    assert await env.bots.find_all(ME) == []
    assert [bot.slug for bot in await env.bots.find_all(ME, deleted=True)] == ["atlas"]
    for operation in (env.bots.view(ME, "atlas"), env.bots.delete(ME, "atlas")):
        assert await error_of(operation) == (
            NotFound,
            "Bot not found. Restore it: forge bots restore atlas",
        )
    assert (await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")).slug == "atlas-2"
    restored = await env.bots.restore(ME, "atlas")
    assert (restored.id, restored.blocked, restored.deleted_at) == (created.id, None, None)
    assert set(before) <= set(env.tree())
    assert (await env.bots.restore(ME, "atlas")).id == created.id
    assert await env.notifications() == [
        ("atlas", "bot"),
        ("atlas", "deleted"),
        ("atlas-2", "bot"),
        ("atlas", "bot"),
    ]


async def test_concurrent_delete_and_restore_is_consistent(env: BotEnvironment):
    await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")

    async def do(verb: Callable[..., Awaitable[object]]) -> None:
        for _ in range(5):
            with suppress(NotFound):
                await verb(ME, "atlas")

    await asyncio.gather(*(do(verb) for verb in (env.bots.delete, env.bots.restore) * 3))
    restored = await env.bots.restore(ME, "atlas")
    assert (restored.blocked, restored.deleted_at) == (None, None)
    assert (await env.versions.state(restored, SOUL)).is_accepted


async def test_restore_after_30_days_is_rejected(env: BotEnvironment):
    await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    await env.bots.delete(ME, "atlas")
    env.clock.ahead = timedelta(days=29)
    assert [bot.slug for bot in await env.bots.find_all(ME, deleted=True)] == ["atlas"]
    env.clock.ahead = timedelta(days=31)
    assert await env.bots.find_all(ME, deleted=True) == []
    assert (await error_of(env.bots.restore(ME, "atlas")))[0] is Gone


async def test_interrupted_delete_can_be_restored(env: BotEnvironment):
    """The server was killed before it moved the folder."""
    created = await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    async with env.database.begin() as tx:
        await tx.execute(sa.update(bot_rows).values(deleted_at=created.created_at))
    assert (await env.bots.restore(ME, "atlas")).blocked is None


async def test_restore_recreates_folder_from_versions(env: BotEnvironment):
    created = await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    await env.bots.change(ME, "atlas", BotChange(description="Newer"), by="Ada")
    await env.bots.delete(ME, "atlas")
    env.folders.delete_from_trash(created.id)
    restored = await env.bots.restore(ME, "atlas")
    assert (restored.blocked, restored.identity.description) == (None, "Newer")


async def test_restore_does_not_replace_an_existing_folder(env: BotEnvironment):
    created = await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    await env.bots.delete(ME, "atlas")
    env.file(created, SOUL).parent.mkdir()
    assert (await error_of(env.bots.restore(ME, "atlas")))[0] is Conflict
    env.file(created, SOUL).parent.rmdir()
    assert (await env.bots.restore(ME, "atlas")).blocked is None
