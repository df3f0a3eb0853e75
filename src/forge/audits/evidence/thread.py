"""One thread for all that blocks about a snapshot: what it holds open (git, a cache) may belong to the thread that opened it."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from typing import ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")


class Thread:
    async def __aenter__(self) -> "Thread":
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="evidence")
        self._stack = ExitStack()
        return self

    async def __aexit__(self, *_: object) -> None:
        try:
            await self.run(self._stack.close)
        finally:
            self._executor.shutdown(wait=False)

    async def run(self, work: Callable[P, T], *given: P.args, **named: P.kwargs) -> T:
        return await asyncio.get_running_loop().run_in_executor(
            self._executor, partial(work, *given, **named)
        )

    async def enter(self, make: Callable[[], AbstractContextManager[T]]) -> T:
        """Open until this thread ends."""
        return await self.run(lambda: self._stack.enter_context(make()))
