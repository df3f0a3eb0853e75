"""The way to the package registries for commands that may fetch: opened with them, closed with them."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from forge.errors import Unavailable
from forge.sandbox import netns_listener
from forge.sandbox.gateway import Gateway
from forge.sandbox.models import Network
from forge.sandbox.upstreams import Upstreams, read_upstreams

INSIDE_PORT = 4873
ANSWER_S = 20.0


class Door:
    """The gateway of one command, as its thread sees it."""

    def __init__(self, gateway: Gateway, loop: asyncio.AbstractEventLoop) -> None:
        self._gateway = gateway
        self._loop = loop

    @property
    def fetched(self) -> tuple[str, ...]:
        return self._gateway.fetched

    def env(self, port: int = INSIDE_PORT) -> dict[str, str]:
        return self._gateway.env(port)

    def listen_inside(self, pid: int) -> None:
        """In the network of that process, where nobody else is."""
        self._serve(_listener_inside(pid, INSIDE_PORT))

    def listen_here(self) -> int:
        """In the network of this machine; gives the port."""
        listener = socket.create_server(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        self._serve(listener)
        return port

    def _serve(self, listener: socket.socket) -> None:
        asyncio.run_coroutine_threadsafe(self._gateway.serve(listener), self._loop).result(ANSWER_S)


class Registries:
    """Knows where packages come from, once somebody asked."""

    def __init__(self, upstreams: Upstreams | None = None) -> None:
        self._upstreams = upstreams
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def open(self, network: Network) -> AsyncGenerator[Door | None]:
        if network is Network.NONE:
            yield None
            return
        async with Gateway(await self._known()) as gateway:
            yield Door(gateway, asyncio.get_running_loop())

    async def _known(self) -> Upstreams:
        async with self._lock:
            if self._upstreams is None:
                self._upstreams = await asyncio.to_thread(read_upstreams)
        if not self._upstreams.pip and not self._upstreams.npm:
            raise Unavailable(
                "no package registry is known here", hint="Install pip or npm, and configure an index for it."
            )
        return self._upstreams


def _listener_inside(pid: int, port: int) -> socket.socket:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        argv = [
            sys.executable,
            "-I",
            "-S",
            netns_listener.__file__,
            str(pid),
            str(port),
            str(theirs.fileno()),
        ]
        done = subprocess.run(  # noqa: S603  # our own helper
            argv, pass_fds=[theirs.fileno()], env={}, capture_output=True, timeout=ANSWER_S, check=False
        )
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise Unavailable(f"the registry gateway cannot enter the sandbox: {said[-1] if said else ''}")
        _, fds, *_ = socket.recv_fds(ours, 1, 1)
        return socket.socket(fileno=fds[0])
