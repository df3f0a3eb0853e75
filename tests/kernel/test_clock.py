"""Waiting for a wall-clock time while the clock is changed."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from tests.support.timeouts import PATIENCE_S

from forge.kernel import clock
from forge.kernel.clock import deadline, sleep_until

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = timedelta(hours=3)


@pytest.fixture(autouse=True)
def short_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "RECHECK_S", 0.01)


def show_times(*moments: datetime) -> Callable[[], datetime]:
    """Return a clock that shows these times in order, and then always the last."""
    left: Iterator[datetime] = iter(moments)
    return lambda: next(left, moments[-1])


async def test_clock_set_forward_ends_a_sleep():
    async with asyncio.timeout(PATIENCE_S):
        await sleep_until(NOON + LATER, clock=show_times(NOON, NOON + LATER))


async def test_clock_set_back_extends_a_sleep_only_up_to_its_maximum():
    set_back = show_times(NOON, NOON - LATER)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await sleep_until(NOON + timedelta(seconds=0.1), clock=set_back)
    async with asyncio.timeout(PATIENCE_S):
        await sleep_until(NOON + timedelta(seconds=0.1), longest_s=0.1, clock=set_back)


async def test_deadline_follows_the_clock():
    with pytest.raises(TimeoutError):
        async with deadline(NOON + LATER, clock=show_times(NOON, NOON + LATER)):
            await asyncio.sleep(60)


async def test_block_within_its_deadline_is_not_interrupted():
    for moment in (NOON + LATER, None):
        async with deadline(moment, clock=show_times(NOON)):
            await asyncio.sleep(0)
