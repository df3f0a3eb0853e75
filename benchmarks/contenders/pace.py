"""Events at a steady pace, and the moment each was sent: what every source of the fan-out benchmark does."""

import asyncio
import itertools
import time
from collections.abc import Awaitable, Callable

from benchmarks.contenders.turns import take_turns

EVERY_S = 0.1

Send = Callable[[int], Awaitable[object]]


async def send_when_asked(send: Send) -> None:
    """Asked for so many events, answers when each of them was sent; they are counted from 1 on, as in a stream."""
    numbers = itertools.count(1)

    async def answer(request: str) -> dict[int, float]:
        return {number: await _send_later(send, number) for number in itertools.islice(numbers, int(request))}

    await take_turns(answer)


async def _send_later(send: Send, number: int) -> float:
    """The moment it was sent (and committed), by the clock all processes share."""
    await asyncio.sleep(EVERY_S)
    await send(number)
    return time.monotonic()
