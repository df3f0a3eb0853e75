"""The server process of the demo: start, kill and stop it; and Ctrl-C, deferred while it starts or stops."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from types import FrameType

from forge.config import Settings, environment, setting_name
from forge.errors import Unavailable
from forge.terminal.location import SERVER_FILE, ServerFile, read_private
from forge.tour.demo_directory import DemoDirectory

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """Signal handling for the main thread. The first signal raises KeyboardInterrupt; further ones set `is_repeated`."""

    def __init__(self) -> None:
        self._count = 0
        self._is_held = False
        self._is_raised = False

    @property
    def is_repeated(self) -> bool:
        return self._count > 1

    @contextmanager
    def caught(self) -> Generator[None]:
        before = {number: signal.signal(number, self._take) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def held(self) -> Generator[None]:
        """Defer interrupts until the end of the block."""
        was_held, self._is_held = self._is_held, True
        try:
            yield
        finally:
            self._is_held = was_held
        self._raise_once()

    def _take(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        self._raise_once()

    def _raise_once(self) -> None:
        if self._count and not self._is_held and not self._is_raised:
            self._is_raised = True
            raise KeyboardInterrupt


POLL_S = 0.05
START_TIMEOUT_S = 180.0
STOP_TIMEOUT_S = 15.0
SHOWN_LOG_LINES = 4


class ServerProcess:
    def __init__(self, folder: DemoDirectory, port: int, interrupts: Interrupts) -> None:
        self._folder = folder
        self._port = port
        self._interrupts = interrupts
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        return self._running.pid

    @property
    def is_up(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> str:
        """Start the server, wait until it answers, and return its URL, which stays the same for later starts."""
        command = [sys.executable, "-m", "forge", "serve"]
        command += ["--port", str(self._port), "--data-dir", str(self._folder.data)]
        with self._folder.log.open("ab") as log, self._interrupts.held():
            self._process = subprocess.Popen(  # noqa: S603  # Forge itself
                command,
                cwd=self._folder.path,
                env=_environment(self._folder),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C must only reach the demo, which stops the server
            )
        url = self._wait_for_start()
        self._port = int(url.rpartition(":")[2])
        return url

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        self._running.kill()
        self._running.wait()

    def stop(self) -> None:
        """Stop gracefully; kill it after a timeout or a second Ctrl-C."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        process.terminate()
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while process.poll() is None:
            if time.monotonic() > deadline or self._interrupts.is_repeated:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            time.sleep(POLL_S)

    def wait(self) -> None:
        """Wait for the process and raise an error when it ends."""
        self._running.wait()
        raise self._ended("The server stopped unexpectedly.")

    @property
    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise Unavailable("The demo's server was not started.")
        return self._process

    def _wait_for_start(self) -> str:
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            found = read_private(self._folder.data / SERVER_FILE, ServerFile)
            if found is not None and found.pid == self.pid:
                return found.url
            if self._running.poll() is not None:
                raise self._ended("The server did not start.")
            time.sleep(POLL_S)
        raise self._ended(f"The server did not start within {START_TIMEOUT_S:.0f} s.")

    def _ended(self, what: str) -> Unavailable:
        """Make an error with the last lines of the log."""
        lines = self._folder.log.read_text(errors="replace").splitlines()[-SHOWN_LOG_LINES:]
        return Unavailable("\n".join([what, *lines]))


@contextmanager
def open_server_process(folder: DemoDirectory, port: int, interrupts: Interrupts) -> Generator[ServerProcess]:
    server = ServerProcess(folder, port, interrupts)
    try:
        yield server
    finally:
        with interrupts.held():
            server.stop()


def _environment(folder: DemoDirectory) -> Mapping[str, str]:
    """Return the environment without the settings and keys of the user's Forge."""
    known = {setting_name(name, field) for name, field in Settings.model_fields.items()}
    kept = {
        name: value
        for name, value in environment().items()
        if name not in known and not name.startswith("FORGE_")
    }
    return kept | {"FORGE_HTTP_ALLOW": "127.0.0.1", "FORGE_AUDIT_ROOTS": str(folder.projects)}
