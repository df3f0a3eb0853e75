"""Start the process of a sandbox: user, environment and the descriptors passed to it."""

import io
import os
import stat
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypedDict

from forge.sandbox.models import Command

PATH = "/usr/local/bin:/usr/bin:/bin"

_FIXED = {
    "PATH": PATH,
    "LANG": "C.UTF-8",
    "TERM": "dumb",
    "USER": "sandbox",
    "LOGNAME": "sandbox",
    "CI": "1",
    "NO_COLOR": "1",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "PIP_NO_INPUT": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PYTHONUNBUFFERED": "1",
}


def build_env(variables: Mapping[str, str], *, home: str, tmp: str) -> dict[str, str]:
    """Return the environment of a command. Nothing is inherited from the platform."""
    return {**_FIXED, "HOME": home, "TMPDIR": tmp, **variables}


SHOWN_ID = 1000


@dataclass(frozen=True)
class Owner:
    """User that a command runs as.

    Normally the user of the platform, whose ids appear as those of an ordinary user inside. A platform that
    runs as root switches to the owner of the work tree if that user can reach everything the command needs:
    limits on processes do not apply to root.
    """

    uid: int = SHOWN_ID
    """Ids as seen inside the sandbox."""
    gid: int = SHOWN_ID
    switch_to_uid: int | None = None
    switch_to_gid: int | None = None

    def switch(self) -> "UserSwitch":
        """Return the arguments of `Popen`."""
        groups: list[int] | None = None if self.switch_to_uid is None else []
        return UserSwitch(user=self.switch_to_uid, group=self.switch_to_gid, extra_groups=groups)


class UserSwitch(TypedDict):
    user: int | None
    group: int | None
    extra_groups: list[int] | None


def owner_for(command: Command, also: tuple[Path, ...] = ()) -> Owner:
    found = command.workdir.stat()
    if os.getuid() != 0 or found.st_uid == 0:
        return Owner()
    needed = (command.workdir, *command.read_only, *command.writable, *(path.resolve() for path in also))
    if not all(_is_open_to(path, found.st_uid) for path in needed):
        return Owner()
    return Owner(switch_to_uid=found.st_uid, switch_to_gid=found.st_gid)


def _is_open_to(path: Path, uid: int) -> bool:
    folders = (path, *path.parents) if path.is_dir() else path.parents
    return all(_may_enter(folder.stat(), uid) for folder in folders)


def _may_enter(found: os.stat_result, uid: int) -> bool:
    return bool(found.st_mode & (stat.S_IXUSR if found.st_uid == uid else stat.S_IXOTH))


class Descriptors:
    def __init__(self) -> None:
        self.passed: list[int] = []
        self._kept: list[BinaryIO] = []

    def data(self, content: str | bytes) -> str:
        """Pass a file in memory to the child and return its number."""
        fd = os.memfd_create("forge")
        self.passed.append(fd)
        os.write(fd, os.fsencode(content) if isinstance(content, str) else content)
        os.lseek(fd, 0, os.SEEK_SET)
        return str(fd)

    def inherit(self, fd: int) -> str:
        """Pass an open descriptor to the child and return its number."""
        self.passed.append(fd)
        return str(fd)

    def from_child(self) -> tuple[BinaryIO, int]:
        """Create a pipe from the child: our end for reading and the number of the child's end."""
        reader, writer = os.pipe()
        self.passed.append(writer)
        return self._keep(os.fdopen(reader, "rb")), writer

    def to_child(self) -> tuple[int, BinaryIO]:
        reader, writer = os.pipe()
        self.passed.append(reader)
        return reader, self._keep(io.FileIO(writer, "wb"))

    def process(self, pid: int) -> int | None:
        """Open a pidfd, readable once the process is dead; None if it is dead already."""
        with suppress(ProcessLookupError):
            handle = os.pidfd_open(pid)
            self._keep(os.fdopen(handle, "rb", buffering=0))
            return handle
        return None

    def close_passed(self) -> None:
        """Close our copies: the child has its own, and a pipe ends only when all copies are closed."""
        while self.passed:
            os.close(self.passed.pop())

    def close(self) -> None:
        self.close_passed()
        for file in self._kept:
            file.close()

    def _keep(self, file: BinaryIO) -> BinaryIO:
        self._kept.append(file)
        return file


def start_process(argv: list[str | Path], files: Descriptors, owner: Owner) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(  # noqa: S603  # the sandbox itself
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=files.passed,
            env={},
            cwd="/",
            start_new_session=True,
            **owner.switch(),
        )
    finally:
        files.close_passed()
