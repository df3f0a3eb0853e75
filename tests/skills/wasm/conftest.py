"""A worker pool per module; scripts cannot affect each other."""

from collections.abc import AsyncIterator

import pytest

from forge.skills.wasm.worker_pool import WorkerPool


@pytest.fixture(scope="module")
async def pool(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[WorkerPool]:
    async with WorkerPool(tmp_path_factory.mktemp("wasm") / "cache", size=2) as pool:
        yield pool
