"""Bot services on both databases."""

from pathlib import Path

import pytest
from tests.bots.environment import BotEnvironment

from forge.store.database import Store


@pytest.fixture
def env(store: Store, tmp_path: Path) -> BotEnvironment:
    return BotEnvironment(store, tmp_path / "data")
