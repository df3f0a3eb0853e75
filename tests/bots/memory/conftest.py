"""Memories with and without an embedder; the real one is loaded once."""

import pytest
from tests.bots.memory.environment import MemoryEnvironment, open_memory_env

from forge.bots.memory.embedder import MiniLm
from forge.store.database import Store


@pytest.fixture(scope="session")
def minilm() -> MiniLm:
    return MiniLm()


@pytest.fixture(params=["words", "meaning"])
async def memory_env(request: pytest.FixtureRequest, store: Store, minilm: MiniLm) -> MemoryEnvironment:
    """Run the test with recall by words and by meaning."""
    return await open_memory_env(store, minilm if request.param == "meaning" else None)


@pytest.fixture
async def env_by_words(store: Store) -> MemoryEnvironment:
    return await open_memory_env(store, None)


@pytest.fixture
async def env_by_meaning(store: Store, minilm: MiniLm) -> MemoryEnvironment:
    return await open_memory_env(store, minilm)
