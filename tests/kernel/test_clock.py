"""Waiting for a time on the wall, while somebody sets the clock."""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from tests.support.patience import PATIENCE_S

from forge.kernel import clock
from forge.kernel.clock import deadline, sleep_until

pytestmark = pytest.mark.anyio

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = timedelta(hours=3)


@pytest.fixture(autouse=True)
def looks_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "LOOK_AGAIN_S", 0.01)


def shows(*moments: datetime) -> Callable[[], datetime]:
    """One after the other, and then the last for ever."""
    left: Iterator[datetime] = iter(moments)
    return lambda: next(left, moments[-1])


async def test_a_clock_that_is_set_forward_ends_a_sleep():
    async with asyncio.timeout(PATIENCE_S):
        await sleep_until(NOON + LATER, clock=shows(NOON, NOON + LATER))


async def test_a_clock_that_is_set_back_makes_a_sleep_longer_but_not_a_number_of_seconds():
    set_back = shows(NOON, NOON - LATER)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await sleep_until(NOON + timedelta(seconds=0.1), clock=set_back)
    async with asyncio.timeout(PATIENCE_S):
        await sleep_until(NOON + timedelta(seconds=0.1), longest_s=0.1, clock=set_back)


async def test_a_deadline_is_over_when_the_clock_says_so():
    with pytest.raises(TimeoutError):
        async with deadline(NOON + LATER, clock=shows(NOON, NOON + LATER)):
            await asyncio.sleep(60)


async def test_what_is_done_before_its_deadline_or_has_none_is_left_alone():
    for moment in (NOON + LATER, None):
        async with deadline(moment, clock=shows(NOON)):
            await asyncio.sleep(0)
