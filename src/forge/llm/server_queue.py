"""Limit the concurrent requests to a model server, in this process.

A local server slows down with every concurrent request, so a title or the extraction of memories would delay the answer
that a person waits for. Requests of people go first, and interrupt one in the background, which then starts again.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(eq=False)
class _BackgroundRequest(Generic[T]):
    work: asyncio.Future[T]
    is_interrupted: bool = False


class ServerQueue:
    def __init__(self, slots: int) -> None:
        self._free = slots
        self._people: deque[asyncio.Future[None]] = deque()
        self._background: deque[asyncio.Future[None]] = deque()
        self._interruptible: list[_BackgroundRequest[object]] = []

    async def run(self, send: Callable[[], Awaitable[T]], *, is_background: bool) -> T:
        """Call `send` when there is a free slot. In the background it is called again after an interruption."""
        while True:
            await self._acquire(is_background=is_background)
            try:
                if not is_background:
                    return await send()
                request = _BackgroundRequest(asyncio.ensure_future(send()))
                if await self._finished(request):
                    return request.work.result()
            finally:
                self._release()

    async def _acquire(self, *, is_background: bool) -> None:
        if self._free:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        waiting = self._background if is_background else self._people
        waiting.append(turn)
        if not is_background:
            self._interrupt_one()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._release()  # the slot was granted just before the cancellation
            else:
                waiting.remove(turn)
            raise

    def _release(self) -> None:
        waiting = self._people or self._background
        if waiting:
            waiting.popleft().set_result(None)
        else:
            self._free += 1

    def _interrupt_one(self) -> None:
        for request in self._interruptible:
            if not request.is_interrupted:
                request.is_interrupted = True
                request.work.cancel()
                return

    async def _finished(self, request: _BackgroundRequest[T]) -> bool:
        """Wait for the request; return False if a person's request interrupted it."""
        self._interruptible.append(request)  # pyright: ignore[reportArgumentType]
        try:
            await asyncio.wait({request.work})
        finally:
            self._interruptible.remove(request)  # pyright: ignore[reportArgumentType]
            if not request.work.done():
                request.work.cancel()
                await asyncio.wait({request.work})
        return not (request.is_interrupted and request.work.cancelled())


class ServerQueues:
    """One queue per server and limit, shared by all accounts."""

    def __init__(self) -> None:
        self._queues: dict[tuple[str, int], ServerQueue] = {}

    async def run(
        self, address: str, slots: int | None, send: Callable[[], Awaitable[T]], *, is_background: bool
    ) -> T:
        if slots is None:
            return await send()
        queue = self._queues.setdefault((address, slots), ServerQueue(slots))
        return await queue.run(send, is_background=is_background)
