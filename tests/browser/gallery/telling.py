"""Tells of more than a test has the time to do: as much as a run tells that goes on for days."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from tests.browser.gallery.scene import House

from forge.events.log import EventLog
from forge.events.models import EventData
from forge.store.database import Store
from forge.telemetry import Metrics

LINES = 20_000


def tell_of_run(house: House, run_id: str, facts: Sequence[EventData]) -> None:
    """In a thread of its own: in this one the loop of the browser may run."""
    with ThreadPoolExecutor(1) as threads:
        threads.submit(asyncio.run, _append(house, run_id, facts)).result()


async def _append(house: House, run_id: str, facts: Sequence[EventData]) -> None:
    store = Store(f"sqlite:///{house.server.data_dir / 'forge.db'}")
    async with store.begin() as tx:
        await EventLog(store, Metrics(version="0")).append(tx, f"run:{run_id}", *facts)
    await store.close()
