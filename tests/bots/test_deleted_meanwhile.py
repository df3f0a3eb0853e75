"""A bot that is deleted while somebody saves one of its files: the save is refused, and the bot can be restored."""

from pathlib import Path
from typing import Any

import pytest
from tests.bots.workshop import ME, Workshop

from forge.bots.models import BotFile, NewBot
from forge.bots.versions.books import Books
from forge.bots.versions.models import NewContent
from forge.errors import NotFound
from forge.store.engine import Store


async def test_a_save_that_a_deletion_overtakes_leaves_no_folder_behind(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    shop = Workshop(store, tmp_path)
    made = await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    bot = await shop.bots.find(ME, made.id)
    state = await shop.versions.state(bot, BotFile.USER)
    keep = Books.keep

    async def keep_late(self: Books, *given: Any) -> bool:
        await shop.bots.delete(ME, made.id)
        return await keep(self, *given)

    monkeypatch.setattr(Books, "keep", keep_late)
    new = NewContent(content="# Preferences\nBrief.\n", base_hash=state.hash or "", message="")
    with pytest.raises(NotFound, match="deleted"):
        await shop.versions.save(bot, BotFile.USER, new, by="Ada")
    assert not shop.file(made, BotFile.USER).parent.exists()
    restored = await shop.bots.restore(ME, made.id)
    assert restored.blocked is None
    assert (await shop.versions.state(bot, BotFile.USER)).content == state.content
