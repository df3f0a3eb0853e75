"""Occurrences of schedules: phrases, cron fields, clock changes and catching up."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.errors import Invalid
from forge.workflows.definition.models import CatchUp
from forge.workflows.schedules import Schedule, read_schedule
from forge.workflows.triggers.cron import MAX_CAUGHT_UP, due_occurrences


def due(text: str, after: str, count: int = 1, zone: str = "UTC") -> list[str]:
    """Return local time with its offset."""
    schedule, found = read_schedule(text, zone), []
    moment = datetime.fromisoformat(after)
    for _ in range(count):
        moment = schedule.next_after(moment)
        assert moment.tzinfo is UTC
        found.append(moment.astimezone(ZoneInfo(zone)).isoformat(" ", "minutes"))
    return found


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("phrase", "cron"),
    [
        ("minutely", "* * * * *"),
        ("every minute", "* * * * *"),
        ("Hourly", "0 * * * *"),
        ("every hour", "0 * * * *"),
        ("daily", "0 0 * * *"),
        ("@daily", "0 0 * * *"),
        ("every  DAY", "0 0 * * *"),
        ("weekly", "0 0 * * 1"),
        ("monthly", "0 0 1 * *"),
        ("daily at 9am", "0 9 * * *"),
        ("every day at 9:30", "30 9 * * *"),
        ("daily at 21:15", "15 21 * * *"),
        ("Daily at 9:30 PM", "30 21 * * *"),
        ("daily at 12am", "0 0 * * *"),
        ("daily at noon", "0 12 * * *"),
        ("at midnight", "0 0 * * *"),
        ("daily at 9am and 5pm", "0 9,17 * * *"),
        ("every monday at 9am", "0 9 * * 1"),
        ("mondays, wednesdays and fridays at 7:45", "45 7 * * 1,3,5"),
        ("every sun at 8", "0 8 * * 0"),
        ("weekly on friday at 17:00", "0 17 * * 5"),
        ("weekdays at 8:30", "30 8 * * 1-5"),
        ("every weekday", "0 0 * * 1-5"),
        ("weekends at noon", "0 12 * * 6,0"),
        ("on the 1st at 9am", "0 9 1 * *"),
        ("monthly on the 15th at 6:00", "0 6 15 * *"),
        ("on the last day of every month at 18:00", "0 18 L * *"),
        ("yearly", "0 0 1 1 *"),
        ("every 15 minutes", "*/15 * * * *"),
        ("every 30 seconds", "*/30 * * * * *"),
        ("every 2 hours", "0 */2 * * *"),
        ("every 1 day", "0 0 * * *"),
        ("every 1 week", "0 0 * * 1"),
    ],
)
def test_phrase_is_converted_to_occurrences(phrase: str, cron: str):
    moment = at("2026-11-16T04:05:06")
    phrase_schedule, cron_schedule = read_schedule(phrase), read_schedule(cron)
    for _ in range(40):
        following = phrase_schedule.next_after(moment)
        assert following == cron_schedule.next_after(moment)
        moment = following


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now and then",
        "every morning at the break of day",
        "every day at nine in the morning",
        "once a day at 9am please",
        "run this job every single day",
        "daily at 25:00",
        "daily at 9:75",
        "daily at 13pm",
        "daily at 9am and 5:30pm",
        "every 0 minutes",
        "every 400 days",
        "every 99999999 hours",
        "every 999999999 weeks",
        "every 3 months",
        "every someday at 9am",
        "on the 32nd at 9am",
        "60 * * * *",
        "* 24 * * *",
        "*/0 * * * *",
        "*/90 * * * *",
        "R * * * *",
        "0 0 H * *",
        "0 0 1 13 *",
        "0 0 * * 8",
        "0 0 * foo *",
        "1.5 * * * *",
        "-5 * * * *",
        "0 9 * * 1,",
        "\N{ARABIC-INDIC DIGIT THREE} * * * *",
        "* * * *",
        "0 0 1 1 * 2027",
        "* * * * * * *",
    ],
)
def test_invalid_schedule_is_rejected_with_examples(text: str):
    with pytest.raises(Invalid, match="Invalid schedule") as error:
        read_schedule(text)
    assert "daily at 9am" in (error.value.hint or "")


@pytest.mark.parametrize("text", ["0 0 30 2 *", "0 0 31 4,6 *", "0 0 12 31 2 *"])
def test_impossible_date_is_rejected(text: str):
    with pytest.raises(Invalid, match="never due"):
        read_schedule(text)


def test_impossible_day_does_not_block_weekday():
    assert due("0 0 30 2 1", "2026-02-01T00:00:00+00:00") == ["2026-02-02 00:00+00:00"]


@pytest.mark.parametrize("zone", ["", "Nowhere", "Europe", "../etc/passwd", "Europe/berlin/x"])
def test_unknown_time_zone_is_rejected(zone: str):
    with pytest.raises(Invalid, match="Unknown time zone"):
        read_schedule("daily", zone)


def test_title_contains_time_zone_unless_utc():
    assert read_schedule("daily at  9am", "Europe/Berlin").title == "daily at 9am (Europe/Berlin)"
    assert read_schedule("0 9 * * *").title == "0 9 * * *"


def test_six_fields_begin_with_seconds():
    first = read_schedule("30 0 9 * * *").next_after(at("2026-01-01T00:00:00"))
    assert first == at("2026-01-01T09:00:30")


def test_next_occurrence_is_strictly_later():
    nine = at("2026-01-01T09:00:00")
    assert read_schedule("0 9 * * *").next_after(nine) == nine + timedelta(days=1)
    assert read_schedule("0 9 * * *").next_after(nine - timedelta(microseconds=1)) == nine


def test_leap_day_occurs_in_leap_years():
    assert due("0 0 29 2 *", "2026-01-01T00:00:00+00:00", 2) == [
        "2028-02-29 00:00+00:00",
        "2032-02-29 00:00+00:00",
    ]
    assert due("0 0 29 2 *", "2096-03-01T00:00:00+00:00") == ["2104-02-29 00:00+00:00"]


@pytest.mark.parametrize(
    ("zone", "text", "after", "expected"),
    [
        # Berlin leaves out 02:00-03:00 on March 29, and has it twice on October 25.
        (
            "Europe/Berlin",
            "30 2 * * *",
            "2026-03-28T12:00:00+01:00",
            ["03-29 03:00+02:00", "03-30 02:30+02:00"],
        ),
        (
            "Europe/Berlin",
            "30 2 * * *",
            "2026-10-24T12:00:00+02:00",
            ["10-25 02:30+02:00", "10-26 02:30+01:00"],
        ),
        (
            "Europe/Berlin",
            "*/20 2 * * *",
            "2026-03-28T12:00:00+01:00",
            ["03-29 03:00+02:00", "03-30 02:00+02:00"],
        ),
        ("Europe/Berlin", "0 2 * * *", "2026-10-25T02:10:00+01:00", ["10-26 02:00+01:00"]),
        (
            "Europe/Berlin",
            "0 3 * * *",
            "2026-03-28T12:00:00+01:00",
            ["03-29 03:00+02:00", "03-30 03:00+02:00"],
        ),
        (
            "Europe/Berlin",
            "*/30 * * * *",
            "2026-03-29T01:20:00+01:00",
            ["03-29 01:30+01:00", "03-29 03:00+02:00"],
        ),
        (
            "Europe/Berlin",
            "*/30 * * * *",
            "2026-10-25T01:50:00+02:00",
            [
                "10-25 02:00+02:00",
                "10-25 02:30+02:00",
                "10-25 02:00+01:00",
                "10-25 02:30+01:00",
                "10-25 03:00+01:00",
            ],
        ),
        (
            "Europe/Berlin",
            "7 * * * *",
            "2026-03-29T01:20:00+01:00",
            ["03-29 03:07+02:00", "03-29 04:07+02:00"],
        ),
        (
            "Europe/Berlin",
            "15 * 25 10 *",
            "2026-10-25T02:20:00+02:00",
            ["10-25 02:15+01:00", "10-25 03:15+01:00"],
        ),
        (
            "Europe/Berlin",
            "every 45 minutes",
            "2026-10-25T01:10:00+02:00",
            [
                "10-25 01:45+02:00",
                "10-25 02:30+02:00",
                "10-25 02:15+01:00",
                "10-25 03:00+01:00",
                "10-25 03:45+01:00",
            ],
        ),
        # New York leaves out 02:00-03:00 on March 8, and has 01:00-02:00 twice on November 1.
        (
            "America/New_York",
            "30 2 * * *",
            "2026-03-07T12:00:00-05:00",
            ["03-08 03:00-04:00", "03-09 02:30-04:00"],
        ),
        (
            "America/New_York",
            "30 1 * * *",
            "2026-10-31T12:00:00-04:00",
            ["11-01 01:30-04:00", "11-02 01:30-05:00"],
        ),
        (
            "America/New_York",
            "0 * * * *",
            "2026-11-01T01:00:00-04:00",
            ["11-01 01:00-05:00", "11-01 02:00-05:00"],
        ),
        # Lord Howe leaves out 02:00-02:30 on October 4, and has 01:30-02:00 twice on April 5.
        (
            "Australia/Lord_Howe",
            "15 2 * * *",
            "2026-10-03T12:00:00+10:30",
            ["10-04 02:30+11:00", "10-05 02:15+11:00"],
        ),
        (
            "Australia/Lord_Howe",
            "45 1 * * *",
            "2026-04-04T12:00:00+11:00",
            ["04-05 01:45+11:00", "04-06 01:45+10:30"],
        ),
        (
            "Australia/Lord_Howe",
            "*/15 * * * *",
            "2026-04-05T01:40:00+11:00",
            ["04-05 01:45+11:00", "04-05 01:30+10:30", "04-05 01:45+10:30", "04-05 02:00+10:30"],
        ),
        # Midnight itself does not exist in Beirut on March 29, and comes twice in Havana on November 1.
        ("Asia/Beirut", "daily", "2026-03-28T12:00:00+02:00", ["03-29 01:00+03:00", "03-30 00:00+03:00"]),
        (
            "Asia/Beirut",
            "every 1 days",
            "2026-03-28T12:00:00+02:00",
            ["03-29 01:00+03:00", "03-30 00:00+03:00"],
        ),
        ("America/Havana", "daily", "2026-10-31T12:00:00-04:00", ["11-01 00:00-04:00", "11-02 00:00-05:00"]),
    ],
)
def test_clock_changes(zone: str, text: str, after: str, expected: list[str]):
    assert [one.removeprefix("2026-") for one in due(text, after, len(expected), zone)] == expected


def test_interval_is_anchored_in_its_time_zone():
    assert due("every 2 hours", "2026-01-10T00:10:00+05:30", 2, "Asia/Kolkata") == [
        "2026-01-10 02:00+05:30",
        "2026-01-10 04:00+05:30",
    ]


SCHEDULES = st.sampled_from(
    [
        "*/10 * * * *",
        "30 2 * * *",
        "0 */2 * * *",
        "15 1,2,3 * * 0",
        "every 35 minutes",
        "59 * * * *",
        "0 0 1 * *",
    ]
)
ZONES = st.sampled_from(
    ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca"]
)


@given(SCHEDULES, ZONES, st.integers(0, 3 * 366 * 86400), st.integers(1, 7200))
def test_no_occurrence_is_skipped_from_any_start(text: str, zone: str, second: int, before: int):
    schedule = read_schedule(text, zone)
    moment = at("2025-01-01T00:00:00") + timedelta(seconds=second)
    following = schedule.next_after(moment)
    assert following > moment
    earlier = schedule.next_after(moment - timedelta(seconds=before))
    assert earlier == following if earlier > moment else earlier <= moment


def occurrences(schedule: Schedule, last: datetime, now: datetime) -> list[datetime]:
    found: list[datetime] = []
    while (last := schedule.next_after(last)) <= now:
        found.append(last)
    return found


def test_catch_up_policies():
    hourly, last, now = read_schedule("hourly"), at("2026-01-01T00:00:00"), at("2026-01-01T05:30:00")
    assert due_occurrences(hourly, last, now, CatchUp.SKIP) == []
    assert due_occurrences(hourly, last, now, CatchUp.ONCE) == [at("2026-01-01T05:00:00")]
    assert due_occurrences(hourly, last, now, CatchUp.ALL) == [
        at(f"2026-01-01T0{hour}:00:00") for hour in range(1, 6)
    ]


@pytest.mark.parametrize("catch_up", list(CatchUp))
def test_current_occurrence_is_started_with_every_policy(catch_up: CatchUp):
    daily, now = read_schedule("daily at 9am"), at("2026-01-02T09:00:00.8")
    assert due_occurrences(daily, at("2026-01-02T08:59:59"), now, catch_up) == [at("2026-01-02T09:00:00")]
    assert due_occurrences(daily, now, now, catch_up) == []


@pytest.mark.parametrize("text", ["every 1 seconds", "* * * * * *", "*/7 * * * *", "0 3 * * *"])
def test_only_latest_of_many_missed_occurrences_are_started(text: str):
    schedule, now = read_schedule(text), at("2026-06-01T12:00:00.5")
    found = due_occurrences(schedule, now - timedelta(days=900), now, CatchUp.ALL)
    near = occurrences(schedule, found[0] - timedelta(microseconds=1), now)
    assert len(found) == MAX_CAUGHT_UP and found == near


@given(SCHEDULES, ZONES, st.integers(0, 366 * 86400), st.integers(1, 2 * 86400))
def test_latest_occurrences_are_found_by_bisection(text: str, zone: str, second: int, span: int):
    schedule = read_schedule(text, zone)
    last = at("2025-01-01T00:00:00") + timedelta(seconds=second)
    now = last + timedelta(seconds=span)
    assert due_occurrences(schedule, last, now, CatchUp.ONCE) == occurrences(schedule, last, now)[-1:]
