"""Delete old finished runs with their events and journal, and old events about runs in account streams."""

import asyncio
import logging
from datetime import datetime, timedelta

from sqlalchemy.exc import SQLAlchemyError

from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.runs import store
from forge.runs.engine import Engine
from forge.runs.journal import account_stream, run_stream
from forge.store.database import Store

log = logging.getLogger(__name__)

SWEEP_INTERVAL_S = 3600.0
BATCH = 100


class Retention:
    def __init__(self, database: Store, events: EventLog, engine: Engine, keep_days: int) -> None:
        self._database = database
        self._events = events
        self._engine = engine
        self._keep_days = keep_days

    async def run_forever(self) -> None:
        """Sweep periodically until cancelled."""
        while self._keep_days:
            try:
                deleted = await self.sweep()
                if deleted:
                    log.info("deleted %d runs older than %d days", deleted, self._keep_days)
            except (SQLAlchemyError, OSError):
                log.exception("cannot delete old runs; retrying later")
            await asyncio.sleep(SWEEP_INTERVAL_S)

    async def sweep(self) -> int:
        limit, deleted = now() - timedelta(days=self._keep_days), 0
        while True:
            async with self._database.read() as tx:
                old = await store.finished_before(tx, limit, BATCH)
            if not old:
                await self._delete_account_events(limit)
                return deleted
            # The journal first: after an interruption the next sweep finds the remaining rows.
            await self._engine.forget(old)
            async with self._database.begin() as tx:
                await self._events.delete(tx, *(run_stream(run_id) for run_id in old))
                await store.delete_runs(tx, old)
            deleted += len(old)

    async def _delete_account_events(self, limit: datetime) -> None:
        """Delete account events about runs that no longer exist."""
        async with self._database.begin() as tx:
            await self._events.delete_events_before(tx, account_stream(""), limit)
