import time
from datetime import UTC, datetime

import pytest

from forge.workflows.steps.wait import format_time


@pytest.fixture
def in_utc(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("in_utc")
@pytest.mark.parametrize(
    ("until", "expected"),
    [
        (datetime(2026, 11, 16, 9, 0, tzinfo=UTC), "09:00 UTC"),
        (datetime(2026, 11, 16, 9, 0, 7, tzinfo=UTC), "09:00:07 UTC"),
        (datetime(2026, 12, 1, 9, 0, tzinfo=UTC), "1 December 2026, 09:00 UTC"),
    ],
)
def test_time_format(until: datetime, expected: str):
    assert format_time(until, datetime(2026, 11, 16, 8, 30, tzinfo=UTC)) == expected
