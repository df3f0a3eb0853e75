"""Output of the setup: one line with the duration of each step, and the output of a command only if it fails."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

MISSING_REQUIREMENT = 2
COMMAND_FAILED = 1


class Failed(Exception):
    """A step failed; the message says what to do."""

    def __init__(self, message: str, exit_code: int = COMMAND_FAILED) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@contextmanager
def step(label: str) -> Iterator[None]:
    print(f"{label} ... ", end="", flush=True)
    started = time.monotonic()
    try:
        with _ticking(label, started):
            yield
    except BaseException:
        print("failed", flush=True)
        raise
    print(f"{time.monotonic() - started:.1f} s", flush=True)


@contextmanager
def _ticking(label: str, started: float) -> Iterator[None]:
    """Count the seconds in a terminal, to show that a long step is still running."""
    if not sys.stdout.isatty():
        yield
        return
    is_over = threading.Event()

    def tick() -> None:
        while not is_over.wait(1):
            print(f"\r{label} ... {time.monotonic() - started:.0f} s ", end="", flush=True)

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()
        print(f"\r{label} ... ", end="", flush=True)


def run(command: Sequence[str | Path], cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """Run a command and return its output; if it fails, raise with all of it. `env` is added to the environment."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env={**os.environ, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    except OSError as error:
        raise Failed(f"{words[0]} could not be started: {error}") from error
    if done.returncode != 0:
        raise Failed(f"$ {' '.join(words)}\n{done.stdout.rstrip()}\n(exit code {done.returncode})")
    return done.stdout
