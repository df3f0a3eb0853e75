"""Run blocking work in a dedicated thread that a cancellation stops properly.

Each command has a thread instead of a pool: PR_SET_PDEATHSIG fires when the thread that started a process
ends, and a command may take minutes.
"""

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


class Stop:
    """Signals the thread to stop; can be polled like a file."""

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
    """Run work in a thread. Returns only when the thread is done, even if cancelled."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    stop = Stop()
    thread = threading.Thread(target=_work, args=(work, stop, loop, done), name=name, daemon=True)
    try:
        thread.start()
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        stop.set()
        await _wait_for_thread(done)
        raise
    finally:
        stop.close()


def _work(
    work: Callable[[Stop], T], stop: Stop, loop: asyncio.AbstractEventLoop, done: asyncio.Future[T]
) -> None:
    try:
        result = work(stop)
    except BaseException as error:  # noqa: BLE001  # re-raised in the waiting task
        failure = error
        deliver = lambda: done.set_exception(failure)  # noqa: E731
    else:
        deliver = lambda: done.set_result(result)  # noqa: E731
    with suppress(RuntimeError):  # the loop was closed
        loop.call_soon_threadsafe(deliver)


async def _wait_for_thread(done: "asyncio.Future[T]") -> None:
    """Wait for the thread, even if cancelled repeatedly."""
    while not done.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([done])
    done.exception()
