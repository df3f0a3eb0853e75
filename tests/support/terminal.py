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
class Said:
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """What `--json` printed, which has to be all that was printed."""
        return json.loads(self.out)


class Terminal:
    """Runs commands in this process, through the same `main` as the installed command."""

    def __init__(self, data_dir: Path, **environment: str) -> None:
        self.environment = {**clean_environment(), "FORGE_DATA_DIR": str(data_dir), **environment}

    def __call__(self, *arguments: str, stdin: str = "") -> Said:
        out, err = io.StringIO(), io.StringIO()
        with (
            patch.dict(os.environ, self.environment, clear=True),
            patch.object(sys, "argv", ["forge", *arguments]),
            patch.object(sys, "stdin", io.StringIO(stdin)),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = _exit_code()
        return Said(code, out.getvalue(), err.getvalue())


def _exit_code() -> int:
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else 0
    raise AssertionError("the command did not end with an exit code")


def clean_environment() -> dict[str, str]:
    hidden = ("FORGE_", "ANTHROPIC_", "OPENAI_", "NO_COLOR", "FORCE_COLOR", "COLUMNS")
    return {name: value for name, value in os.environ.items() if not name.startswith(hidden)}


class Screen:
    """A command in a terminal of its own (a pty), of which one can wait for words and into which one can type."""

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

    def wait_for(self, words: str, timeout_s: float = PATIENCE_S) -> None:
        deadline = time.monotonic() + timeout_s
        while words not in self.text:
            if not self._read(deadline):
                raise AssertionError(f"{words!r} did not appear:\n{self.text}")

    def wait_for_more(self, timeout_s: float = PATIENCE_S) -> None:
        """Whatever it is; nothing when the command has ended."""
        self._read(time.monotonic() + timeout_s)

    def type(self, text: str) -> None:
        os.write(self._primary, text.encode())

    def end(self, timeout_s: float = PATIENCE_S) -> int:
        """Give the exit code as a shell reports it.

        Python ends itself with SIGINT, whatever code it was to end with, if Ctrl-C came while it evaluated a string, as the
        decorator of a dataclass does. A shell calls that 130 too.
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
            piece = os.read(self._primary, 65536) if ready else b""
        except OSError:  # the other side is gone
            piece = b""
        self.text += self._decoder.decode(piece)
        return bool(piece)


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
