"""Generate a bounded load: each kind of work at its own pace, with a limit on concurrency, and each piece timed."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import httpx2
from websockets.exceptions import WebSocketException

from benchmarks.soak.activities import Action, Activity
from benchmarks.soak.server_under_test import ServerUnderTest

MAX_AT_ONCE = 2
"""Per kind of work, so that a slow server is not overloaded."""
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
    activities: Mapping[str, Activity]
    began: float = field(default_factory=time.monotonic)
    timed: list[Timed] = field(default_factory=list[Timed])
    failures: list[str] = field(default_factory=list[str])

    @property
    def done(self) -> int:
        return len(self.timed)

    def counts(self) -> Counter[str]:
        return Counter(each.name for each in self.timed)

    async def run(self, server: ServerUnderTest, seconds: float) -> None:
        """Run until the time is up and everything that was started has ended."""
        async with AsyncExitStack() as stack:
            for _ in range(IDLE_SOCKETS):
                await stack.enter_async_context(server.socket())
            async with asyncio.TaskGroup() as group:
                for name, activity in self.activities.items():
                    group.create_task(self._repeat(name, activity, seconds))

    async def _repeat(self, name: str, activity: Activity, seconds: float) -> None:
        places = asyncio.Semaphore(MAX_AT_ONCE)
        async with asyncio.TaskGroup() as group:
            while time.monotonic() - self.began < seconds:
                await places.acquire()
                doing = group.create_task(self._do(name, activity.act))
                doing.add_done_callback(lambda _: places.release())
                await asyncio.sleep(activity.every_s)

    async def _do(self, name: str, act: Action) -> None:
        began = time.monotonic()
        try:
            await act()
        except FAILURES as error:
            self.failures.append(f"{name}: {type(error).__name__}: {str(error)[:300]}")
        else:
            ended = time.monotonic()
            self.timed.append(Timed(name, ended - self.began, (ended - began) * 1000))
