"""Append as many events as a run of several days has."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from tests.browser.gallery.scene import GalleryServer

from forge.events.log import EventLog
from forge.events.models import EventData
from forge.store.database import Store
from forge.telemetry import Metrics

LINES = 20_000


def append_run_events(gallery: GalleryServer, run_id: str, events: Sequence[EventData]) -> None:
    """Append events in a separate thread, because Playwright's event loop may run in this one."""
    with ThreadPoolExecutor(1) as executor:
        executor.submit(asyncio.run, _append(gallery, run_id, events)).result()


async def _append(gallery: GalleryServer, run_id: str, events: Sequence[EventData]) -> None:
    store = Store(f"sqlite:///{gallery.server.data_dir / 'forge.db'}")
    async with store.begin() as tx:
        await EventLog(store, Metrics(version="0")).append(tx, f"run:{run_id}", *events)
    await store.close()
