"""The evidence folder of a project while somebody writes to it: one writer at a time, never through a link, and nothing
that is half there."""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from forge.audits.evidence.chain import MAX_BYTES
from forge.audits.project import Governance
from forge.errors import Denied, ForgeError, Unavailable
from forge.workspace.beneath import Beneath
from forge.workspace.errors import PathRefused, explain
from forge.workspace.files import write_atomically
from forge.workspace.paths import ProtectedNames, parse

PATIENCE_S = 20.0
_PAUSE_S = 0.02
_APPEND = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class EvidenceFolder:
    """Open and locked. Every name is one of the folder's own files."""

    def __init__(self, descriptor: int, path: str) -> None:
        self._descriptor = descriptor
        self._path = path

    def read(self, name: str, *, last: int | None = None) -> bytes | None:
        """All of it, or its last bytes; None when there is no such file."""
        with self._explained(name):
            try:
                descriptor = os.open(name, _READ, dir_fd=self._descriptor)
            except FileNotFoundError:
                return None
            with os.fdopen(descriptor, "rb") as file:
                size = _regular_size(file.fileno(), name)
                if last is not None and size > last:
                    file.seek(size - last)
                return file.read(MAX_BYTES + 1)

    def size(self, name: str) -> int | None:
        with self._explained(name):
            try:
                status = os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
            except FileNotFoundError:
                return None
            return status.st_size

    def replace(self, name: str, data: bytes) -> None:
        """Readers and a crash see the old content or the new."""
        with self._explained(name):
            mode: int | None = None
            with suppress(FileNotFoundError):
                status = os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
                if not stat.S_ISREG(status.st_mode):
                    raise PathRefused(
                        f"{self._path}/{name} is no regular file; evidence is only written to files."
                    )
                mode = status.st_mode
            write_atomically(self._descriptor, name, data, mode=mode)

    def append(self, name: str, data: bytes, *, at: int) -> None:
        """Behind its first `at` bytes; whatever came after them, left by a process that was killed, goes."""
        with self._explained(name):
            descriptor = os.open(name, _APPEND, 0o666, dir_fd=self._descriptor)
            try:
                size = _regular_size(descriptor, name)
                if size < at:
                    raise Unavailable(f"{self._path}/{name} became shorter while it was written.")
                if size > at:
                    os.ftruncate(descriptor, at)
                os.lseek(descriptor, at, os.SEEK_SET)
                _write_all(descriptor, data)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            if at == 0:
                os.fsync(self._descriptor)

    @contextmanager
    def _explained(self, name: str) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise _explain(error, f"{self._path}/{name}") from error


@contextmanager
def open_folder(root: Path, governance: Governance) -> Generator[EvidenceFolder]:
    """Made when it is not there. Waits for another writer, but not for ever."""
    parts = parse(governance.evidence)
    beneath = Beneath(root, ProtectedNames())
    try:
        beneath.make_directories(parts)
        opened = beneath.open(parts, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise _explain(error, governance.evidence) from error
    try:
        _lock(opened, governance.evidence)
        yield EvidenceFolder(opened, governance.evidence)
    finally:
        os.close(opened)


def _lock(descriptor: int, path: str) -> None:
    give_up_at = time.monotonic() + PATIENCE_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > give_up_at:
                raise Unavailable(
                    f"Somebody else has been writing to {path} for {PATIENCE_S:.0f} s.",
                    hint="Try again later.",
                ) from None
            time.sleep(_PAUSE_S)
        else:
            return


def _regular_size(descriptor: int, name: str) -> int:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise PathRefused(f"{name} in the evidence folder is no regular file.")
    return status.st_size


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _explain(error: OSError, path: str) -> ForgeError:
    match error.errno:
        case errno.ELOOP | errno.ENOTDIR:
            return PathRefused(
                f"{path} is reached through a link or is no folder; evidence is never written through links.",
                hint="Put a real folder in its place.",
            )
        case errno.EROFS | errno.EACCES | errno.EPERM:
            return Denied(
                f"{path} cannot be written: {error.strerror}.",
                hint="Evidence is kept in the project: make the folder writable, or audit with --no-ledger.",
            )
        case _:
            return explain(error, path)
