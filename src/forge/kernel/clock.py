"""The time, always in UTC and always aware; and waiting for a time on the wall, which may be set while one waits."""

import asyncio
import math
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from forge.kernel.background import in_background

LOOK_AGAIN_S = 30.0
"""Between two looks at the clock: it was set, or the machine slept and its timers with it."""


def now() -> datetime:
    return datetime.now(UTC)


async def sleep_until(
    moment: datetime, *, longest_s: float = math.inf, clock: Callable[[], datetime] = now
) -> None:
    """Until the clock says so; and no longer than `longest_s`, should it be set back."""
    end_s = time.monotonic() + longest_s
    while (left_s := min((moment - clock()).total_seconds(), end_s - time.monotonic())) > 0:  # noqa: ASYNC110
        await asyncio.sleep(min(left_s, LOOK_AGAIN_S))


@asynccontextmanager
async def deadline(moment: datetime | None, *, clock: Callable[[], datetime] = now) -> AsyncGenerator[None]:
    """Raises TimeoutError inside when the clock has come to it; never for None."""
    async with asyncio.timeout(None) as timeout:
        if moment is None:
            yield
            return

        async def expire() -> None:
            await sleep_until(moment, clock=clock)
            timeout.reschedule(asyncio.get_running_loop().time())

        async with in_background(expire(), "a deadline"):
            yield
