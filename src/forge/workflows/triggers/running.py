"""Triggers at work: what the server does beside serving, so that workflows start without a person."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forge.events.log import EventLog
from forge.kernel.background import end, in_background
from forge.runs.service import Runs
from forge.store.engine import Store
from forge.workflows.triggers.clock import CronClock
from forge.workflows.triggers.firing import Fire
from forge.workflows.triggers.launching import Launch
from forge.workflows.triggers.listening import Listener
from forge.workflows.triggers.watching import FileWatcher
from forge.workflows.triggers.webhooks import ResolveSecret, Webhooks

log = logging.getLogger(__name__)

AGAIN_S = 5.0

Work = Callable[[], Coroutine[Any, Any, None]]


@dataclass(frozen=True)
class Triggers:
    database: Store
    events: EventLog
    runs: Runs
    fire: Fire
    resolve_secret: ResolveSecret
    data_dir: Path

    @asynccontextmanager
    async def open(self, *, is_server: bool) -> AsyncGenerator[Webhooks]:
        """A worker starts nothing by itself: it executes what servers start."""
        launch = Launch(self.database, self.events, self.fire)
        async with AsyncExitStack() as stack:
            if is_server:
                at_work: dict[str, Work] = {
                    "schedules": CronClock(launch).tick_on,
                    "triggers of events": Listener(launch, self.runs).listen_on,
                    "triggers of files": FileWatcher(launch, self.data_dir).watch_on,
                }
                for name, work in at_work.items():
                    await stack.enter_async_context(in_background(go_on(work, name), name))
            yield Webhooks(launch, self.resolve_secret)


async def go_on(work: Work, name: str) -> None:
    """Until cancelled. A defect is logged, and does not keep everything else from starting for ever."""
    while True:
        task = asyncio.create_task(work(), name=name)
        try:
            await asyncio.wait([task])
        finally:
            await end([task])
        log.error("%s stumbled, and go on in %d s", name, AGAIN_S, exc_info=task.exception())
        await asyncio.sleep(AGAIN_S)
