"""Forge in a process of its own, as the demo starts, kills and stops it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from forge.config import Settings, environment, setting_name
from forge.errors import Unavailable
from forge.terminal.place import SERVER_FILE, ServerFile
from forge.terminal.private_file import read_private
from forge.tour.folder import Folder
from forge.tour.interrupts import Interrupts

LOOK_S = 0.05
START_S = 180.0
STOP_S = 15.0
LAST_LINES = 4


class House:
    def __init__(self, folder: Folder, port: int, interrupts: Interrupts) -> None:
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
        """The address, once it answers there; the same one each time."""
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
                start_new_session=True,  # Ctrl-C is for us; we stop it
            )
        url = self._wait_for_start()
        self._port = int(url.rpartition(":")[2])
        return url

    def kill(self) -> None:
        """As by the kernel: no goodbye."""
        self._running.kill()
        self._running.wait()

    def stop(self) -> None:
        """In good order; at once when it takes too long, or when somebody presses Ctrl-C again."""
        process = self._process
        if process is None or process.poll() is not None:
            return
        process.terminate()
        deadline = time.monotonic() + STOP_S
        while process.poll() is None:
            if time.monotonic() > deadline or self._interrupts.hurries:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            time.sleep(LOOK_S)

    def stay(self) -> None:
        """Until it ends, which nobody expects."""
        self._running.wait()
        raise self._ended("The server has ended by itself.")

    @property
    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise Unavailable("The server of the demo was not started.")
        return self._process

    def _wait_for_start(self) -> str:
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            found = read_private(self._folder.data / SERVER_FILE, ServerFile)
            if found is not None and found.pid == self.pid:
                return found.url
            if self._running.poll() is not None:
                raise self._ended("The server did not start.")
            time.sleep(LOOK_S)
        raise self._ended(f"The server did not start within {START_S:.0f} s.")

    def _ended(self, what: str) -> Unavailable:
        """With the last it said."""
        lines = self._folder.log.read_text(errors="replace").splitlines()[-LAST_LINES:]
        return Unavailable("\n".join([what, *lines]))


@contextmanager
def open_house(folder: Folder, port: int, interrupts: Interrupts) -> Generator[House]:
    house = House(folder, port, interrupts)
    try:
        yield house
    finally:
        with interrupts.held():
            house.stop()


def _environment(folder: Folder) -> Mapping[str, str]:
    """Nothing of the user's own Forge: no setting, no key."""
    known = {setting_name(name, field) for name, field in Settings.model_fields.items()}
    kept = {
        name: value
        for name, value in environment().items()
        if name not in known and not name.startswith("FORGE_")
    }
    return kept | {"FORGE_HTTP_ALLOW": "127.0.0.1", "FORGE_AUDIT_ROOTS": str(folder.projects)}
