"""Leases: a worker says that it lives; one that falls silent is buried and its runs are taken over by the others.

Every worker looks for silent ones: taking over is idempotent, so there is no leader that could freeze. On SQLite
there is one process, which finds its own runs again when it starts; it has a lease only to be listed.
"""

import asyncio
import logging
import os
import socket
import time
from datetime import datetime, timedelta

from sqlalchemy.exc import SQLAlchemyError

from forge.kernel.ids import new_id
from forge.runs import store
from forge.runs.engine import Engine
from forge.runs.executor import Executor
from forge.store.engine import Store, is_outage

log = logging.getLogger(__name__)

BEAT_S = 0.5
LEASE_S = 3.0
LONE_WORKER = "local"


def worker_id(database: Store) -> str:
    """On SQLite always the same, so that a restart finds its own runs; on PostgreSQL a new one per process."""
    return LONE_WORKER if database.is_sqlite else f"{socket.gethostname()}-{new_id()}"


class Lease:
    def __init__(self, database: Store, engine: Engine, executor: Executor, own_id: str) -> None:
        self._database = database
        self._engine = engine
        self._executor = executor
        self._id = own_id
        self._last_beat = time.monotonic()
        self._patient_until = self._last_beat + LEASE_S

    async def take(self) -> None:
        async with self._database.begin() as tx:
            await store.insert_worker(tx, self._id, socket.gethostname(), os.getpid())

    async def keep(self) -> None:
        """Runs until cancelled. That the database is away is said once, however long it takes."""
        is_away = False
        while True:
            await asyncio.sleep(BEAT_S)
            try:
                await self._beat()
                is_away = False
            except (SQLAlchemyError, OSError) as error:
                if not isinstance(error, SQLAlchemyError) or not is_outage(error):
                    log.exception("cannot renew the lease; trying again")
                elif not is_away:
                    is_away = True
                    log.warning("cannot renew the lease, trying until it works: %s", error)

    async def give_back(self) -> None:
        """Lets the lease run out at once instead of erasing it: whoever finds it takes over what is left here."""
        try:
            async with self._database.begin() as tx:
                await store.expire_worker(tx, self._id)
        except SQLAlchemyError as error:
            if not is_outage(error):
                raise
            log.warning("cannot give back the lease, which now ends by itself: %s", error)

    async def _beat(self) -> None:
        if self._database.is_sqlite:
            return
        async with self._database.begin() as tx:
            touched = await store.touch_worker(tx, self._id)
        if touched is None:
            log.warning("this worker was silent for too long and was buried; it comes back")
            await self.take()
        last_beat, self._last_beat = self._last_beat, time.monotonic()
        passed_s = self._last_beat - last_beat
        if touched is None or passed_s > LEASE_S or _was_set(*touched, passed_s):
            self._patient_until = self._last_beat + LEASE_S
        await self._executor.stop_cancelled()
        await self._bury_silent(touched[1] if touched else None)

    async def _bury_silent(self, at: datetime | None) -> None:
        """Those who said goodbye at once; those who fell silent only if we ourselves were not: after an outage of
        the database, or when its clock was set, everybody looks dead, and is not."""
        is_patient = time.monotonic() <= self._patient_until
        async with self._database.read() as tx:
            silent = await store.silent_workers(tx, None if is_patient else at, timedelta(seconds=LEASE_S))
            silent = [other for other in silent if other != self._id]
        for other in silent:
            count = await self._engine.take_over(other)
            log.warning("worker %s is gone; %d of its runs go back to the queue", other, count)
            async with self._database.begin() as tx:
                await store.remove_worker(tx, other)


def _was_set(before: datetime, at: datetime, passed_s: float) -> bool:
    """The clock of the database, while so much time passed."""
    return abs((at - before).total_seconds() - passed_s) > LEASE_S / 2
