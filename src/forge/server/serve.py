"""Run the server or worker process: bind the address first, then start Forge, then report that it is ready."""

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
from types import TracebackType
from typing import Any

import click
import uvicorn
from sqlalchemy.exc import SQLAlchemyError

from forge.accounts.address import OwnAddress
from forge.api.server import create_api
from forge.app import Forge, Role, open_forge, own_address
from forge.config import Settings
from forge.errors import ConfigError, Unavailable
from forge.kernel.background import in_background
from forge.server.listen_socket import open_listener
from forge.server.startup_errors import explain_startup_error
from forge.terminal.location import SERVER_FILE, write_private

GRACE_S = 5


POLL_S = 1.0


class DataDirWatch:
    """Watches the data directory. Keeps its lock file open, so that its inode number cannot be reused."""

    def __init__(self, path: Path) -> None:
        self._folder, self._path = path, path / "lock"
        self._descriptor = os.open(self._path, os.O_RDONLY)

    def __enter__(self) -> "DataDirWatch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._descriptor)

    @property
    def is_gone(self) -> bool:
        """Whether the directory was removed or replaced. A disk that fails for a moment does not count."""
        try:
            found = self._path.stat()
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            return False
        return not os.path.samestat(found, os.fstat(self._descriptor))

    async def wait_until_gone(self) -> None:
        while not self.is_gone:  # noqa: ASYNC110 (there is no event to wait for)
            await asyncio.sleep(POLL_S)

    def check(self) -> None:
        if self.is_gone:
            raise Unavailable(
                f"{self._folder} was removed, moved or replaced while Forge was running, so Forge has stopped.",
                hint="Changes since then are lost. Put the directory back (or restore a backup: forge restore), "
                "then start Forge again.",
            )


def run_server(settings: Settings) -> None:
    _run(_serve(settings, terminal=sys.stderr.isatty()))


def run_worker(settings: Settings) -> None:
    if settings.database_url is None:
        raise ConfigError(
            ["FORGE_DATABASE_URL: a worker needs PostgreSQL (example: postgresql://forge:password@db/forge)"],
            hint="On SQLite, `forge serve` executes the runs itself.",
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
    """Make all files that Forge writes private to its user."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


async def _serve(settings: Settings, *, terminal: bool) -> None:
    """Serve until a signal."""
    with _bind(settings) as listener:
        address = own_address(settings, listener.getsockname()[1])
        async with _open_or_explain(settings, address, Role.SERVER, terminal=terminal) as forge:
            with DataDirWatch(settings.data_dir) as folder:
                await _run_until_stopped(forge, listener, folder)
                folder.check()


async def _run_until_stopped(forge: Forge, listener: socket.socket, folder: DataDirWatch) -> None:
    """Serve until a signal, or until the data directory is gone."""
    server = _Server(api_config(forge))
    _on_signal(server.stop)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    await _wait_until_up(serving, asyncio.create_task(server.is_up.wait()))
    path = await _write_server_file(forge)

    async def watch() -> None:
        await folder.wait_until_gone()
        server.stop()

    try:
        await _print_sign_in(forge)
        gc.freeze()  # exempt long-lived objects: visiting them at each full collection blocks the loop for 0.1 s
        async with in_background(watch(), "the data directory"):
            await serving
    finally:
        path.unlink(missing_ok=True)


async def _work(settings: Settings, *, terminal: bool) -> None:
    stop = asyncio.Event()
    _on_signal(stop.set)
    address = own_address(settings, settings.port)
    async with _open_or_explain(settings, address, Role.WORKER, terminal=terminal):
        click.echo("Forge is working. Ctrl-C stops it.")
        await stop.wait()


@contextlib.asynccontextmanager
async def _open_or_explain(
    settings: Settings, address: OwnAddress, role: Role, *, terminal: bool
) -> AsyncGenerator[Forge]:
    """Open Forge. Explain errors at startup to the user; later ones are bugs and keep their traceback."""
    async with contextlib.AsyncExitStack() as stack:
        try:
            opened = open_forge(settings, address, terminal=terminal, role=role)
            forge = await stack.enter_async_context(opened)
        except (OSError, SQLAlchemyError, sqlite3.Error) as error:
            raise explain_startup_error(settings, error) from error
        yield forge


async def _wait_until_up(serving: asyncio.Task[None], up: asyncio.Task[Any]) -> None:
    """Wait until the server is up; raise its error if it fails before."""
    await asyncio.wait([serving, up], return_when=asyncio.FIRST_COMPLETED)
    if not up.done():
        up.cancel()
        await serving


def _on_signal(stop: Callable[[], None]) -> None:
    """Call `stop` at the first signal and restore the default handlers for the second."""
    loop = asyncio.get_running_loop()
    numbers = (signal.SIGINT, signal.SIGTERM)

    def first() -> None:
        for number in numbers:
            loop.remove_signal_handler(number)
        stop()

    for number in numbers:
        loop.add_signal_handler(number, first)


async def _print_sign_in(forge: Forge) -> None:
    link = await forge.accounts.owner_login_link()
    click.echo(f"Forge is ready at {forge.address.url()}")
    click.echo(f"Sign in (once, within 15 minutes): {link.url}")
    sys.stdout.flush()


class _Server(uvicorn.Server):
    """uvicorn with an event for being up (it only has a flag to poll) and without its signal handling, which raises
    signals again after its own shutdown, before Forge has shut down.
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
        return open_listener(settings.host, settings.port)
    except OSError as error:
        raise ConfigError(
            [f"FORGE_PORT: cannot listen on {settings.host}:{settings.port}: {error.strerror}"],
            hint="Choose another port: forge serve --port 8001 (0 for any free port)",
        ) from error


async def _write_server_file(forge: Forge) -> Path:
    """Write the file in which commands of this user on this machine find the server and its key."""
    directory = forge.settings.data_dir
    key = await forge.accounts.replace_local_key(f"{socket.gethostname()}:{directory}")
    path = directory / SERVER_FILE
    write_private(path, {"url": forge.address.local_url(), "key": key, "pid": os.getpid()})
    return path
