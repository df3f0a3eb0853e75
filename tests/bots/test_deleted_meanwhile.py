"""A bot that is deleted while somebody saves one of its files: the save is refused, and the bot can be restored."""

from pathlib import Path
from typing import Any

import pytest
from tests.bots.environment import ME, BotEnvironment

from forge.bots.models import BotFile, NewBot
from forge.bots.versions.models import NewContent
from forge.bots.versions.versioned_files import VersionedFiles
from forge.errors import NotFound
from forge.store.database import Store


async def test_save_during_deletion_leaves_no_folder(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    env = BotEnvironment(store, tmp_path)
    made = await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    bot = await env.bots.find(ME, made.id)
    state = await env.versions.state(bot, BotFile.USER)
    keep = VersionedFiles.add_versions

    async def keep_late(self: VersionedFiles, *given: Any) -> bool:
        await env.bots.delete(ME, made.id)
        return await keep(self, *given)

    monkeypatch.setattr(VersionedFiles, "add_versions", keep_late)
    new = NewContent(content="# Preferences\nBrief.\n", base_hash=state.hash or "", message="")
    with pytest.raises(NotFound, match="deleted"):
        await env.versions.save(bot, BotFile.USER, new, by="Ada")
    assert not env.file(made, BotFile.USER).parent.exists()
    restored = await env.bots.restore(ME, made.id)
    assert restored.blocked is None
    assert (await env.versions.state(bot, BotFile.USER)).content == state.content
