"""A deleted workflow stays while a run shows it, and not for ever."""

import asyncio

import sqlalchemy as sa
from tests.support.patience import PATIENCE_S
from tests.workflows.triggers.conftest import House

from forge.events.log import EventLog
from forge.kernel.background import in_background
from forge.store.engine import Store
from forge.telemetry import Metrics
from forge.workflows.purging import purge_deleted
from forge.workflows.tables import workflows


async def test_a_deleted_workflow_is_gone_for_good_without_another_being_deleted(store: Store):
    house = House(store, EventLog(store, Metrics(version="test")))
    kept, deleted = await house.save(name="kept"), await house.save(name="deleted")
    await house.delete(deleted)

    async def left() -> list[str]:
        async with store.read() as tx:
            return list((await tx.execute(sa.select(workflows.c.id))).scalars())

    async with in_background(purge_deleted(store), "purging"), asyncio.timeout(PATIENCE_S):
        while await left() != [kept]:
            await asyncio.sleep(0.01)
