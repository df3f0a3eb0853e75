"""Bots that are deleted, and come back."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta

import sqlalchemy as sa
from tests.bots.workshop import ME, Workshop, refused

from forge.bots.models import (
    BotChange,
    BotFile,
    NewBot,
)
from forge.bots.tables import bots as bot_rows
from forge.errors import Conflict, Gone, NotFound

SOUL = BotFile.SOUL


async def test_a_deletion_can_be_taken_back(shop: Workshop):
    made = await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    before = shop.tree()
    deleted = await shop.bots.delete(ME, "atlas")
    assert (deleted.id, deleted.blocked, deleted.deleted_at is None) == (made.id, "It is deleted.", False)
    assert not shop.file(made, SOUL).exists()
    assert await shop.bots.find_all(ME) == []
    assert [bot.slug for bot in await shop.bots.find_all(ME, deleted=True)] == ["atlas"]
    for doing in (shop.bots.view(ME, "atlas"), shop.bots.delete(ME, "atlas")):
        assert await refused(doing) == (
            NotFound,
            "There is no such bot. Restore it: forge bots restore atlas",
        )
    assert (await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")).slug == "atlas-2"
    restored = await shop.bots.restore(ME, "atlas")
    assert (restored.id, restored.blocked, restored.deleted_at) == (made.id, None, None)
    assert set(before) <= set(shop.tree())
    assert (await shop.bots.restore(ME, "atlas")).id == made.id
    assert await shop.told() == [
        ("atlas", "bot"),
        ("atlas", "deleted"),
        ("atlas-2", "bot"),
        ("atlas", "bot"),
    ]


async def test_deleting_and_restoring_at_once_leaves_one_or_the_other(shop: Workshop):
    await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")

    async def do(verb: Callable[..., Awaitable[object]]) -> None:
        for _ in range(5):
            with suppress(NotFound):
                await verb(ME, "atlas")

    await asyncio.gather(*(do(verb) for verb in (shop.bots.delete, shop.bots.restore) * 3))
    restored = await shop.bots.restore(ME, "atlas")
    assert (restored.blocked, restored.deleted_at) == (None, None)
    assert (await shop.versions.state(restored, SOUL)).is_accepted


async def test_after_thirty_days_it_is_too_late(shop: Workshop):
    await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    await shop.bots.delete(ME, "atlas")
    shop.clock.ahead = timedelta(days=29)
    assert [bot.slug for bot in await shop.bots.find_all(ME, deleted=True)] == ["atlas"]
    shop.clock.ahead = timedelta(days=31)
    assert await shop.bots.find_all(ME, deleted=True) == []
    assert (await refused(shop.bots.restore(ME, "atlas")))[0] is Gone


async def test_a_delete_that_was_interrupted_can_be_taken_back(shop: Workshop):
    """Killed between the row and the folder: the folder is still where it was."""
    made = await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    async with shop.database.begin() as tx:
        await tx.execute(sa.update(bot_rows).values(deleted_at=made.created_at))
    assert (await shop.bots.restore(ME, "atlas")).blocked is None


async def test_a_bot_whose_trash_was_emptied_comes_back_from_its_versions(shop: Workshop):
    made = await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    await shop.bots.change(ME, "atlas", BotChange(description="Newer"), by="Ada")
    await shop.bots.delete(ME, "atlas")
    shop.folders.discard(made.id)
    restored = await shop.bots.restore(ME, "atlas")
    assert (restored.blocked, restored.identity.description) == (None, "Newer")


async def test_a_folder_that_took_the_place_of_a_deleted_bot_is_left_alone(shop: Workshop):
    made = await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    await shop.bots.delete(ME, "atlas")
    shop.file(made, SOUL).parent.mkdir()
    assert (await refused(shop.bots.restore(ME, "atlas")))[0] is Conflict
    shop.file(made, SOUL).parent.rmdir()
    assert (await shop.bots.restore(ME, "atlas")).blocked is None
