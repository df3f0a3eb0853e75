"""What a clock on the wall shows, and which moments that is: none when clocks go forward, two when they go back."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo

SECOND = timedelta(seconds=1)


def wall_time(moment: datetime, zone: tzinfo) -> datetime:
    """Without a zone, as it is written on the wall."""
    return moment.astimezone(zone).replace(tzinfo=None, fold=0)


def moment_of(wall: datetime, zone: tzinfo, *, second_time: bool = False) -> datetime | None:
    """None when the wall never shows it."""
    moment = _read(wall, zone, fold=second_time)
    return moment if wall_time(moment, zone) == wall else None


def moment_after_gap(wall: datetime, zone: tzinfo) -> datetime:
    """The first moment after the jump that leaves this time out."""
    before, after = _read(wall, zone, fold=True), _read(wall, zone, fold=False)
    jumped = after.astimezone(zone).utcoffset()
    return _first(before, after, lambda moment: moment.astimezone(zone).utcoffset() == jumped)


def is_shown_twice(wall: datetime, zone: tzinfo) -> bool:
    return _read(wall, zone, fold=False) < _read(wall, zone, fold=True)


def is_second_time(moment: datetime, zone: tzinfo) -> bool:
    return moment.astimezone(zone).fold == 1


def moment_of_turning_back(wall: datetime, zone: tzinfo) -> datetime:
    """When the wall begins to show for the second time what it shows twice around `wall`."""
    once, again = _read(wall, zone, fold=False), _read(wall, zone, fold=True)
    turned = again.astimezone(zone).utcoffset()
    return _first(once, again, lambda moment: moment.astimezone(zone).utcoffset() == turned)


def _read(wall: datetime, zone: tzinfo, *, fold: bool) -> datetime:
    return wall.replace(tzinfo=zone, fold=int(fold)).astimezone(UTC)


def _first(low: datetime, high: datetime, is_over: Callable[[datetime], bool]) -> datetime:
    """To the second: `low` is before, `high` is not."""
    low = low.replace(microsecond=0)
    while high - low > SECOND:
        middle = (low + (high - low) / 2).replace(microsecond=0)
        low, high = (low, middle) if is_over(middle) else (middle, high)
    return high.replace(microsecond=0)
