"""The time, always in UTC and always aware."""

from datetime import UTC, datetime


def now() -> datetime:
    return datetime.now(UTC)
