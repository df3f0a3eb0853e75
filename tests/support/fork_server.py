"""Processes forked from one that has imported all of Forge already: each is up in a moment, and otherwise as
`python -m forge` would be. To import is most of the work of a server's start, and tests start hundreds.
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
    """A process of the fork_server, handled like a `Popen`. It does not outlive the tests."""

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
            self._wait_for_its_end(timeout)
            self.returncode = int(self._lines.readline())
            self._lines.close()
            self._connection.close()
        return self.returncode

    def _wait_for_its_end(self, timeout: float | None) -> None:
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
    ours, theirs = socket.socketpair()
    _nursery().adopt(theirs)
    wish = {"arguments": arguments, "environment": environment, "log": str(log), "folder": str(Path.cwd())}
    ours.sendall(json.dumps(wish).encode() + b"\n")
    return ForkedProcess(ours)


class ForkServer:
    """The process that is forked. It ends when the line to it is cut, as everything it forked does."""

    def __init__(self) -> None:
        self._line, theirs = socket.socketpair()
        command = [sys.executable, "-m", "tests.support.fork_server"]
        self._process = subprocess.Popen(command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, cwd=ROOT)
        theirs.close()

    def adopt(self, connection: socket.socket) -> None:
        """Start what is wished for on that connection."""
        socket.send_fds(self._line, [b"."], [connection.fileno()])
        connection.close()


_nursery = functools.cache(ForkServer)


def _fork_on_demand(line: socket.socket) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    assert threading.active_count() == 1, "a process with threads cannot be forked"
    gc.freeze()
    keepers: list[int] = []
    while connections := socket.recv_fds(line, 1, 1)[1]:
        keeper = os.fork()
        if keeper == 0:
            line.close()
            _keep(socket.socket(fileno=connections[0]))
            return
        os.close(connections[0])
        keepers = [one for one in (*keepers, keeper) if os.waitpid(one, os.WNOHANG) == (0, 0)]


def _keep(connection: socket.socket) -> None:
    """Start one process, tell its number and how it ended; end it when nobody is there to be told."""
    with connection.makefile() as lines:
        wish = json.loads(lines.readline())
    child = os.fork()
    if child == 0:
        connection.close()
        _become(**wish)
        return
    connection.sendall(f"{child}\n".encode())
    while not (ended := os.waitpid(child, os.WNOHANG))[0]:
        if select.select([connection], [], [], 0.02)[0]:
            os.kill(child, signal.SIGKILL)
    with suppress(BrokenPipeError):
        connection.sendall(f"{os.waitstatus_to_exitcode(ended[1])}\n".encode())


def _become(arguments: list[str], environment: dict[str, str], log: str, folder: str) -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    with Path(os.devnull).open() as nothing, Path(log).open("a") as output:
        for number, file in enumerate((nothing, output, output)):
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
