"""Check which guarantees a backend holds, by running a probe in it that tries to escape.

Each guarantee has a trap outside: a file to read, a folder to write to, sockets, another process.
"""

import fcntl
import json
import secrets
import socket
import stat
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forge.sandbox import probe
from forge.sandbox.backends.backend import Backend
from forge.sandbox.models import Command, Guarantee, Level, Limits, Outcome
from forge.sandbox.toolchain import toolchain

LIMITS = Limits(timeout_s=20, memory_bytes=512 << 20, processes=64, stdout_bytes=1 << 20)
PARTIAL_GUARANTEES = frozenset(
    {Guarantee.READS, Guarantee.WRITES, Guarantee.NETWORK, Guarantee.LOCAL_SOCKETS, Guarantee.ENVIRONMENT}
)
"""Guarantees required for the level `partial`."""
MODE = 0o600
CONFIG = "[core]\n"
DECOY = "import time; time.sleep(60)"


@dataclass(frozen=True)
class IsolationResult:
    guarantees: dict[Guarantee, bool]
    problem: str | None
    """Why the probe could not run."""

    @property
    def level(self) -> Level:
        kept = {guarantee for guarantee, holds in self.guarantees.items() if holds}
        if self.problem is None and kept == set(Guarantee):
            return Level.ISOLATED
        return Level.PARTIAL if self.problem is None and kept >= PARTIAL_GUARANTEES else Level.NONE


async def check_isolation(sandbox: Backend) -> IsolationResult:
    with _traps() as traps:
        outcome = await sandbox.run(traps.command())
        if "tried" not in outcome.stdout.text.splitlines():
            why = outcome.stderr.text.strip() or outcome.stdout.text.strip() or f"it ended with {outcome.end}"
            return IsolationResult({}, why)
        return IsolationResult(traps.evaluate(outcome), None)


@dataclass(frozen=True)
class Traps:
    folder: Path
    token: str
    listeners: dict[str, socket.socket]
    decoy: "subprocess.Popen[bytes]"

    @property
    def workdir(self) -> Path:
        return self.folder / "work"

    def command(self) -> Command:
        """Return the probe as a command. Its source is passed as text, because its file is not readable in the sandbox."""
        source = Path(probe.__file__).read_text()
        tools = toolchain()
        python = next(Path(sys.base_prefix, "bin").glob("python3"), Path(sys.executable))
        argv = (str(python), "-I", "-S", "-c", source, json.dumps(self._targets()))
        return Command(argv, self.workdir, LIMITS, env={"PATH": tools.path}, read_only=tools.read_only)

    def evaluate(self, outcome: Outcome) -> dict[Guarantee, bool]:
        lines = outcome.stdout.text.splitlines()
        secret, environ = f"secret {self.token}", f"={self.token}"
        return {
            Guarantee.READS: secret not in lines,
            Guarantee.WRITES: not (self.folder / "outside/written").exists(),
            Guarantee.METADATA: _is_mode_and_time_unchanged(self.folder / "secret"),
            Guarantee.PROTECTED: self._is_untouched(),
            Guarantee.NETWORK: not (
                _was_reached(self.listeners["tcp"]) or _was_reached(self.listeners["udp"])
            ),
            Guarantee.LOCAL_SOCKETS: not any(map(_was_reached, self._local_sockets())),
            Guarantee.SIGNALS: self.decoy.poll() is None,
            Guarantee.PROCESS_LIST: not any(
                line.startswith("process ") and self.token[::-1] in line for line in lines
            ),
            Guarantee.ENVIRONMENT: not any(
                line.startswith("environment ") and environ in line for line in lines
            ),
            Guarantee.SURVIVORS: _is_free(self.workdir / "held"),
        }

    def _targets(self) -> dict[str, Any]:
        return {
            "secret": str(self.folder / "secret"),
            "outside": str(self.folder / "outside"),
            "tcp": self.listeners["tcp"].getsockname()[1],
            "udp": self.listeners["udp"].getsockname()[1],
            "unix": str(self.folder / "unix"),
            "abstract": self.token,
            "decoy": self.decoy.pid,
        }

    def _local_sockets(self) -> list[socket.socket]:
        return [listener for name, listener in self.listeners.items() if name in {"unix", "abstract"}]

    def _is_untouched(self) -> bool:
        config = self.workdir / ".git/config"
        return config.is_file() and config.read_text() == CONFIG


@contextmanager
def _traps() -> Generator[Traps]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="forge-probe-"))).resolve()
        token = secrets.token_hex(8)
        (folder / "work/.git").mkdir(parents=True)
        (folder / "work/.git/config").write_text(CONFIG)
        (folder / "outside").mkdir()
        (folder / "secret").write_text(f"secret {token}")
        (folder / "secret").chmod(MODE)
        listeners = {name: stack.enter_context(each) for name, each in _listen(folder, token).items()}
        yield Traps(folder, token, listeners, stack.enter_context(_decoy(token)))


@contextmanager
def _decoy(token: str) -> "Generator[subprocess.Popen[bytes]]":
    """Start a process that represents other processes of this user. Its token is not in the arguments of the probe."""
    argv = [sys.executable, "-I", "-S", "-c", DECOY, token[::-1]]
    with subprocess.Popen(argv, env={"TOKEN": token}, stdin=subprocess.DEVNULL) as decoy:  # noqa: S603
        try:
            yield decoy
        finally:
            decoy.kill()


def _listen(folder: Path, token: str) -> dict[str, socket.socket]:
    addresses: dict[str, tuple[int, int, Any]] = {
        "tcp": (socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
        "udp": (socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
        "unix": (socket.AF_UNIX, socket.SOCK_STREAM, str(folder / "unix")),
    }
    if sys.platform == "linux":
        addresses["abstract"] = (socket.AF_UNIX, socket.SOCK_STREAM, f"\0{token}")
    return {name: _listener(*address) for name, address in addresses.items()}


def _listener(family: int, kind: int, address: Any) -> socket.socket:
    listener = socket.socket(family, kind)
    listener.setblocking(False)
    listener.bind(address)
    if kind == socket.SOCK_STREAM:
        listener.listen()
    return listener


def _was_reached(listener: socket.socket) -> bool:
    with suppress(BlockingIOError):
        if listener.type == socket.SOCK_DGRAM:
            return bool(listener.recv(1))
        listener.accept()[0].close()
        return True
    return False


def _is_mode_and_time_unchanged(path: Path) -> bool:
    found = path.stat()
    return stat.S_IMODE(found.st_mode) == MODE and found.st_mtime > 0


def _is_free(path: Path) -> bool:
    """Return whether the lock is free. No file means that the probe left no process behind."""
    if not path.exists():
        return True
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
