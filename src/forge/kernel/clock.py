"""The current time, always aware and in UTC, and waiting for a wall-clock time."""

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from forge.kernel.background import in_background

RECHECK_S = 30.0
"""Interval for rereading the clock, which can be changed, or jump after the machine was suspended."""


def now() -> datetime:
    return datetime.now(UTC)


async def sleep_until(
    moment: datetime, *, longest_s: float = math.inf, clock: Callable[[], datetime] = now
) -> None:
    """Sleep until the clock shows `moment`, at most `longest_s` in case it is set back."""
    end_s = time.monotonic() + longest_s
    while (left_s := min((moment - clock()).total_seconds(), end_s - time.monotonic())) > 0:  # noqa: ASYNC110
        await asyncio.sleep(min(left_s, RECHECK_S))


@asynccontextmanager
async def deadline(moment: datetime | None, *, clock: Callable[[], datetime] = now) -> AsyncGenerator[None]:
    """Raise TimeoutError inside when the clock reaches `moment`; never for None."""
    async with asyncio.timeout(None) as timeout:
        if moment is None:
            yield
            return

        async def expire() -> None:
            await sleep_until(moment, clock=clock)
            timeout.reschedule(asyncio.get_running_loop().time())

        async with in_background(expire(), "a deadline"):
            yield
