"""Keeps up a bounded load: each habit at its own pace, never more of it at a time than a few, every piece timed."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import httpx2
from websockets.exceptions import WebSocketException

from benchmarks.soak.house import House
from benchmarks.soak.people import Act, Habit

MAX_AT_ONCE = 2
"""Of one habit: a server that cannot keep up is not buried."""
IDLE_SOCKETS = 20
SHOWN_FAILURES = 20
FAILURES = (AssertionError, TimeoutError, OSError, httpx2.HTTPError, WebSocketException)


@dataclass(frozen=True)
class Timed:
    name: str
    at_s: float
    ms: float


@dataclass
class Load:
    habits: Mapping[str, Habit]
    began: float = field(default_factory=time.monotonic)
    timed: list[Timed] = field(default_factory=list[Timed])
    failures: list[str] = field(default_factory=list[str])

    @property
    def done(self) -> int:
        return len(self.timed)

    def counts(self) -> Counter[str]:
        return Counter(each.name for each in self.timed)

    async def keep_up(self, house: House, seconds: float) -> None:
        """Ends when everything that was begun has ended."""
        async with AsyncExitStack() as stack:
            for _ in range(IDLE_SOCKETS):
                await stack.enter_async_context(house.socket())
            async with asyncio.TaskGroup() as group:
                for name, habit in self.habits.items():
                    group.create_task(self._repeat(name, habit, seconds))

    async def _repeat(self, name: str, habit: Habit, seconds: float) -> None:
        places = asyncio.Semaphore(MAX_AT_ONCE)
        async with asyncio.TaskGroup() as group:
            while time.monotonic() - self.began < seconds:
                await places.acquire()
                doing = group.create_task(self._do(name, habit.act))
                doing.add_done_callback(lambda _: places.release())
                await asyncio.sleep(habit.every_s)

    async def _do(self, name: str, act: Act) -> None:
        began = time.monotonic()
        try:
            await act()
        except FAILURES as error:
            self.failures.append(f"{name}: {type(error).__name__}: {str(error)[:300]}")
        else:
            ended = time.monotonic()
            self.timed.append(Timed(name, ended - self.began, (ended - began) * 1000))
