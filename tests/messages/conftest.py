from collections.abc import AsyncIterator

import pytest
from tests.messages.office import SCENES, Office, open_office
from tests.support.live import Live
from tests.support.models import StartModels


@pytest.fixture
async def office(live_forge: Live, model_server: StartModels) -> AsyncIterator[Office]:
    """Ada, Bob and Cleo, on both databases."""
    models = model_server({"scenes": SCENES})
    async with live_forge.client() as client:
        yield await open_office(live_forge, client, models, "Ada", "Bob", "Cleo")
