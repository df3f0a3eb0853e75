"""Fork Forge processes from one that has already imported all of Forge.

Apart from that they behave like `python -m forge`. Imports take most of the start time, and tests start hundreds of servers.
"""

import functools
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]


class ForkedProcess:
    """A process of the fork server with the interface of `Popen`; it is killed when the tests end."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lines = connection.makefile()
        self.pid = int(self._lines.readline())
        self.returncode: int | None = None

    def poll(self) -> int | None:
        try:
            return self.wait(timeout=0.001)
        except subprocess.TimeoutExpired:
            return None

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._wait_for_exit(timeout)
            self.returncode = int(self._lines.readline())
            self._lines.close()
            self._connection.close()
        return self.returncode

    def _wait_for_exit(self, timeout: float | None) -> None:
        self._connection.settimeout(timeout)
        try:
            self._connection.recv(1, socket.MSG_PEEK)
        except TimeoutError:
            raise subprocess.TimeoutExpired(f"process {self.pid}", timeout or 0) from None
        self._connection.settimeout(None)

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def start_forge(*arguments: str, environment: dict[str, str], log: Path) -> ForkedProcess:
    """Like `python -m forge ARGUMENTS </dev/null >>log 2>&1`."""
    local, remote = socket.socketpair()
    _fork_server().spawn(remote)
    request = {"arguments": arguments, "environment": environment, "log": str(log), "folder": str(Path.cwd())}
    local.sendall(json.dumps(request).encode() + b"\n")
    return ForkedProcess(local)


class ForkServer:
    """The process to fork from. It and its children end when the connection to it is closed."""

    def __init__(self) -> None:
        self._line, remote = socket.socketpair()
        command = [sys.executable, "-m", "tests.support.fork_server"]
        self._process = subprocess.Popen(command, stdin=remote.fileno(), stdout=subprocess.DEVNULL, cwd=ROOT)
        remote.close()

    def spawn(self, connection: socket.socket) -> None:
        """Start the process requested on this connection."""
        socket.send_fds(self._line, [b"."], [connection.fileno()])
        connection.close()


_fork_server = functools.cache(ForkServer)


def _fork_on_demand(line: socket.socket) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert threading.active_count() == 1, "a process with threads cannot be forked"
    gc.freeze()
    supervisors: list[int] = []
    while connections := socket.recv_fds(line, 1, 1)[1]:
        supervisor = os.fork()
        if supervisor == 0:
            line.close()
            _supervise(socket.socket(fileno=connections[0]))
            return
        os.close(connections[0])
        supervisors = [pid for pid in (*supervisors, supervisor) if os.waitpid(pid, os.WNOHANG) == (0, 0)]


def _supervise(connection: socket.socket) -> None:
    """Start one process and report its pid and exit code; kill it if the connection is closed."""
    with connection.makefile() as lines:
        request = json.loads(lines.readline())
    child_pid = os.fork()
    if child_pid == 0:
        connection.close()
        _run_forge(**request)
        return
    connection.sendall(f"{child_pid}\n".encode())
    while not (exited := os.waitpid(child_pid, os.WNOHANG))[0]:
        if select.select([connection], [], [], 0.02)[0]:
            os.kill(child_pid, signal.SIGKILL)
    with suppress(BrokenPipeError):
        connection.sendall(f"{os.waitstatus_to_exitcode(exited[1])}\n".encode())


def _run_forge(arguments: list[str], environment: dict[str, str], log: str, folder: str) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    with Path(os.devnull).open() as devnull, Path(log).open("a") as output:
        for number, file in enumerate((devnull, output, output)):
            os.dup2(file.fileno(), number)
    sys.path[:1] = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = ["forge", *arguments]
    runpy.run_module("forge", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    import forge.cli
    import forge.llm.adapter
    import forge.server.serve

    assert forge.cli and forge.llm.adapter and forge.server.serve
    _fork_on_demand(socket.socket(fileno=os.dup(0)))
