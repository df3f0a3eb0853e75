"""Stays with a running command: reads what it writes, holds it to its limits, ends it when it is told to."""

import os
import select
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from forge.sandbox.capture import Capture
from forge.sandbox.growth import Growth
from forge.sandbox.models import Command, End, Output
from forge.sandbox.processes import usage
from forge.sandbox.scanning import Scan
from forge.sandbox.shared_memory import SharedMemory
from forge.sandbox.thread import Stop

LOOK_EVERY_S = 0.05
LOOK_SHARE = 10
"""A look that takes long is followed by a pause this many times as long."""
CHUNK = 1 << 16
FLOOD_BYTES = 4 << 20
FLOOD_PAUSE_S = 0.002
"""Whoever writes more than anybody will read is slowed down, so that reading it does not cost a processor."""
LAST_WORDS_S = 1.0
SIGNALLED = 128
XCPU, XFSZ = 24, 25


@dataclass(frozen=True)
class Running:
    """A process tree that a back end started."""

    process: subprocess.Popen[bytes]
    """Under which everybody is found."""
    kill: Callable[[], None]
    """Ends everybody, and comes back when nobody is left."""
    own_tasks: int
    """Processes of the back end itself, which are no part of the command."""
    began: float
    """On the monotonic clock, before it could do anything."""


@dataclass(frozen=True)
class Ending:
    exit_code: int | None
    end: End
    stdout: Output
    stderr: Output
    duration_ms: int


def not_started(error: OSError) -> Ending:
    """The kernel refused it before there was anything to watch."""
    said = f"sandbox: {error.strerror}\n"
    stderr = Output(said, len(said), truncated=False)
    return Ending(None, End.NOT_STARTED, Output("", 0, truncated=False), stderr, 0)


class Supervisor:
    def __init__(self, running: Running, command: Command, stop: Stop) -> None:
        self._running = running
        self._limits = command.limits
        self._stop = stop
        growth = Growth((command.workdir, *command.writable), command.limits)
        shared = SharedMemory(command.limits)
        self._scans = (
            Scan(lambda: shared.look(running.process.pid)),
            Scan(lambda: growth.look(running.process.pid)),
        )
        self._stdout = Capture(command.limits.stdout_bytes)
        self._stderr = Capture(command.limits.stderr_bytes)
        self._captures = self._open_captures()
        self._poll = select.poll()
        self._began = self._next_look = running.began
        self._end: End | None = None

    def watch(self) -> Ending:
        for fd in (*self._captures, self._stop.fileno()):
            self._poll.register(fd, select.POLLIN)
        while self._captures and self._goes_on():
            self._read_some()
        if self._running.process.poll() is None:
            self._wait()
        self._running.kill()
        self._read_rest()
        return self._ending(self._running.process.wait())

    def _open_captures(self) -> dict[int, Capture]:
        process = self._running.process
        assert process.stdout and process.stderr  # noqa: S101  # every back end opens both
        captures = {process.stdout.fileno(): self._stdout, process.stderr.fileno(): self._stderr}
        for fd in captures:
            os.set_blocking(fd, False)
        return captures

    def _goes_on(self) -> bool:
        """False when it has ended, by itself or by us."""
        if self._end is None:
            self._end = self._verdict()
        if self._end or self._stop.is_set():
            self._running.kill()
            return False
        return self._running.process.poll() is None

    def _verdict(self) -> End | None:
        now = time.monotonic()
        if now - self._began > self._limits.timeout_s:
            return End.TIMEOUT
        verdict = None
        if now >= self._next_look:
            verdict = self._look()
            self._next_look = now + max(LOOK_EVERY_S, LOOK_SHARE * (time.monotonic() - now))
        return verdict or next(filter(None, (scan.go_on() for scan in self._scans)), None)

    def _look(self) -> End | None:
        most_tasks = self._limits.processes + self._running.own_tasks
        used = usage(self._running.process.pid, most_tasks)
        if used.memory_bytes > self._limits.memory_bytes:
            return End.MEMORY
        if used.tasks > most_tasks:
            return End.PROCESSES
        return None

    def _wait(self) -> None:
        """It closed its output but goes on."""
        while self._goes_on():
            with suppress(subprocess.TimeoutExpired):
                self._running.process.wait(LOOK_EVERY_S)

    def _read_some(self) -> None:
        for fd, _ in self._poll.poll(LOOK_EVERY_S * 1000 / 2):
            capture = self._captures.get(fd)
            if capture and self._read(fd, capture) and capture.total > FLOOD_BYTES:
                time.sleep(FLOOD_PAUSE_S)

    def _read(self, fd: int, capture: Capture) -> bool:
        """Whether there was something; the end of a stream takes it off the list."""
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
        """What is still in the pipes. Nobody is left to write, so it ends."""
        deadline = time.monotonic() + LAST_WORDS_S
        for fd, capture in list(self._captures.items()):
            while time.monotonic() < deadline and self._read(fd, capture):
                pass

    def _ending(self, code: int) -> Ending:
        process = self._running.process
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()
        end = self._end or _end_of(code)
        return Ending(
            exit_code=None if self._end else code,
            end=end,
            stdout=self._stdout.output(),
            stderr=self._stderr.output(),
            duration_ms=round((time.monotonic() - self._began) * 1000),
        )


def _end_of(code: int) -> End:
    """A shell's way of saying that a signal ended it; these two come from limits of the kernel."""
    return {SIGNALLED + XCPU: End.CPU, SIGNALLED + XFSZ: End.FILE_SIZE}.get(code, End.EXITED)
