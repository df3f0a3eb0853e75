"""Parse schedules and compute when they are due next.

Clock changes: a local time that is skipped is due at the first moment after the gap; one that occurs twice is due the first
time. Schedules that are due every hour follow local time, intervals keep their pace.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from croniter import CroniterBadDateError, CroniterError, croniter

from forge.errors import Invalid

MAX_PAUSE_YEARS = 50
TICK = timedelta(microseconds=1)
EXAMPLES = (
    "daily at 9am, weekdays at 8:30, every monday at noon, on the 1st at 6:00, every 15 minutes, 0 9 * * 1-5"
)

_DIGITS = re.compile(r"[0-9*/,\-]+")
_DAYS = re.compile(r"[0-9A-Za-z*/,\-?#]+")
_RANDOM = re.compile(r"(?<![A-Za-z])[HRhr](?![A-Za-z])")
_SIZES = (60, 60, 24, 31, 12, 7)
_ANCHOR = datetime(2020, 1, 6)  # noqa: DTZ001  (local time; a Monday, so that weeks begin on it)


class Occurrences(Protocol):
    def after(self, moment: datetime, zone: tzinfo) -> datetime: ...


@dataclass(frozen=True)
class Schedule:
    title: str
    zone: tzinfo
    occurrences: Occurrences = field(repr=False)

    def next_after(self, moment: datetime) -> datetime:
        """Return the next occurrence after `moment`, in UTC."""
        return self.occurrences.after(moment.astimezone(UTC), self.zone)


def read_schedule(text: str, timezone: str = "UTC") -> Schedule:
    """Parse a schedule. Raises Invalid."""
    zone, words, title = _read_zone(timezone), text.split(), title_of_schedule(text, timezone)
    if _is_cron(words):
        return Schedule(title, zone, _read_fields(words, text))
    read = parse_phrase(text)
    if read is None:
        raise Invalid(f"Invalid schedule {text!r}.", hint=f"Examples: {EXAMPLES}.")
    if isinstance(read, Every):
        return Schedule(title, zone, DayInterval(read.pace) if read.is_calendar else Interval(read.pace))
    return Schedule(title, zone, _read_fields(read.text.split(), text))


def title_of_schedule(text: str, timezone: str) -> str:
    return " ".join(text.split()) + (f" ({timezone})" if timezone != "UTC" else "")


class Interval:
    """A fixed interval, counted from a midnight of the time zone."""

    def __init__(self, pace: timedelta) -> None:
        self._pace = pace

    def after(self, moment: datetime, zone: tzinfo) -> datetime:
        began = _ANCHOR.replace(tzinfo=zone).astimezone(UTC)
        return began + ((moment - began) // self._pace + 1) * self._pace


class DayInterval:
    """Midnight of every n-th day."""

    def __init__(self, pace: timedelta) -> None:
        self._pace = pace

    def after(self, moment: datetime, zone: tzinfo) -> datetime:
        wall = _ANCHOR + ((wall_time(moment, zone) - _ANCHOR) // self._pace) * self._pace
        while (found := _fixed(wall, zone)) <= moment:
            wall += self._pace
        return found


class CronFields:
    """Cron fields, evaluated in local time."""

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
    """Return whether the words are cron fields. Only the last three, which are about days, may contain letters."""
    return (
        len(words) in (5, 6)
        and all(_DIGITS.fullmatch(word) for word in words[:-3])
        and all(_DAYS.fullmatch(word) for word in words[-3:])
    )


def _read_fields(words: list[str], text: str) -> CronFields:
    fields = words if len(words) == 6 else ["0", *words]
    problem = _problem_with(fields)
    if problem is None:
        try:
            walls = CronFields(_split(fields), is_every_hour=_takes_all_hours(fields))
            walls.next_wall(_ANCHOR)
        except CroniterBadDateError:
            raise Invalid(
                f"The schedule {text!r} is never due: there is no such date.", hint="Check its day and month."
            ) from None
        except (CroniterError, ValueError, KeyError, OverflowError) as error:
            problem = str(error).partition("] ")[2]
        else:
            return walls
    reason = f": {problem}" if problem else ""
    raise Invalid(
        f"Invalid schedule {text!r}{reason}.",
        hint=f"Fields are: [second] minute hour day month weekday. Examples: {EXAMPLES}.",
    )


def _problem_with(fields: list[str]) -> str | None:
    """Reject fields that croniter accepts that are surely a mistake: random values and steps that are too large."""
    for text, size in zip(fields, _SIZES, strict=True):
        if _RANDOM.search(text):
            return f"{text} is random"
        for part in text.split(","):
            step = part.partition("/")[2]
            if step and (not step.isdigit() or not 1 <= int(step) <= size):
                return f"{part} has an invalid step"
    return None


def _split(fields: list[str]) -> tuple[str, ...]:
    """Split fields with both a day and a weekday, of which either may match, into two expressions.

    They are evaluated separately, because a day that never comes would make croniter fail for both.
    """
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
    return croniter(expression, _ANCHOR, second_at_beginning=True, max_years_between_matches=MAX_PAUSE_YEARS)


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
            f"Unknown time zone {name!r}.", hint="Examples: UTC, Europe/Berlin, America/New_York."
        ) from error


SECOND = timedelta(seconds=1)


def wall_time(moment: datetime, zone: tzinfo) -> datetime:
    """Return the local time, without a time zone."""
    return moment.astimezone(zone).replace(tzinfo=None, fold=0)


def moment_of(wall: datetime, zone: tzinfo, *, second_time: bool = False) -> datetime | None:
    """Return the moment of a local time; None if a clock change skips it."""
    moment = _read(wall, zone, fold=second_time)
    return moment if wall_time(moment, zone) == wall else None


def moment_after_gap(wall: datetime, zone: tzinfo) -> datetime:
    """Return the first moment after the clock change that skips this local time."""
    before, after = _read(wall, zone, fold=True), _read(wall, zone, fold=False)
    jumped = after.astimezone(zone).utcoffset()
    return _first(before, after, lambda moment: moment.astimezone(zone).utcoffset() == jumped)


def is_shown_twice(wall: datetime, zone: tzinfo) -> bool:
    return _read(wall, zone, fold=False) < _read(wall, zone, fold=True)


def is_second_time(moment: datetime, zone: tzinfo) -> bool:
    return moment.astimezone(zone).fold == 1


def moment_of_turning_back(wall: datetime, zone: tzinfo) -> datetime:
    """Return the moment when clocks go back and the local times around `wall` begin to repeat."""
    once, again = _read(wall, zone, fold=False), _read(wall, zone, fold=True)
    turned = again.astimezone(zone).utcoffset()
    return _first(once, again, lambda moment: moment.astimezone(zone).utcoffset() == turned)


def _read(wall: datetime, zone: tzinfo, *, fold: bool) -> datetime:
    return wall.replace(tzinfo=zone, fold=int(fold)).astimezone(UTC)


def _first(low: datetime, high: datetime, is_over: Callable[[datetime], bool]) -> datetime:
    """Bisect to the second for the moment when `is_over` becomes true."""
    low = low.replace(microsecond=0)
    while high - low > SECOND:
        middle = (low + (high - low) / 2).replace(microsecond=0)
        low, high = (low, middle) if is_over(middle) else (middle, high)
    return high.replace(microsecond=0)


DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_MAX_INTERVAL_S = 366 * 86_400
_UNITS = {"second": 1, "minute": 60, "hour": 3600}
_DAY_UNITS = {"day": 1, "week": 7}
_WHOLE = {
    "minutely": "0 * * * * *",
    "every minute": "0 * * * * *",
    "hourly": "0 0 * * * *",
    "every hour": "0 0 * * * *",
    "yearly": "0 0 0 1 1 *",
    "annually": "0 0 0 1 1 *",
    "every year": "0 0 0 1 1 *",
}
_DAY_PARTS = {
    "daily": "* * *",
    "every day": "* * *",
    "each day": "* * *",
    "weekly": "* * 1",
    "every week": "* * 1",
    "monthly": "1 * *",
    "every month": "1 * *",
    "weekdays": "* * 1-5",
    "every weekday": "* * 1-5",
    "on weekdays": "* * 1-5",
    "weekends": "* * 0,6",
    "every weekend": "* * 0,6",
    "on weekends": "* * 0,6",
    "at": "* * *",
}
_EVERY = re.compile(r"every (\d{1,9}) (second|minute|hour|day|week)s?")
_TIME = re.compile(r"(\d{1,2})(?::([0-5]\d))?(?: ?([ap])\.?m\.?)?")
_MONTH_DAY = re.compile(
    r"(?:(?:monthly|every month) )?on the (last|(\d{1,2})(?:st|nd|rd|th)?)(?: day)?(?: of (?:every|each|the) month)?"
)
_NAMED_TIMES = {"noon": (12, 0), "midday": (12, 0), "midnight": (0, 0)}


@dataclass(frozen=True)
class Fields:
    """Six fields of cron, seconds first."""

    text: str


@dataclass(frozen=True)
class Every:
    """An interval that ignores clock changes, except that days and weeks follow the calendar."""

    pace: timedelta
    is_calendar: bool


def parse_phrase(text: str) -> Fields | Every | None:
    """Parse a phrase such as `daily at 9am` or `every 15 minutes`; None if it is not one."""
    words = " ".join(text.casefold().removeprefix("@").replace(",", " , ").split())
    words = {"midnight": "daily", "noon": "daily at noon", "every second": "every 1 second"}.get(words, words)
    if whole := _WHOLE.get(words):
        return Fields(whole)
    if match := _EVERY.fullmatch(words):
        return _every(int(match[1]), match[2])
    return _at_times(words)


def _every(count: int, unit: str) -> Every | None:
    if not count:
        return None
    is_calendar = unit not in _UNITS
    seconds = count * (_DAY_UNITS[unit] * 86_400 if is_calendar else _UNITS[unit])
    return Every(timedelta(seconds=seconds), is_calendar=is_calendar) if seconds <= _MAX_INTERVAL_S else None


def _at_times(words: str) -> Fields | None:
    days, at, times = words.rpartition(" at ")
    if not at and words.startswith("at "):
        days, times = "at", words.removeprefix("at ")
    elif not at:
        days, times = words, "midnight"
    day_fields, found = _read_days(days), [_read_time(one) for one in _listed(times)]
    if day_fields is None or not found or None in found:
        return None
    clock = [one for one in found if one]
    if len({minute for _, minute in clock}) > 1:
        return None  # cron would combine every hour with every minute
    hours = ",".join(str(hour) for hour in sorted({hour for hour, _ in clock}))
    return Fields(f"0 {clock[0][1]} {hours} {day_fields}")


def _read_days(words: str) -> str | None:
    if words in _DAY_PARTS:
        return _DAY_PARTS[words]
    if match := _MONTH_DAY.fullmatch(words):
        return _month_day(match[1])
    words = re.sub(r"^(weekly on|every week on|every|each|on)(?= )", "", words).strip()
    named = [_day_number(one) for one in _listed(words)]
    if not named or None in named:
        return None
    return f"* * {','.join(str(day) for day in sorted({day for day in named if day is not None}))}"


def _month_day(day: str) -> str | None:
    if day == "last":
        return "L * *"
    number = int(re.sub(r"\D", "", day))
    return f"{number} * *" if 1 <= number <= 31 else None


def _day_number(word: str) -> int | None:
    word = word.removesuffix("s") if word.removesuffix("s") in DAYS else word
    shorts = {day[:3]: day for day in DAYS} | {"tues": "tuesday", "thur": "thursday", "thurs": "thursday"}
    word = shorts.get(word, word)
    return DAYS.index(word) if word in DAYS else None


def _read_time(words: str) -> tuple[int, int] | None:
    if words in _NAMED_TIMES:
        return _NAMED_TIMES[words]
    match = _TIME.fullmatch(words)
    if match is None:
        return None
    hour, minute, half = int(match[1]), int(match[2] or 0), match[3]
    if half and not 1 <= hour <= 12:
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    return (hour, minute) if hour < 24 else None


def _listed(words: str) -> list[str]:
    """Split a list such as `monday, wednesday and friday`."""
    return [one.strip() for one in re.split(r" , and | , | and ", f" {words} ") if one.strip()]
