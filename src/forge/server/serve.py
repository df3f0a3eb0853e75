"""Runs the process: binds first, so that the address is known and taken, then starts Forge, then says it is ready."""

import asyncio
import contextlib
import gc
import os
import signal
import socket
import sqlite3
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from pathlib import Path
from typing import Any

import click
import uvicorn
from sqlalchemy.exc import SQLAlchemyError

from forge.accounts.address import OwnAddress
from forge.api.server import create_api
from forge.app import Forge, Role, open_forge, own_address
from forge.config import Settings
from forge.errors import ConfigError
from forge.kernel.background import in_background
from forge.server.binding import bind
from forge.server.data_folder import DataFolder
from forge.server.start_trouble import explain
from forge.terminal.place import SERVER_FILE
from forge.terminal.private_file import write_private

GRACE_S = 5


def run_server(settings: Settings) -> None:
    _run(_serve(settings, terminal=sys.stderr.isatty()))


def run_worker(settings: Settings) -> None:
    if settings.database_url is None:
        raise ConfigError(
            ["FORGE_DATABASE_URL: a worker needs PostgreSQL (example: postgresql://forge:password@db/forge)"],
            hint="On SQLite, `forge serve` executes the runs by itself.",
        )
    _run(_work(settings, terminal=sys.stderr.isatty()))


def _run(main: Coroutine[Any, Any, None]) -> None:
    with (
        _private_files(),
        asyncio.Runner(loop_factory=uvicorn.Config("", log_config=None).get_loop_factory()) as runner,
    ):
        runner.run(main)


@contextlib.contextmanager
def _private_files() -> Generator[None]:
    """Everything Forge writes is for its user alone."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


async def _serve(settings: Settings, *, terminal: bool) -> None:
    """Until a signal comes."""
    with _bind(settings) as listener:
        address = own_address(settings, listener.getsockname()[1])
        async with _opened(settings, address, Role.SERVER, terminal=terminal) as forge:
            with DataFolder(settings.data_dir) as folder:
                await _answer(forge, listener, folder)
                folder.check()


async def _answer(forge: Forge, listener: socket.socket, folder: DataFolder) -> None:
    """Until a signal comes, or the data directory is no longer there."""
    server = _Server(api_config(forge))
    _on_signal(server.stop)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    await _first(serving, asyncio.create_task(server.is_up.wait()))
    path = await _write_server_file(forge)

    async def watch() -> None:
        await folder.until_gone()
        server.stop()

    try:
        await _welcome(forge)
        gc.freeze()  # what is here stays: a full collection need not look at it and stop the loop for 0.1 s
        async with in_background(watch(), "the data directory"):
            await serving
    finally:
        path.unlink(missing_ok=True)


async def _work(settings: Settings, *, terminal: bool) -> None:
    stop = asyncio.Event()
    _on_signal(stop.set)
    address = own_address(settings, settings.port)
    async with _opened(settings, address, Role.WORKER, terminal=terminal):
        click.echo("Forge is working. Ctrl-C stops it.")
        await stop.wait()


@contextlib.asynccontextmanager
async def _opened(
    settings: Settings, address: OwnAddress, role: Role, *, terminal: bool
) -> AsyncGenerator[Forge]:
    """What keeps Forge from starting is said for a person; what happens later is a defect, and its trace is wanted."""
    async with contextlib.AsyncExitStack() as stack:
        try:
            opening = open_forge(settings, address, terminal=terminal, role=role)
            forge = await stack.enter_async_context(opening)
        except (OSError, SQLAlchemyError, sqlite3.Error) as error:
            raise explain(settings, error) from error
        yield forge


async def _first(serving: asyncio.Task[None], up: asyncio.Task[Any]) -> None:
    """Wait until it is up; if it fails before, say why."""
    await asyncio.wait([serving, up], return_when=asyncio.FIRST_COMPLETED)
    if not up.done():
        up.cancel()
        await serving


def _on_signal(stop: Callable[[], None]) -> None:
    """A second signal does not wait: it is the default one again."""
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)

    def first() -> None:
        for number in numbers:
            loop.remove_signal_handler(number)
        stop()

    for number in numbers:
        loop.add_signal_handler(number, first)


async def _welcome(forge: Forge) -> None:
    link = await forge.accounts.owner_login_link()
    click.echo(f"Forge is ready at {forge.address.url()}")
    click.echo(f"Sign in (once, within 15 minutes): {link.url}")
    sys.stdout.flush()


class _Server(uvicorn.Server):
    """Says when it is up (uvicorn only has a flag to poll) and leaves signals to us: it would raise them again
    after its own shutdown, before Forge has put everything away.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield

    def stop(self) -> None:
        self.should_exit = True


def api_config(forge: Forge) -> uvicorn.Config:
    return uvicorn.Config(
        create_api(forge),
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="off",
        ws="websockets-sansio",
        ws_max_size=512 * 1024,
        ws_max_queue=32,
        timeout_graceful_shutdown=GRACE_S,
        proxy_headers=forge.settings.public_url is not None,
    )


def _bind(settings: Settings) -> socket.socket:
    try:
        return bind(settings.host, settings.port)
    except OSError as error:
        raise ConfigError(
            [f"FORGE_PORT: cannot listen on {settings.host}:{settings.port}: {error.strerror}"],
            hint="Choose another one: forge serve --port 8001 (0 takes a free one)",
        ) from error


async def _write_server_file(forge: Forge) -> Path:
    """How commands on this machine, by this user, find the server and its key."""
    directory = forge.settings.data_dir
    key = await forge.accounts.replace_local_key(f"{socket.gethostname()}:{directory}")
    path = directory / SERVER_FILE
    write_private(path, {"url": forge.address.local_url(), "key": key, "pid": os.getpid()})
    return path
