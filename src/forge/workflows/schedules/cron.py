"""When a schedule is due. Pure: text and a moment in, the next moment out.

Clocks that are set follow one rule. A time that the wall does not show is due at the first moment after it; one that it
shows twice is due the first time. What is due in every hour goes by the wall, and what has a pace keeps it.
"""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from croniter import CroniterBadDateError, CroniterError, croniter

from forge.errors import Invalid
from forge.workflows.schedules.phrases import Every, read_phrase
from forge.workflows.schedules.wall_time import (
    is_second_time,
    is_shown_twice,
    moment_after_gap,
    moment_of,
    moment_of_turning_back,
    wall_time,
)

LONGEST_PAUSE_YEARS = 50
TICK = timedelta(microseconds=1)
EXAMPLES = (
    "daily at 9am, weekdays at 8:30, every monday at noon, on the 1st at 6:00, every 15 minutes, 0 9 * * 1-5"
)

_DIGITS = re.compile(r"[0-9*/,\-]+")
_DAYS = re.compile(r"[0-9A-Za-z*/,\-?#]+")
_RANDOM = re.compile(r"(?<![A-Za-z])[HRhr](?![A-Za-z])")
_SIZES = (60, 60, 24, 31, 12, 7)
_ANCHOR = datetime(2020, 1, 6)  # noqa: DTZ001  (a wall's: a Monday, so that weeks begin on one)


class Occurrences(Protocol):
    def after(self, moment: datetime, zone: tzinfo) -> datetime: ...


@dataclass(frozen=True)
class Schedule:
    title: str
    zone: tzinfo
    occurrences: Occurrences = field(repr=False)

    def next_after(self, moment: datetime) -> datetime:
        """Strictly later, in UTC."""
        return self.occurrences.after(moment.astimezone(UTC), self.zone)


def read_schedule(text: str, timezone: str = "UTC") -> Schedule:
    """Raises Invalid, with what is wrong."""
    zone, words, title = _read_zone(timezone), text.split(), title_of_schedule(text, timezone)
    if _is_cron(words):
        return Schedule(title, zone, _read_fields(words, text))
    read = read_phrase(text)
    if read is None:
        raise Invalid(f"The schedule {text!r} is not understood.", hint=f"For instance: {EXAMPLES}.")
    if isinstance(read, Every):
        return Schedule(title, zone, Days(read.pace) if read.is_calendar else Pace(read.pace))
    return Schedule(title, zone, _read_fields(read.text.split(), text))


def title_of_schedule(text: str, timezone: str) -> str:
    return " ".join(text.split()) + (f" ({timezone})" if timezone != "UTC" else "")


class Pace:
    """At one pace since an agreed midnight of its zone."""

    def __init__(self, pace: timedelta) -> None:
        self._pace = pace

    def after(self, moment: datetime, zone: tzinfo) -> datetime:
        began = _ANCHOR.replace(tzinfo=zone).astimezone(UTC)
        return began + ((moment - began) // self._pace + 1) * self._pace


class Days:
    """At midnight of every so many days."""

    def __init__(self, pace: timedelta) -> None:
        self._pace = pace

    def after(self, moment: datetime, zone: tzinfo) -> datetime:
        wall = _ANCHOR + ((wall_time(moment, zone) - _ANCHOR) // self._pace) * self._pace
        while (found := _fixed(wall, zone)) <= moment:
            wall += self._pace
        return found


class Walls:
    """What cron's fields say, as a clock on the wall would show it."""

    def __init__(self, expressions: tuple[str, ...], *, is_every_hour: bool) -> None:
        self._parts = [_croniter(expression) for expression in expressions]
        self._is_every_hour = is_every_hour

    def after(self, moment: datetime, zone: tzinfo) -> datetime:
        wall = wall_time(moment, zone)
        if self._is_every_hour:
            return self._in_every_hour(moment, wall, zone)
        while (found := _fixed(wall := self.next_wall(wall), zone)) <= moment:
            pass
        return found

    def next_wall(self, wall: datetime) -> datetime:
        found = [following for part in self._parts if (following := _next_of(part, wall))]
        if not found:
            raise CroniterBadDateError("never")
        return min(found)

    def _in_every_hour(self, moment: datetime, wall: datetime, zone: tzinfo) -> datetime:
        is_again = is_second_time(moment, zone)
        following = self.next_wall(wall)
        if is_shown_twice(wall, zone) and not is_again and not is_shown_twice(following, zone):
            turning = moment_of_turning_back(wall, zone)
            again = self.next_wall(wall_time(turning, zone) - TICK)
            if is_shown_twice(again, zone):
                following, is_again = again, True
        while (found := moment_of(following, zone, second_time=is_again)) is None:
            following = self.next_wall(wall_time(moment_after_gap(following, zone), zone) - TICK)
        return found


def _fixed(wall: datetime, zone: tzinfo) -> datetime:
    return moment_of(wall, zone) or moment_after_gap(wall, zone)


def _is_cron(words: list[str]) -> bool:
    """The last three are of days and may have names in them; whatever has letters before that is a phrase."""
    return (
        len(words) in (5, 6)
        and all(_DIGITS.fullmatch(word) for word in words[:-3])
        and all(_DAYS.fullmatch(word) for word in words[-3:])
    )


def _read_fields(words: list[str], text: str) -> Walls:
    fields = words if len(words) == 6 else ["0", *words]
    problem = _problem_with(fields)
    if problem is None:
        try:
            walls = Walls(_split(fields), is_every_hour=_takes_all_hours(fields))
            walls.next_wall(_ANCHOR)
        except CroniterBadDateError:
            raise Invalid(
                f"The schedule {text!r} is never due: no such day comes.", hint="Look at its day and month."
            ) from None
        except (CroniterError, ValueError, KeyError, OverflowError) as error:
            problem = str(error).partition("] ")[2]
        else:
            return walls
    reason = f": {problem}" if problem else ""
    raise Invalid(
        f"The schedule {text!r} is not understood{reason}.",
        hint=f"Fields are: [second] minute hour day month weekday. For instance: {EXAMPLES}.",
    )


def _problem_with(fields: list[str]) -> str | None:
    """What the library takes, and people do not mean."""
    for text, size in zip(fields, _SIZES, strict=True):
        if _RANDOM.search(text):
            return f"{text} is left to chance"
        for part in text.split(","):
            step = part.partition("/")[2]
            if step and (not step.isdigit() or not 1 <= int(step) <= size):
                return f"{part} has a step that does not fit"
    return None


def _split(fields: list[str]) -> tuple[str, ...]:
    """A day of the month or of the week, as cron has it; each on its own, since a day that never comes must not keep
    the others from coming."""
    second, minute, hour, day, month, weekday = (text.replace("?", "*") for text in fields)
    if day.startswith("*") or weekday.startswith("*"):
        return (f"{second} {minute} {hour} {day} {month} {weekday}",)
    return (
        f"{second} {minute} {hour} {day} {month} *",
        f"{second} {minute} {hour} * {month} {weekday}",
    )


def _takes_all_hours(fields: list[str]) -> bool:
    expanded: Any = croniter.expand(" ".join(fields), second_at_beginning=True)[0]
    hours = expanded[1]
    return hours == ["*"] or len(set(hours)) == 24


def _croniter(expression: str) -> croniter:
    return croniter(
        expression, _ANCHOR, second_at_beginning=True, max_years_between_matches=LONGEST_PAUSE_YEARS
    )


def _next_of(part: croniter, wall: datetime) -> datetime | None:
    try:
        return part.get_next(datetime, start_time=wall)
    except CroniterBadDateError:
        return None


def _read_zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise Invalid(
            f"There is no time zone {name!r}.", hint="Such as UTC, Europe/Berlin or America/New_York."
        ) from error
