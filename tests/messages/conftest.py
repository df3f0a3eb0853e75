from collections.abc import AsyncIterator

import pytest
from tests.messages.messaging import SCENES, Messaging, open_messaging
from tests.support.live_forge import Live
from tests.support.models import StartModels


@pytest.fixture
async def messaging(live_forge: Live, model_server: StartModels) -> AsyncIterator[Messaging]:
    """Create the bots Ada, Bob and Cleo, on both databases."""
    models = model_server({"scenes": SCENES})
    async with live_forge.client() as client:
        yield await open_messaging(live_forge, client, models, "Ada", "Bob", "Cleo")
