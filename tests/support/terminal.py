"""Run the `forge` command with arguments, an environment and optionally a pseudo-terminal."""

import codecs
import contextlib
import io
import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.support.timeouts import PATIENCE_S

from forge.cli import main

FORGE = [sys.executable, "-m", "forge"]


@dataclass(frozen=True)
class CommandResult:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """Parse the whole output as the JSON of `--json`."""
        return json.loads(self.out)


class Terminal:
    """Run commands in this process, through the same `main` as the installed command."""

    def __init__(self, data_dir: Path, **environment: str) -> None:
        self.environment = {**clean_environment(), "FORGE_DATA_DIR": str(data_dir), **environment}

    def __call__(self, *arguments: str, stdin: str = "") -> CommandResult:
        out, err = io.StringIO(), io.StringIO()
        with (
            patch.dict(os.environ, self.environment, clear=True),
            patch.object(sys, "argv", ["forge", *arguments]),
            patch.object(sys, "stdin", io.StringIO(stdin)),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = _exit_code()
        return CommandResult(code, out.getvalue(), err.getvalue())


def _exit_code() -> int:
    try:
        main()
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else 0
    raise AssertionError("the command did not end with an exit code")


def clean_environment() -> dict[str, str]:
    removed_prefixes = ("FORGE_", "ANTHROPIC_", "OPENAI_", "NO_COLOR", "FORCE_COLOR", "COLUMNS")
    return {name: value for name, value in os.environ.items() if not name.startswith(removed_prefixes)}


class Screen:
    """A command in a pseudo-terminal: wait for its output and type input."""

    def __init__(self, arguments: list[str], environment: Mapping[str, str]) -> None:
        self._primary, secondary = pty.openpty()
        termios.tcsetwinsize(secondary, (40, 120))
        self.process = subprocess.Popen(
            [*FORGE, *arguments],
            stdin=secondary,
            stdout=secondary,
            stderr=secondary,
            env={**environment, "TERM": "xterm"},
            start_new_session=True,
            preexec_fn=_own_terminal,
        )
        os.close(secondary)
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text = ""

    def wait_for(self, expected: str, timeout_s: float = PATIENCE_S) -> None:
        deadline = time.monotonic() + timeout_s
        while expected not in self.text:
            if not self._read(deadline):
                raise AssertionError(f"{expected!r} did not appear:\n{self.text}")

    def wait_for_more(self, timeout_s: float = PATIENCE_S) -> None:
        """Wait for any output, or for the end of the command."""
        self._read(time.monotonic() + timeout_s)

    def type(self, text: str) -> None:
        os.write(self._primary, text.encode())

    def end(self, timeout_s: float = PATIENCE_S) -> int:
        """Wait for the end of the command and return its exit code as a shell reports it.

        If Ctrl-C arrives while Python evaluates a string, as the dataclass decorator does, Python ends with SIGINT instead of
        the requested code. A shell reports 130 for both.
        """
        while self._read(time.monotonic() + timeout_s):
            pass
        code = self.process.wait(timeout=timeout_s)
        return 128 - code if code < 0 else code

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._primary)

    def _read(self, deadline: float) -> bool:
        ready, _, _ = select.select([self._primary], [], [], max(0.0, deadline - time.monotonic()))
        try:
            chunk = os.read(self._primary, 65536) if ready else b""
        except OSError:  # the other side is gone
            chunk = b""
        self.text += self._decoder.decode(chunk)
        return bool(chunk)


def _own_terminal() -> None:
    import fcntl

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextlib.contextmanager
def open_screen(data_dir: Path, *arguments: str, **environment: str) -> Iterator[Screen]:
    screen = Screen(list(arguments), {**clean_environment(), "FORGE_DATA_DIR": str(data_dir), **environment})
    try:
        yield screen
    finally:
        screen.close()
