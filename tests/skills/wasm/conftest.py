"""One crew for each module: what it runs cannot change it."""

from collections.abc import AsyncIterator

import pytest

from forge.skills.wasm.crew import Crew


@pytest.fixture(scope="module")
async def crew(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Crew]:
    async with Crew(tmp_path_factory.mktemp("wasm") / "cache", size=2) as crew:
        yield crew
