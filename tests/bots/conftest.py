"""A workshop of bots on both databases."""

from pathlib import Path

import pytest
from tests.bots.workshop import Workshop

from forge.store.engine import Store


@pytest.fixture
def shop(store: Store, tmp_path: Path) -> Workshop:
    return Workshop(store, tmp_path / "data")
