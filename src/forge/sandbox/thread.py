"""Blocking work beside the event loop, in a thread of its own, that a cancellation ends properly.

A thread for each command, not a pool: the kernel takes the death of the thread that started a process for the death of
its parent, and a command may take minutes.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


class Stop:
    """Tells the thread to end; can be polled like a file."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        self._flag = threading.Event()

    def set(self) -> None:
        self._flag.set()
        os.write(self._writer, b".")

    def is_set(self) -> bool:
        return self._flag.is_set()

    def fileno(self) -> int:
        return self._reader

    def close(self) -> None:
        os.close(self._reader)
        os.close(self._writer)


async def run_in_thread(work: Callable[[Stop], T], name: str) -> T:
    """Comes back only when the thread is done, whatever happens to the task that waits."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    stop = Stop()
    thread = threading.Thread(target=_work, args=(work, stop, loop, done), name=name, daemon=True)
    try:
        thread.start()
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        stop.set()
        await _end_of(done)
        raise
    finally:
        stop.close()


def _work(
    work: Callable[[Stop], T], stop: Stop, loop: asyncio.AbstractEventLoop, done: asyncio.Future[T]
) -> None:
    try:
        result = work(stop)
    except BaseException as error:  # noqa: BLE001  # it belongs to the one who waits
        failure = error
        tell = lambda: done.set_exception(failure)  # noqa: E731
    else:
        tell = lambda: done.set_result(result)  # noqa: E731
    with suppress(RuntimeError):  # the loop was closed: nobody waits any more
        loop.call_soon_threadsafe(tell)


async def _end_of(done: "asyncio.Future[T]") -> None:
    """Waits however often the waiting is cancelled."""
    while not done.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([done])
    done.exception()
