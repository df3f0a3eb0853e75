"""A save that races with the deletion of its bot is rejected, and the bot can be restored."""

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
    created = await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    bot = await env.bots.find(ME, created.id)
    state = await env.versions.state(bot, BotFile.USER)
    add_versions = VersionedFiles.add_versions

    async def add_after_deletion(self: VersionedFiles, *arguments: Any) -> bool:
        await env.bots.delete(ME, created.id)
        return await add_versions(self, *arguments)

    monkeypatch.setattr(VersionedFiles, "add_versions", add_after_deletion)
    new = NewContent(content="# Preferences\nBrief.\n", base_hash=state.hash or "", message="")
    with pytest.raises(NotFound, match="deleted"):
        await env.versions.save(bot, BotFile.USER, new, by="Ada")
    assert not env.file(created, BotFile.USER).parent.exists()
    restored = await env.bots.restore(ME, created.id)
    assert restored.blocked is None
    assert (await env.versions.state(bot, BotFile.USER)).content == state.content
