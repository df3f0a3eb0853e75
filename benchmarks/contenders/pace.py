"""Send events at a steady pace and record when each was sent. Used by every source of the fan-out benchmark."""

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable

from benchmarks.contenders.turns import take_turns

EVERY_S = 0.1

Send = Callable[[int], Awaitable[object]]


async def send_when_asked(send: Send) -> None:
    """For each requested number of events, send them and reply with their times; they are numbered from 1, as in a
    stream."""
    numbers = itertools.count(1)

    async def answer(request: str) -> dict[int, float]:
        return {number: await _send_later(send, number) for number in itertools.islice(numbers, int(request))}

    await take_turns(answer)


async def _send_later(send: Send, number: int) -> float:
    """Send the event and return the time when it was sent (and committed), on the clock shared by all processes."""
    await asyncio.sleep(EVERY_S)
    await send(number)
    return time.monotonic()
