"""Looks names up, in threads of its own: a server that is slow to answer holds up nobody else's work."""

import asyncio
import ipaddress
import socket
import threading
from collections.abc import Awaitable, Callable

from forge.outgoing.addresses import Address

AT_ONCE = 16

Resolve = Callable[[str, int], Awaitable[list[Address]]]
"""The addresses of a host, the best first. Raises OSError when there is none."""


class Resolver:
    """The system's own way: its files, its servers, its order."""

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def __call__(self, host: str, port: int) -> list[Address]:
        await self._slots.acquire()
        loop = asyncio.get_running_loop()
        found: asyncio.Future[list[Address]] = loop.create_future()

        def work() -> None:
            try:
                addresses = look_up(host, port)
            except (OSError, UnicodeError) as error:
                told = OSError(str(error))
                _call(loop, lambda: self._end(found, lambda: found.set_exception(told)))
            else:
                _call(loop, lambda: self._end(found, lambda: found.set_result(addresses)))

        threading.Thread(target=work, name=f"look up {host}", daemon=True).start()
        return await found

    def _end(self, found: "asyncio.Future[list[Address]]", tell: Callable[[], None]) -> None:
        """The place is free when the thread is done, not when somebody stops waiting for it."""
        self._slots.release()
        if not found.done():
            tell()


def look_up(host: str, port: int) -> list[Address]:
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    texts = dict.fromkeys(str(entry[4][0]) for entry in found)
    return [ipaddress.ip_address(text) for text in texts]


def _call(loop: asyncio.AbstractEventLoop, tell: Callable[[], None]) -> None:
    if not loop.is_closed():
        loop.call_soon_threadsafe(tell)
