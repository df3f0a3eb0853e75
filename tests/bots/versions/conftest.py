"""A bot to edit, on both databases."""

from pathlib import Path

import pytest
from tests.bots.versions.house import House, open_house

from forge.store.engine import Store


@pytest.fixture
async def house(store: Store, tmp_path: Path) -> House:
    return await open_house(store, tmp_path / "data")
