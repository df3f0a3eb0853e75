"""Start workflows on schedule. Safe with several servers: each occurrence is started once."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pydantic import JsonValue

from forge.errors import ForgeError, Invalid
from forge.kernel.clock import now
from forge.kernel.hashing import hash_json
from forge.store.database import Tx, survives_outage
from forge.workflows.definition.models import CatchUp, CronTrigger
from forge.workflows.models import TriggerType
from forge.workflows.schedules import SECOND, TICK, Schedule, read_schedule
from forge.workflows.triggers import store
from forge.workflows.triggers.launcher import TriggerLauncher, TriggerRequest, TriggerUpdate
from forge.workflows.triggers.store import TriggerRow

MAX_CAUGHT_UP = 100
ON_TIME = timedelta(seconds=60)
"""An occurrence counts as missed when it is older than this."""


def due_occurrences(schedule: Schedule, last: datetime, now: datetime, catch_up: CatchUp) -> list[datetime]:
    """Return the occurrences after `last` that are to be started now, oldest first, at most the latest 100."""
    found: list[datetime] = []
    moment = last
    while (moment := schedule.next_after(moment)) <= now:
        found.append(moment)
        if len(found) > MAX_CAUGHT_UP or (len(found) > 1 and catch_up is not CatchUp.ALL):
            found = _latest(schedule, found, now, MAX_CAUGHT_UP if catch_up is CatchUp.ALL else 1)
            break
    if catch_up is CatchUp.SKIP:
        return [moment for moment in found if now - moment <= ON_TIME]
    return found


def _latest(schedule: Schedule, some: list[datetime], now: datetime, count: int) -> list[datetime]:
    """Search from the end by bisection, because there may be millions of occurrences."""
    found: list[datetime] = []
    end = now
    while len(found) < count and some[0] <= end:
        end = _last_before(schedule, some[0], end) - TICK
        found.append(end + TICK)
    return found[::-1]


def _last_before(schedule: Schedule, known: datetime, end: datetime) -> datetime:
    """Return the last occurrence up to `end`. `known` is an earlier occurrence."""
    step = end - known
    while step >= SECOND:
        if (later := schedule.next_after(known + step)) <= end:
            known = later
        else:
            step /= 2
    following = schedule.next_after(known)
    return following if following <= end else known


log = logging.getLogger(__name__)

MAX_SLEEP_S = 0.5
"""Upper limit, because a schedule saved in the meantime may be due immediately."""
MIN_SLEEP_S = 0.01
BATCH = 100
LATE = timedelta(seconds=2)
"""An occurrence started later than this is being made up for."""
SKIPPED_NOTE = (
    f"More than {MAX_CAUGHT_UP} occurrences were missed; only the latest {MAX_CAUGHT_UP} were started."
)


@dataclass(frozen=True)
class Occurrence:
    trigger: TriggerRow
    config: CronTrigger
    at: datetime | None
    """When it was due; None if nothing is to be started."""
    next_at: datetime
    """When the trigger is checked again."""
    note: str | None = None
    """A warning about earlier occurrences, shown with the trigger."""

    def trigger_request(self, started_at: datetime) -> TriggerRequest:
        due_at = (self.at or started_at).isoformat()
        about: dict[str, JsonValue] = {
            "type": TriggerType.CRON.value,
            "source": self.config.schedule,
            "fired_at": started_at.isoformat(),
            "scheduled_at": due_at,
        }
        # Two schedules of one workflow may be due at the same time.
        which = hash_json(self.trigger.config)[:12]
        return TriggerRequest(
            type=TriggerType.CRON,
            source=self.config.schedule,
            payload=dict(self.config.inputs),
            about=about,
            dedupe_key=f"cron:{due_at}:{which}",
        )


@dataclass(frozen=True)
class CronScheduler:
    launcher: TriggerLauncher
    clock: Callable[[], datetime] = field(default=now)

    async def run_forever(self) -> None:
        """Start due occurrences until cancelled."""
        seen_at = None
        while True:
            at = self.clock()
            if seen_at is None or at < seen_at:
                await self.replan_after_clock_change(at)
            seen_at = at
            wait_s = await self._start_due()
            await asyncio.sleep(wait_s)

    @survives_outage
    async def replan_after_clock_change(self, at: datetime) -> None:
        """Plan earlier occurrences after the clock was set back.

        Occurrences that were started already are not repeated, because their runs have the same `dedupe_key`.
        """
        async with self.launcher.database.read() as tx:
            schedules = await store.list_live(tx, TriggerType.CRON)
        for trigger in schedules:
            if trigger.next_at is not None and (next_at := _next_after(trigger, at)) < trigger.next_at:
                await self._move(trigger, _advance(trigger, next_at))

    @survives_outage
    async def _start_due(self) -> float:
        """Start due occurrences and return the seconds until the next check."""
        while await self.sweep():
            pass
        async with self.launcher.database.read() as tx:
            next_at = await store.next_due(tx)
        wait_s = (next_at - self.clock()).total_seconds() if next_at else MAX_SLEEP_S
        return min(max(wait_s, MIN_SLEEP_S), MAX_SLEEP_S)

    async def sweep(self) -> bool:
        """Start one occurrence of each due schedule. Return False if none was due."""
        async with self.launcher.database.read() as tx:
            due = await store.list_due(tx, self.clock(), BATCH)
        for trigger in due:
            await self._start(trigger)
        return bool(due)

    async def _start(self, trigger: TriggerRow) -> None:
        at = self.clock()
        try:
            occurrence = _read(trigger, at)
        except (Invalid, ValueError) as error:
            reason = error.message if isinstance(error, Invalid) else f"The schedule is invalid: {error}"
            await self.launcher.refuse(trigger, reason, _advance(trigger, None))
            return
        advance = _advance(trigger, occurrence.next_at)
        if occurrence.at is None:
            await self._move(trigger, advance)
            return
        if occurrence.note and trigger.error != occurrence.note:
            await self.launcher.refuse(trigger, occurrence.note)
        try:
            await self.launcher.start_or_refuse(
                trigger, occurrence.trigger_request(at), advance, note=occurrence.note
            )
        except ForgeError:
            log.exception("cannot start the workflow %s; trying again", trigger.workflow_name)
            await asyncio.sleep(MAX_SLEEP_S)

    async def _move(self, trigger: TriggerRow, advance: TriggerUpdate) -> None:
        """Update the trigger without starting anything."""
        async with self.launcher.database.begin() as tx:
            if await store.lock_workflow(tx, trigger.workflow_id):
                await advance(tx)


def _next_after(trigger: TriggerRow, at: datetime) -> datetime:
    """Return the next occurrence. An invalid schedule is due immediately, so that its error is shown."""
    try:
        config = CronTrigger.model_validate(trigger.config)
        return read_schedule(config.schedule, config.timezone).next_after(at)
    except (Invalid, ValueError):
        return at


def _read(trigger: TriggerRow, at: datetime) -> Occurrence:
    config = CronTrigger.model_validate(trigger.config)
    schedule = read_schedule(config.schedule, config.timezone)
    due_at = trigger.next_at or at
    found = due_occurrences(schedule, due_at - TICK, at, config.catch_up)
    if not found:
        return Occurrence(trigger, config, None, schedule.next_after(at))
    next_at = found[1] if len(found) > 1 else schedule.next_after(at)
    is_truncated = len(found) == MAX_CAUGHT_UP and found[0] > due_at
    is_noted = trigger.error == SKIPPED_NOTE and at - found[0] > LATE
    return Occurrence(trigger, config, found[0], next_at, SKIPPED_NOTE if is_truncated or is_noted else None)


def _advance(trigger: TriggerRow, next_at: datetime | None) -> TriggerUpdate:
    async def move(tx: Tx) -> bool:
        current = await store.find(tx, trigger)
        if current is None or current.next_at != trigger.next_at:
            return False  # another server has processed this occurrence
        await store.change(tx, trigger, next_at=next_at)
        return True

    return move
