"""Triggers at work: what the server does beside serving, so that workflows start without a person."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from forge.events.log import EventLog
from forge.kernel.background import in_background
from forge.runs.service import Runs
from forge.store.engine import Store
from forge.workflows.triggers.clock import CronClock
from forge.workflows.triggers.firing import Fire
from forge.workflows.triggers.launching import Launch
from forge.workflows.triggers.listening import Listener
from forge.workflows.triggers.watching import FileWatcher
from forge.workflows.triggers.webhooks import ResolveSecret, Webhooks


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
                at_work = {
                    "schedules": CronClock(launch).tick_on(),
                    "triggers of events": Listener(launch, self.runs).listen_on(),
                    "triggers of files": FileWatcher(launch, self.data_dir).watch_on(),
                }
                for name, work in at_work.items():
                    await stack.enter_async_context(in_background(work, name))
            yield Webhooks(launch, self.resolve_secret)
