"""Run git with a fixed environment and with limits on time and output."""

import asyncio
import os
import re
import shutil
import signal
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from forge.errors import ForgeError, TooLarge, Unavailable

MIN_GIT_VERSION = (2, 30)
"""Minimum version of git."""
TIMEOUT_S = 60.0
MAX_OUTPUT = 64 << 20
_MAX_STDERR = 4096
_CHUNK = 1 << 16
_VERSION = re.compile(r"git version (\d+)\.(\d+)")
_WHY_SLOW = "Possible reasons: very many files, or a named pipe called .gitignore or .gitattributes."


class GitFailed(ForgeError):
    """A git command failed unexpectedly."""


@dataclass(frozen=True, slots=True)
class GitOutput:
    code: int
    out: bytes
    is_cut: bool
    stderr: str


@dataclass(frozen=True, slots=True)
class GitRunner:
    git_dir: Path
    work_tree: Path
    lock: int
    """Descriptor of the lock on the git directory; every git child inherits it."""

    async def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        limit: int = MAX_OUTPUT,
    ) -> bytes:
        """Run a command and return its output; raises GitFailed."""
        result = await self.ask(*arguments, stdin=stdin, env=env, limit=limit)
        if result.code != 0:
            raise GitFailed(
                f"git {arguments[0]} failed ({result.code}): {result.stderr or 'no error message'}"
            )
        return result.out

    async def ask(
        self,
        *arguments: str,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        limit: int = MAX_OUTPUT,
        cut: bool = False,
        timeout_s: float | None = None,
        why_slow: str = _WHY_SLOW,
    ) -> GitOutput:
        """Run a command and return its exit code and output. Output over `limit` is an error unless `cut`
        is set."""
        within_s = TIMEOUT_S if timeout_s is None else timeout_s
        process = await self._start(arguments, env or {}, has_stdin=bool(stdin))
        try:
            async with asyncio.timeout(within_s):
                out, complaint, _ = await asyncio.gather(
                    _read(process, limit), _read_stderr(process.stderr), _feed(process.stdin, stdin)
                )
                code = await process.wait()
        except TimeoutError:
            raise timeout_error(arguments[0], within_s, why_slow) from None
        finally:
            await _end(process)
        if len(out) > limit and not cut:
            raise TooLarge(f"git {arguments[0]} produced more than {limit:,} bytes of output.")
        return GitOutput(code, out[:limit], len(out) > limit, complaint)

    async def _start(
        self, arguments: tuple[str, ...], env: Mapping[str, str], *, has_stdin: bool
    ) -> asyncio.subprocess.Process:
        pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        try:
            return await asyncio.create_subprocess_exec(
                find_git(),
                "--literal-pathspecs",
                *arguments,
                stdin=pipe if has_stdin else nothing,
                stdout=pipe,
                stderr=pipe,
                cwd=self.work_tree,
                env=git_environment(self.git_dir, self.work_tree) | dict(env),
                pass_fds=(self.lock,),
                start_new_session=True,
            )
        except OSError as error:
            raise _unstartable(error) from error


def git_environment(git_dir: Path, work_tree: Path) -> dict[str, str]:
    """Return a fixed environment for git: no home, helpers, network or prompts.

    A file `commondir` in the git directory, which a restored backup could contain, would name another configuration.
    """
    return {
        "PATH": os.defpath,
        "HOME": str(git_dir),
        "XDG_CONFIG_HOME": str(git_dir),
        "LC_ALL": "C",
        "TZ": "UTC",
        "GIT_DIR": str(git_dir),
        "GIT_COMMON_DIR": str(git_dir),
        "GIT_WORK_TREE": str(work_tree),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "false",
        "GIT_EDITOR": "false",
        "GIT_PAGER": "cat",
    }


def find_git() -> str:
    found = shutil.which("git")
    if found is None:
        raise Unavailable("git is not installed.", hint="Install it: apt install git (or dnf, pacman, brew).")
    return found


def _unstartable(error: OSError) -> Unavailable:
    return Unavailable(f"git cannot be started: {error.strerror}.")


async def git_version() -> tuple[int, int] | None:
    """Return the version of the installed git, or None if it cannot be parsed."""
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(find_git(), "--version", stdout=pipe, stderr=nothing)
    except OSError as error:
        raise _unstartable(error) from error
    result, _ = await process.communicate()
    return read_version(result.decode("utf-8", "replace"))


def read_version(result: str) -> tuple[int, int] | None:
    found = _VERSION.match(result)
    return (int(found[1]), int(found[2])) if found else None


def timeout_error(command: str, seconds: float, why_slow: str = _WHY_SLOW) -> Unavailable:
    return Unavailable(f"git {command} took more than {seconds:.0f} s.", hint=why_slow)


async def _read(process: asyncio.subprocess.Process, limit: int) -> bytes:
    """Read the output; kill the process once it exceeds the limit."""
    result = bytearray()
    while process.stdout and (chunk := await process.stdout.read(_CHUNK)):
        result += chunk
        if len(result) > limit:
            _kill(process)
            await _discard(process.stdout)
    return bytes(result)


async def _discard(stream: asyncio.StreamReader | None) -> None:
    """Read to the end: a pipe that is paused because its buffer is full would keep `Process.wait` waiting."""
    while stream and await stream.read(_CHUNK):
        pass


async def _read_stderr(stream: asyncio.StreamReader | None) -> str:
    """Return the end of stderr, which has the reason of a failure."""
    tail = b""
    while stream and (chunk := await stream.read(_CHUNK)):
        tail = (tail + chunk)[-_MAX_STDERR:]
    return tail.decode("utf-8", "replace").strip()


async def _feed(stream: asyncio.StreamWriter | None, data: bytes) -> None:
    """Write stdin. A process may exit before it has read everything; uvloop reports that as RuntimeError."""
    if stream is None:
        return
    with suppress(BrokenPipeError, ConnectionResetError, RuntimeError):
        stream.write(data)
        await stream.drain()
    with suppress(RuntimeError):
        stream.close()


def _kill(process: asyncio.subprocess.Process) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End the process, also on cancellation, so that no git is left behind."""
    if process.returncode is None:
        _kill(process)
    await asyncio.shield(_drain(process))


async def _drain(process: asyncio.subprocess.Process) -> None:
    for stream in (process.stdout, process.stderr):
        await _discard(stream)
    await process.wait()
