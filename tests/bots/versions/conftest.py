"""A bot to edit, on both databases."""

from pathlib import Path

import pytest
from tests.bots.versions.bot_on_disk import BotOnDisk, open_bot

from forge.store.database import Store


@pytest.fixture
async def bot_files(store: Store, tmp_path: Path) -> BotOnDisk:
    return await open_bot(store, tmp_path / "data")
