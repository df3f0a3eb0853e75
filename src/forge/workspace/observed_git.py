"""Running git on a mirror, one command after the other: our environment, a limit of time and of output for each."""

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from forge.errors import TooLarge, Unavailable
from forge.workspace.gitrunner import OLDEST, TIMEOUT_S, find_git, git_environment, took_too_long
from forge.workspace.observed_errors import BrokenRepository, GitTooOld

MAX_OUTPUT = 256 << 20
_MAX_COMPLAINT = 4096
_CHUNK = 1 << 20
_USAGE = 129


@dataclass(frozen=True, slots=True)
class Said:
    code: int
    out: bytes
    complaint: str


@dataclass(frozen=True, slots=True)
class ObservedGit:
    git_dir: Path
    work_tree: Path

    def run(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> bytes:
        """What a command says; BrokenRepository unless it worked."""
        said = self.ask(*arguments, stdin=stdin, env=env)
        if said.code != 0:
            raise explain_failure(arguments[0], said.code, said.complaint)
        return said.out

    def ask(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Said:
        """Whatever it says, and how it ended."""
        with self.start(*arguments, stdin=stdin, env=env) as running:
            out = bytearray()
            while chunk := running.out.read(_CHUNK):
                out += chunk
                if len(out) > MAX_OUTPUT:
                    raise TooLarge(f"git {arguments[0]} had more to say than {MAX_OUTPUT:,} bytes.")
            return running.end(bytes(out))

    @contextmanager
    def start(
        self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> Generator["Running"]:
        """A command whose output is read while it is made. Whatever happens, it has ended afterwards."""
        with tempfile.TemporaryFile() as complaints, tempfile.TemporaryFile() as given:
            if stdin:
                given.write(stdin)
                given.seek(0)
            process = launch(
                [find_git(), "--literal-pathspecs", *arguments],
                cwd=self.work_tree,
                env=git_environment(self.git_dir, self.work_tree) | dict(env or {}),
                stdin=given,
                stderr=complaints,
            )
            assert process.stdout is not None  # noqa: S101  # it is a pipe
            running = Running(arguments[0], process, process.stdout, complaints)
            alarm = threading.Timer(TIMEOUT_S, running.give_up)
            alarm.daemon = True
            alarm.start()
            try:
                yield running
            finally:
                alarm.cancel()
                kill(process)
                process.stdout.close()


class Running:
    def __init__(
        self, name: str, process: "subprocess.Popen[bytes]", out: IO[bytes], complaints: IO[bytes]
    ) -> None:
        self.out = out
        self._name = name
        self._process = process
        self._complaints = complaints
        self._is_given_up = False

    def give_up(self) -> None:
        self._is_given_up = True
        kill(self._process)

    def end(self, out: bytes = b"") -> Said:
        """Wait for it, once all of its output is read."""
        code = self._process.wait()
        if self._is_given_up:
            raise took_too_long(self._name, TIMEOUT_S)
        size = self._complaints.seek(0, os.SEEK_END)
        self._complaints.seek(max(0, size - _MAX_COMPLAINT))
        return Said(code, out, self._complaints.read().decode("utf-8", "replace").strip())


def launch(
    command: list[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None,
    stdin: IO[bytes] | int,
    stderr: IO[bytes] | int,
) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(  # noqa: S603
            command,
            cwd=cwd,
            env=env,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
        )
    except OSError as error:
        raise Unavailable(f"git cannot be started: {error.strerror}.") from error


def kill(process: "subprocess.Popen[bytes]") -> None:
    """With all it started. Nothing happens to one that has ended and was waited for."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def explain_failure(command: str, code: int, complaint: str) -> BrokenRepository | GitTooOld:
    """git is told nothing it should not like, so either it is too old for us or the repository is damaged."""
    if code == _USAGE or "unknown option" in complaint or "unknown repository extension" in complaint:
        version = ".".join(map(str, OLDEST))
        return GitTooOld(
            f"git {command} does not know what it is asked: {_last_line(complaint)}",
            hint=f"Forge needs git {version} or newer, and one that knows the format of the repository.",
        )
    return BrokenRepository(
        f"git {command} failed ({code}): {_last_line(complaint) or 'it did not say why'}",
        hint="The repository seems to be damaged: `git fsck` says more. What a partial clone left out must be fetched.",
    )


def _last_line(complaint: str) -> str:
    return complaint.splitlines()[-1][:300] if complaint else ""


def name_of(raw: bytes) -> str:
    """A path as text, whatever its bytes are and wherever we run (PEP 383)."""
    return raw.decode("utf-8", "surrogateescape")


def bytes_of(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")
