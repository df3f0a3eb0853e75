"""Open the registry gateway for commands that may fetch packages."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from forge.errors import Unavailable
from forge.sandbox.models import Network
from forge.sandbox.registry_gateway import netns_listener
from forge.sandbox.registry_gateway.gateway import Gateway
from forge.sandbox.registry_gateway.upstreams import Upstreams, read_upstreams

INSIDE_PORT = 4873
LISTEN_TIMEOUT_S = 20.0


class RegistryAccess:
    """Access to the gateway of one command from its supervising thread."""

    def __init__(self, gateway: Gateway, loop: asyncio.AbstractEventLoop) -> None:
        self._gateway = gateway
        self._loop = loop

    @property
    def fetched(self) -> tuple[str, ...]:
        return self._gateway.fetched

    def env(self, port: int = INSIDE_PORT) -> dict[str, str]:
        return self._gateway.env(port)

    def listen_inside(self, pid: int) -> None:
        """Listen in the private network namespace of a process."""
        self._serve(_listener_inside(pid, INSIDE_PORT))

    def listen_here(self) -> int:
        """Listen on the loopback of this machine and return the port."""
        listener = socket.create_server(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        self._serve(listener)
        return port

    def _serve(self, listener: socket.socket) -> None:
        asyncio.run_coroutine_threadsafe(self._gateway.serve(listener), self._loop).result(LISTEN_TIMEOUT_S)


class Registries:
    """Creates gateways; reads the upstream registries on first use."""

    def __init__(self, upstreams: Upstreams | None = None) -> None:
        self._upstreams = upstreams
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def open(self, network: Network) -> AsyncGenerator[RegistryAccess | None]:
        if network is Network.NONE:
            yield None
            return
        async with Gateway(await self._known()) as gateway:
            yield RegistryAccess(gateway, asyncio.get_running_loop())

    async def _known(self) -> Upstreams:
        async with self._lock:
            if self._upstreams is None:
                self._upstreams = await asyncio.to_thread(read_upstreams)
        if not self._upstreams.pip and not self._upstreams.npm:
            raise Unavailable(
                "no package registry is configured", hint="Install pip or npm and configure its index."
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
            argv,
            pass_fds=[theirs.fileno()],
            env={},
            capture_output=True,
            timeout=LISTEN_TIMEOUT_S,
            check=False,
        )
        if done.returncode:
            stderr_lines = done.stderr.decode(errors="replace").strip().splitlines()
            raise Unavailable(
                f"the registry gateway cannot enter the sandbox: {stderr_lines[-1] if stderr_lines else ''}"
            )
        _, fds, *_ = socket.recv_fds(ours, 1, 1)
        return socket.socket(fileno=fds[0])
