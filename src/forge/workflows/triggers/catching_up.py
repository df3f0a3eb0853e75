"""Which of the times that went by are started after all."""

from datetime import datetime, timedelta

from forge.workflows.definition.models import CatchUp
from forge.workflows.schedules.cron import TICK, Schedule
from forge.workflows.schedules.wall_time import SECOND

MAX_CAUGHT_UP = 100
ON_TIME = timedelta(seconds=60)
"""What is due no longer than this was not missed."""


def missed(schedule: Schedule, last: datetime, now: datetime, catch_up: CatchUp) -> list[datetime]:
    """What is to be started now, of all that was due after `last`: the oldest first, the latest 100 at most."""
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
    """Found from the end, by halving: there may be millions."""
    found: list[datetime] = []
    end = now
    while len(found) < count and some[0] <= end:
        end = _last_before(schedule, some[0], end) - TICK
        found.append(end + TICK)
    return found[::-1]


def _last_before(schedule: Schedule, known: datetime, end: datetime) -> datetime:
    """The last that is due up to `end`; `known` is one."""
    step = end - known
    while step >= SECOND:
        if (later := schedule.next_after(known + step)) <= end:
            known = later
        else:
            step /= 2
    following = schedule.next_after(known)
    return following if following <= end else known
