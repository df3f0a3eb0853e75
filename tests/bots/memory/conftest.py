"""Memories with and without an embedder; the real one is loaded once."""

import pytest
from tests.bots.memory.brain import Brain, open_brain

from forge.bots.memory.minilm import MiniLm
from forge.store.engine import Store


@pytest.fixture(scope="session")
def minilm() -> MiniLm:
    return MiniLm()


@pytest.fixture(params=["words", "meaning"])
async def brain(request: pytest.FixtureRequest, store: Store, minilm: MiniLm) -> Brain:
    """What must hold either way."""
    return await open_brain(store, minilm if request.param == "meaning" else None)


@pytest.fixture
async def wordy(store: Store) -> Brain:
    return await open_brain(store, None)


@pytest.fixture
async def wise(store: Store, minilm: MiniLm) -> Brain:
    return await open_brain(store, minilm)
