"""Deleted workflows are removed once they have no runs."""

import asyncio

import sqlalchemy as sa
from tests.support.timeouts import PATIENCE_S
from tests.workflows.triggers.conftest import Environment

from forge.events.log import EventLog
from forge.kernel.background import in_background
from forge.store.database import Store
from forge.telemetry import Metrics
from forge.workflows.component import purge_deleted
from forge.workflows.tables import workflows


async def test_deleted_workflow_without_runs_is_purged(store: Store):
    environment = Environment(store, EventLog(store, Metrics(version="test")))
    kept, deleted = await environment.save(name="kept"), await environment.save(name="deleted")
    await environment.delete(deleted)

    async def remaining() -> list[str]:
        async with store.read() as tx:
            return list((await tx.execute(sa.select(workflows.c.id))).scalars())

    async with in_background(purge_deleted(store), "purging"), asyncio.timeout(PATIENCE_S):
        while await remaining() != [kept]:
            await asyncio.sleep(0.01)
