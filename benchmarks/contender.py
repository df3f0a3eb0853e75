"""A contender: a process that waits for its turn. A line on stdin requests a measurement, a line of JSON returns it.

Contenders keep running between rounds, so that compared measurements are only a second or two apart: on a shared
machine the load changes faster than a process starts.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
GOODBYE_S = 30


class ContenderFailed(Exception):
    """A contender's process ended unexpectedly; the message is the end of its output."""


class Contender:
    def __init__(self, process: subprocess.Popen[str], log: Path) -> None:
        self._process = process
        self._log = log

    def tell(self, request: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{request}\n")
        self._process.stdin.flush()

    def hear(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise ContenderFailed(self._log.read_text()[-2000:])
        return json.loads(line)

    def ask(self, request: str) -> Any:
        self.tell(request)
        return self.hear()


@contextmanager
def started(folder: Path, command: Sequence[str], *arguments: object) -> Iterator[Contender]:
    """Start the process; closing its stdin ends it."""
    log = folder / "contender.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [*command, *map(str, arguments)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        yield Contender(process, log)
    finally:
        try:
            process.communicate(timeout=GOODBYE_S)
        except subprocess.TimeoutExpired:
            process.kill()


def module(name: str) -> list[str]:
    """Return the command that runs `benchmarks.contenders.<name>`."""
    return [sys.executable, "-m", f"benchmarks.contenders.{name}"]
