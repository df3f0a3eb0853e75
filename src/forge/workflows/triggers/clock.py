"""Starts what is due. Several servers may do this side by side: each time is started once."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pydantic import JsonValue

from forge.errors import ForgeError, Invalid
from forge.kernel.clock import now
from forge.kernel.hashing import hash_json
from forge.store.engine import Tx
from forge.store.outage import survives_outage
from forge.workflows.definition.models import CronTrigger
from forge.workflows.models import TriggerType
from forge.workflows.schedules.cron import TICK, read_schedule
from forge.workflows.triggers import store
from forge.workflows.triggers.catching_up import MAX_CAUGHT_UP, missed
from forge.workflows.triggers.firing import Firing
from forge.workflows.triggers.launching import Also, Launch
from forge.workflows.triggers.store import TriggerRow

log = logging.getLogger(__name__)

LONGEST_NAP_S = 0.5
"""A schedule that was just made may be due at any second."""
SHORTEST_NAP_S = 0.01
BATCH = 100
LATE = timedelta(seconds=2)
"""What starts later than this is being caught up."""
LEFT_OUT = f"More than {MAX_CAUGHT_UP} times were missed: only the latest {MAX_CAUGHT_UP} were started."


@dataclass(frozen=True)
class Occurrence:
    trigger: TriggerRow
    config: CronTrigger
    at: datetime | None
    """When it was due; None when nothing is to be started."""
    next_at: datetime
    """When the trigger is looked at again."""
    note: str | None = None
    """What people should know of the times before it."""

    def firing(self, started_at: datetime) -> Firing:
        due_at = (self.at or started_at).isoformat()
        about: dict[str, JsonValue] = {
            "type": TriggerType.CRON.value,
            "source": self.config.schedule,
            "fired_at": started_at.isoformat(),
            "scheduled_at": due_at,
        }
        # Two schedules of one workflow may be due at the same time.
        which = hash_json(self.trigger.config)[:12]
        return Firing(
            type=TriggerType.CRON,
            source=self.config.schedule,
            payload=dict(self.config.inputs),
            about=about,
            dedupe_key=f"cron:{due_at}:{which}",
        )


@dataclass(frozen=True)
class CronClock:
    launch: Launch
    clock: Callable[[], datetime] = field(default=now)

    async def tick_on(self) -> None:
        """Runs until cancelled."""
        seen_at = None
        while True:
            at = self.clock()
            if seen_at is None or at < seen_at:
                await self.put_back(at)
            seen_at = at
            wait_s = await self._look()
            await asyncio.sleep(wait_s)

    @survives_outage
    async def put_back(self, at: datetime) -> None:
        """When the clock was set back, what comes next was planned too late. A time that was started already is known
        by its run, and is not started again."""
        async with self.launch.database.read() as tx:
            schedules = await store.list_live(tx, TriggerType.CRON)
        for trigger in schedules:
            if trigger.next_at is not None and (next_at := _next_after(trigger, at)) < trigger.next_at:
                await self._move(trigger, _moving(trigger, next_at))

    @survives_outage
    async def _look(self) -> float:
        """Start what is due; how long until there is something to look at, in seconds."""
        while await self.sweep():
            pass
        async with self.launch.database.read() as tx:
            next_at = await store.next_due(tx)
        wait_s = (next_at - self.clock()).total_seconds() if next_at else LONGEST_NAP_S
        return min(max(wait_s, SHORTEST_NAP_S), LONGEST_NAP_S)

    async def sweep(self) -> bool:
        """One occurrence of each schedule that is due. False when there was none."""
        async with self.launch.database.read() as tx:
            due = await store.list_due(tx, self.clock(), BATCH)
        for trigger in due:
            await self._start(trigger)
        return bool(due)

    async def _start(self, trigger: TriggerRow) -> None:
        at = self.clock()
        try:
            occurrence = _read(trigger, at)
        except (Invalid, ValueError) as error:
            reason = error.message if isinstance(error, Invalid) else f"It cannot be read: {error}"
            await self.launch.refuse(trigger, reason, _moving(trigger, None))
            return
        moving = _moving(trigger, occurrence.next_at)
        if occurrence.at is None:
            await self._move(trigger, moving)
            return
        if occurrence.note and trigger.error != occurrence.note:
            await self.launch.refuse(trigger, occurrence.note)
        try:
            await self.launch.start_or_tell(trigger, occurrence.firing(at), moving, note=occurrence.note)
        except ForgeError:
            log.exception("cannot start the workflow %s; trying again", trigger.workflow_name)
            await asyncio.sleep(LONGEST_NAP_S)

    async def _move(self, trigger: TriggerRow, moving: Also) -> None:
        """Nothing to start."""
        async with self.launch.database.begin() as tx:
            if await store.lock_workflow(tx, trigger.workflow_id):
                await moving(tx)


def _next_after(trigger: TriggerRow, at: datetime) -> datetime:
    """One that cannot be read is looked at now, and refused."""
    try:
        config = CronTrigger.model_validate(trigger.config)
        return read_schedule(config.schedule, config.timezone).next_after(at)
    except (Invalid, ValueError):
        return at


def _read(trigger: TriggerRow, at: datetime) -> Occurrence:
    config = CronTrigger.model_validate(trigger.config)
    schedule = read_schedule(config.schedule, config.timezone)
    due_at = trigger.next_at or at
    found = missed(schedule, due_at - TICK, at, config.catch_up)
    if not found:
        return Occurrence(trigger, config, None, schedule.next_after(at))
    next_at = found[1] if len(found) > 1 else schedule.next_after(at)
    is_short = len(found) == MAX_CAUGHT_UP and found[0] > due_at
    is_told = trigger.error == LEFT_OUT and at - found[0] > LATE
    return Occurrence(trigger, config, found[0], next_at, LEFT_OUT if is_short or is_told else None)


def _moving(trigger: TriggerRow, next_at: datetime | None) -> Also:
    async def move(tx: Tx) -> bool:
        standing = await store.find(tx, trigger)
        if standing is None or standing.next_at != trigger.next_at:
            return False  # another server was here
        await store.change(tx, trigger, next_at=next_at)
        return True

    return move
