"""Leases of workers: the runs of a worker that stops renewing its lease are taken over by others.

Every worker checks the others: taking over is idempotent, so no leader is needed, which could freeze. On SQLite
there is one process, which finds its runs again when it starts; its lease is only used to list it.
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
from forge.store.database import Store, is_outage

log = logging.getLogger(__name__)

HEARTBEAT_S = 0.5
LEASE_S = 3.0
SQLITE_WORKER = "local"


def worker_id(database: Store) -> str:
    """Return a fixed id on SQLite, so that a restart finds its runs, and a new one per process on
    PostgreSQL."""
    return SQLITE_WORKER if database.is_sqlite else f"{socket.gethostname()}-{new_id()}"


class Lease:
    def __init__(self, database: Store, engine: Engine, executor: Executor, own_id: str) -> None:
        self._database = database
        self._engine = engine
        self._executor = executor
        self._id = own_id
        self._last_beat = time.monotonic()
        self._patient_until = self._last_beat + LEASE_S

    async def acquire(self) -> None:
        async with self._database.begin() as tx:
            await store.insert_worker(tx, self._id, socket.gethostname(), os.getpid())

    async def keep_renewed(self) -> None:
        """Renew the lease until cancelled. An outage of the database is logged once."""
        is_away = False
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            try:
                await self._renew()
                is_away = False
            except (SQLAlchemyError, OSError) as error:
                if not isinstance(error, SQLAlchemyError) or not is_outage(error):
                    log.exception("cannot renew the lease; retrying")
                elif not is_away:
                    is_away = True
                    log.warning("cannot renew the lease, retrying until it succeeds: %s", error)

    async def release(self) -> None:
        """Expire the lease instead of deleting it, so that other workers take over remaining runs."""
        try:
            async with self._database.begin() as tx:
                await store.expire_worker(tx, self._id)
        except SQLAlchemyError as error:
            if not is_outage(error):
                raise
            log.warning("cannot release the lease, which will expire on its own: %s", error)

    async def _renew(self) -> None:
        if self._database.is_sqlite:
            return
        async with self._database.begin() as tx:
            touched = await store.touch_worker(tx, self._id)
        if touched is None:
            log.warning("the lease of this worker expired and was removed; registering again")
            await self.acquire()
        last_beat, self._last_beat = self._last_beat, time.monotonic()
        passed_s = self._last_beat - last_beat
        if touched is None or passed_s > LEASE_S or _clock_changed(*touched, passed_s):
            self._patient_until = self._last_beat + LEASE_S
        await self._executor.stop_cancelled()
        await self._remove_silent(touched[1] if touched else None)

    async def _remove_silent(self, at: datetime | None) -> None:
        """Take over from workers that signed off and from expired ones. Expired leases are ignored for a
        while after an outage of the database or a change of its clock, when all workers look dead."""
        is_patient = time.monotonic() <= self._patient_until
        async with self._database.read() as tx:
            silent = await store.silent_workers(tx, None if is_patient else at, timedelta(seconds=LEASE_S))
            silent = [other for other in silent if other != self._id]
        for other in silent:
            count = await self._engine.take_over(other)
            log.warning("worker %s is dead; returned %d of its runs to the queue", other, count)
            async with self._database.begin() as tx:
                await store.remove_worker(tx, other)


def _clock_changed(before: datetime, at: datetime, passed_s: float) -> bool:
    """Return whether the clock of the database was changed."""
    return abs((at - before).total_seconds() - passed_s) > LEASE_S / 2
