"""Run git on a mirror with a fixed environment and with limits on time and output."""

import hashlib
import os
import select
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
from forge.workspace.git.git_runner import (
    MIN_GIT_VERSION,
    TIMEOUT_S,
    find_git,
    git_environment,
    timeout_error,
)
from forge.workspace.observed.errors import BrokenRepository, GitTooOld

MAX_OUTPUT = 256 << 20
_MAX_STDERR = 4096
_CHUNK = 1 << 20
_USAGE = 129


@dataclass(frozen=True, slots=True)
class ObservedGitOutput:
    code: int
    out: bytes
    stderr: str


@dataclass(frozen=True, slots=True)
class ObservedGit:
    git_dir: Path
    work_tree: Path

    def run(self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> bytes:
        """Run a command and return its output; raises BrokenRepository."""
        result = self.ask(*arguments, stdin=stdin, env=env)
        if result.code != 0:
            raise explain_failure(arguments[0], result.code, result.stderr)
        return result.out

    def ask(
        self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> ObservedGitOutput:
        """Run a command and return its exit code, output and stderr."""
        with self.start(*arguments, stdin=stdin, env=env) as running:
            out = bytearray()
            while chunk := running.out.read(_CHUNK):
                out += chunk
                if len(out) > MAX_OUTPUT:
                    raise TooLarge(f"git {arguments[0]} produced more than {MAX_OUTPUT:,} bytes of output.")
            return running.end(bytes(out))

    @contextmanager
    def start(
        self, *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None
    ) -> Generator["RunningGit"]:
        """Start a command and stream its output. It has always ended when the context exits."""
        with tempfile.TemporaryFile() as stderr_file, tempfile.TemporaryFile() as stdin_file:
            if stdin:
                stdin_file.write(stdin)
                stdin_file.seek(0)
            process = launch(
                [find_git(), "--literal-pathspecs", *arguments],
                cwd=self.work_tree,
                env=git_environment(self.git_dir, self.work_tree) | dict(env or {}),
                stdin=stdin_file,
                stderr=stderr_file,
            )
            assert process.stdout is not None  # noqa: S101  # it is a pipe
            running = RunningGit(arguments[0], process, process.stdout, stderr_file)
            alarm = threading.Timer(TIMEOUT_S, running.time_out)
            alarm.daemon = True
            alarm.start()
            try:
                yield running
            finally:
                alarm.cancel()
                kill(process)
                process.stdout.close()


class RunningGit:
    def __init__(
        self, name: str, process: "subprocess.Popen[bytes]", out: IO[bytes], stderr_file: IO[bytes]
    ) -> None:
        self.out = out
        self._name = name
        self._process = process
        self._complaints = stderr_file
        self._is_given_up = False

    def time_out(self) -> None:
        self._is_given_up = True
        kill(self._process)

    def end(self, out: bytes = b"") -> ObservedGitOutput:
        """Wait for the process after all of its output was read."""
        code = self._process.wait()
        if self._is_given_up:
            raise timeout_error(self._name, TIMEOUT_S)
        size = self._complaints.seek(0, os.SEEK_END)
        self._complaints.seek(max(0, size - _MAX_STDERR))
        return ObservedGitOutput(code, out, self._complaints.read().decode("utf-8", "replace").strip())


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
    """Kill the process group, unless the process has already been reaped."""
    if process.returncode is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def explain_failure(command: str, code: int, stderr: str) -> BrokenRepository | GitTooOld:
    """Explain a failure: all our arguments are valid, so git is too old or the repository is damaged."""
    if code == _USAGE or "unknown option" in stderr or "unknown repository extension" in stderr:
        version = ".".join(map(str, MIN_GIT_VERSION))
        return GitTooOld(
            f"git {command} does not support a required option: {_last_line(stderr)}",
            hint=f"Forge needs git {version} or newer that supports the format of the repository.",
        )
    return BrokenRepository(
        f"git {command} failed ({code}): {_last_line(stderr) or 'no error message'}",
        hint="The repository may be damaged: run `git fsck`. In a partial clone, fetch the missing objects.",
    )


def _last_line(stderr: str) -> str:
    return stderr.splitlines()[-1][:300] if stderr else ""


def name_of(raw: bytes) -> str:
    """Decode a path losslessly (PEP 383), independent of the locale."""
    return raw.decode("utf-8", "surrogateescape")


def bytes_of(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


MAX_BYTES = 256 << 20
_OBJECT_CHUNK = 1 << 20
_LINE = 1 << 16


@dataclass(frozen=True, slots=True)
class GitObject:
    id: str
    kind: str
    """One of blob, tree, commit and tag."""
    data: bytes


class ObservedObjects:
    """Reads objects through one persistent `git cat-file`, never from the work tree. Thread-safe."""

    def __init__(self, git: ObservedGit) -> None:
        self._git = git
        self._turn = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._is_closed = False
        self._kept = b""

    def find(self, name: str) -> GitObject | None:
        """Find an object by id or revision; None if it is missing or ambiguous."""
        if "\n" in name or "\0" in name:
            return None
        with self._turn:
            try:
                return self._ask(os.fsencode(name))
            except BaseException:
                self._end()  # its remaining output belongs to no request
                raise

    def read(self, blob: str) -> bytes:
        """Return the content of a blob; raises BrokenRepository if it is missing."""
        found = self.find(blob)
        if found is None:
            raise BrokenRepository(
                f"The content {blob[:12]} is missing in the repository.",
                hint="Run `git fsck`. In a partial clone, fetch missing objects: git fetch --refetch",
            )
        return found.data

    def close(self) -> None:
        with self._turn:
            self._is_closed = True
            self._end()

    def _ask(self, name: bytes) -> GitObject | None:
        process = self._running()
        assert process.stdin is not None  # noqa: S101
        try:
            process.stdin.write(name + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            raise BrokenRepository(
                "git stopped reading objects.", hint="Run `git fsck` for details."
            ) from None
        head = self._line(process).split(b" ")
        if len(head) != 3 or head[-1] in (b"missing", b"ambiguous"):
            return None
        size = int(head[2])
        if size > MAX_BYTES:
            raise TooLarge(f"An object of {size:,} bytes exceeds the limit of {MAX_BYTES:,} bytes.")
        data = self._exactly(process, size + 1)[:-1]
        found = GitObject(head[0].decode(), head[1].decode(), data)
        if not _is_genuine(found):
            raise BrokenRepository(
                f"The content of object {found.id[:12]} does not match its id.",
                hint="The repository is damaged or was tampered with: run `git fsck`.",
            )
        return found

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._is_closed:
            raise Unavailable("The repository has been closed.")
        if self._process is None:
            self._kept = b""
            with tempfile.TemporaryFile() as stderr_file:
                self._process = launch(
                    [find_git(), "cat-file", "--batch"],
                    cwd=self._git.work_tree,
                    env=git_environment(self._git.git_dir, self._git.work_tree),
                    stdin=subprocess.PIPE,
                    stderr=stderr_file,
                )
        return self._process

    def _end(self) -> None:
        if self._process is not None:
            kill(self._process)
            for stream in (self._process.stdin, self._process.stdout):
                with suppress(BrokenPipeError):  # unsent input is irrelevant
                    if stream is not None:
                        stream.close()
            self._process = None

    def _line(self, process: "subprocess.Popen[bytes]") -> bytes:
        data = self._kept
        while b"\n" not in data:
            if len(data) > _LINE:
                raise BrokenRepository("git returned an unreadable object header.")
            data += self._more(process)
        line, _, self._kept = data.partition(b"\n")
        return line

    def _exactly(self, process: "subprocess.Popen[bytes]", size: int) -> bytes:
        parts = [self._kept]
        have = len(self._kept)
        while have < size:
            parts.append(self._more(process))
            have += len(parts[-1])
        data = b"".join(parts)
        self._kept = data[size:]
        return data[:size]

    def _more(self, process: "subprocess.Popen[bytes]") -> bytes:
        assert process.stdout is not None  # noqa: S101
        descriptor = process.stdout.fileno()
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        if not poll.poll(TIMEOUT_S * 1000):
            raise Unavailable(f"git did not answer within {TIMEOUT_S:.0f} s.")
        data = os.read(descriptor, _OBJECT_CHUNK)
        if not data:
            raise BrokenRepository("git stopped reading objects.", hint="Run `git fsck` for details.")
        return data


def _is_genuine(found: GitObject) -> bool:
    """Verify that the content matches the id, which git does not check when it reads an object."""
    digest = hashlib.new("sha1" if len(found.id) == 40 else "sha256", usedforsecurity=False)
    digest.update(f"{found.kind} {len(found.data)}\0".encode())
    digest.update(found.data)
    return digest.hexdigest() == found.id
