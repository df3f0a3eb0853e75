"""Supervise a running command: capture its output, enforce limits, end it on request."""

import os
import select
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from forge.sandbox.models import Command, End, Output
from forge.sandbox.process.process_tree import usage
from forge.sandbox.process.resource_scans import DiskGrowth, SharedMemory, SlicedScan
from forge.sandbox.process.stoppable_thread import Stop


class Capture:
    """Keeps the head and the tail of a stream, half of the limit each."""

    def __init__(self, limit: int) -> None:
        self._head_limit = limit // 2
        self._tail_limit = limit - self._head_limit
        self._head = bytearray()
        self._tail = bytearray()
        self.total = 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = self._head_limit - len(self._head)
        self._head += data[:room]
        self._tail += data[room:] if room < len(data) else b""
        if len(self._tail) > 2 * self._tail_limit:
            self._shorten()

    def output(self) -> Output:
        self._shorten()
        omitted = self.total - len(self._head) - len(self._tail)
        if not omitted:
            text = (self._head + self._tail).decode(errors="replace")
            return Output(text, self.total, truncated=False)
        head, tail = _whole_end(self._head), _whole_start(self._tail)
        omitted = self.total - len(head) - len(tail)
        middle = f"\n[... {omitted} bytes omitted ...]\n"
        text = head.decode(errors="replace") + middle + tail.decode(errors="replace")
        return Output(text, self.total, truncated=True)

    def _shorten(self) -> None:
        if (excess := len(self._tail) - self._tail_limit) > 0:
            del self._tail[:excess]


def _whole_end(data: bytearray) -> bytearray:
    """Drop an incomplete UTF-8 character at the end."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte < 0x80:
            break
        if byte >= 0xC0:
            wanted = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if wanted > back else data
    return data


def _whole_start(data: bytearray) -> bytearray:
    """Drop an incomplete UTF-8 character at the start."""
    start = 0
    while start < min(3, len(data)) and 0x80 <= data[start] < 0xC0:
        start += 1
    return data[start:]


POLL_INTERVAL_S = 0.05
POLL_COST_FACTOR = 10
"""The pause after a check is at least this many times its duration."""
CHUNK = 1 << 16
FLOOD_BYTES = 4 << 20
FLOOD_PAUSE_S = 0.002
"""Pause between reads of a command that floods its output, to save processor time."""
DRAIN_TIMEOUT_S = 1.0
SIGNALED = 128
XCPU, XFSZ = 24, 25


@dataclass(frozen=True)
class SupervisedProcess:
    """A process tree started by a backend."""

    process: subprocess.Popen[bytes]
    """Root of the tree."""
    kill: Callable[[], None]
    """Kills all processes and waits until they are gone."""
    own_tasks: int
    """Number of processes that belong to the backend, not to the command."""
    began: float
    """Monotonic time before the command started."""


@dataclass(frozen=True)
class ProcessEnd:
    exit_code: int | None
    end: End
    stdout: Output
    stderr: Output
    duration_ms: int


def not_started(error: OSError) -> ProcessEnd:
    """Return the result of a command that could not be started."""
    message = f"sandbox: {error.strerror}\n"
    stderr = Output(message, len(message), truncated=False)
    return ProcessEnd(None, End.NOT_STARTED, Output("", 0, truncated=False), stderr, 0)


class Supervisor:
    def __init__(self, running: SupervisedProcess, command: Command, stop: Stop) -> None:
        self._running = running
        self._limits = command.limits
        self._stop = stop
        growth = DiskGrowth((command.workdir, *command.writable), command.limits)
        shared = SharedMemory(command.limits)
        self._scans = (
            SlicedScan(lambda: shared.look(running.process.pid)),
            SlicedScan(lambda: growth.look(running.process.pid)),
        )
        self._stdout = Capture(command.limits.stdout_bytes)
        self._stderr = Capture(command.limits.stderr_bytes)
        self._captures = self._open_captures()
        self._poll = select.poll()
        self._began = self._next_look = running.began
        self._end: End | None = None

    def watch(self) -> ProcessEnd:
        for fd in (*self._captures, self._stop.fileno()):
            self._poll.register(fd, select.POLLIN)
        while self._captures and self._is_running():
            self._read_some()
        if self._running.process.poll() is None:
            self._wait()
        self._running.kill()
        self._read_rest()
        return self._ending(self._running.process.wait())

    def _open_captures(self) -> dict[int, Capture]:
        process = self._running.process
        assert process.stdout and process.stderr  # noqa: S101  # every backend opens both
        captures = {process.stdout.fileno(): self._stdout, process.stderr.fileno(): self._stderr}
        for fd in captures:
            os.set_blocking(fd, False)
        return captures

    def _is_running(self) -> bool:
        """Enforce limits and stop requests; False once the process has ended."""
        if self._end is None:
            self._end = self._exceeded_limit()
        if self._end or self._stop.is_set():
            self._running.kill()
            return False
        return self._running.process.poll() is None

    def _exceeded_limit(self) -> End | None:
        now = time.monotonic()
        if now - self._began > self._limits.timeout_s:
            return End.TIMEOUT
        verdict = None
        if now >= self._next_look:
            verdict = self._check_usage()
            self._next_look = now + max(POLL_INTERVAL_S, POLL_COST_FACTOR * (time.monotonic() - now))
        return verdict or next(filter(None, (scan.resume() for scan in self._scans)), None)

    def _check_usage(self) -> End | None:
        most_tasks = self._limits.processes + self._running.own_tasks
        used = usage(self._running.process.pid, most_tasks)
        if used.memory_bytes > self._limits.memory_bytes:
            return End.MEMORY
        if used.tasks > most_tasks:
            return End.PROCESSES
        return None

    def _wait(self) -> None:
        """Wait for a process that closed its output but still runs."""
        while self._is_running():
            with suppress(subprocess.TimeoutExpired):
                self._running.process.wait(POLL_INTERVAL_S)

    def _read_some(self) -> None:
        for fd, _ in self._poll.poll(POLL_INTERVAL_S * 1000 / 2):
            capture = self._captures.get(fd)
            if capture and self._read(fd, capture) and capture.total > FLOOD_BYTES:
                time.sleep(FLOOD_PAUSE_S)

    def _read(self, fd: int, capture: Capture) -> bool:
        """Read once and return whether there was data; unregister the stream at its end."""
        try:
            data = os.read(fd, CHUNK)
        except BlockingIOError:
            return False
        capture.add(data)
        if not data:
            self._poll.unregister(fd)
            del self._captures[fd]
        return bool(data)

    def _read_rest(self) -> None:
        """Drain the pipes after all writers are gone."""
        deadline = time.monotonic() + DRAIN_TIMEOUT_S
        for fd, capture in list(self._captures.items()):
            while time.monotonic() < deadline and self._read(fd, capture):
                pass

    def _ending(self, code: int) -> ProcessEnd:
        process = self._running.process
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()
        end = self._end or _end_of(code)
        return ProcessEnd(
            exit_code=None if self._end else code,
            end=end,
            stdout=self._stdout.output(),
            stderr=self._stderr.output(),
            duration_ms=round((time.monotonic() - self._began) * 1000),
        )


def _end_of(code: int) -> End:
    """Map the exit codes of signals sent by kernel limits."""
    return {SIGNALED + XCPU: End.CPU, SIGNALED + XFSZ: End.FILE_SIZE}.get(code, End.EXITED)
