"""Schedules as people say them: `daily at 9am`, `every 15 minutes`, `weekdays at 8:30`."""

import re
from dataclasses import dataclass
from datetime import timedelta

DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_LONGEST_S = 366 * 86_400
_UNITS = {"second": 1, "minute": 60, "hour": 3600}
_DAYS = {"day": 1, "week": 7}
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
    """Goes on at one pace, whatever clocks are set to; days and weeks are those of the calendar."""

    pace: timedelta
    is_calendar: bool


def read_phrase(text: str) -> Fields | Every | None:
    """None when it is not one of them."""
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
    seconds = count * (_DAYS[unit] * 86_400 if is_calendar else _UNITS[unit])
    return Every(timedelta(seconds=seconds), is_calendar=is_calendar) if seconds <= _LONGEST_S else None


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
        return None  # cron would also take each hour with the other's minute
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
    """`monday, wednesday and friday`."""
    return [one.strip() for one in re.split(r" , and | , | and ", f" {words} ") if one.strip()]
