"""Write to the evidence folder of a project: locked, atomically and never through links."""

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
from forge.workspace.filesystem.beneath import Beneath
from forge.workspace.filesystem.errors import PathRefused, explain
from forge.workspace.filesystem.files import write_atomically
from forge.workspace.filesystem.paths import ProtectedNames, parse

LOCK_TIMEOUT_S = 20.0
_RETRY_DELAY_S = 0.02
_APPEND = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class EvidenceFolder:
    """The open and locked evidence folder. Names are files directly inside it."""

    def __init__(self, descriptor: int, path: str) -> None:
        self._descriptor = descriptor
        self._path = path

    def read(self, name: str, *, last: int | None = None) -> bytes | None:
        """Read a file or its last bytes; None if it does not exist."""
        with self._translate_errors(name):
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
        with self._translate_errors(name):
            try:
                status = os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
            except FileNotFoundError:
                return None
            return status.st_size

    def replace(self, name: str, data: bytes) -> None:
        """Replace a file atomically."""
        with self._translate_errors(name):
            mode: int | None = None
            with suppress(FileNotFoundError):
                status = os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)
                if not stat.S_ISREG(status.st_mode):
                    raise PathRefused(f"{self._path}/{name} is not a regular file.")
                mode = status.st_mode
            write_atomically(self._descriptor, name, data, mode=mode)

    def append(self, name: str, data: bytes, *, at: int) -> None:
        """Append data after the first `at` bytes; later bytes, left by a killed process, are removed."""
        with self._translate_errors(name):
            descriptor = os.open(name, _APPEND, 0o666, dir_fd=self._descriptor)
            try:
                size = _regular_size(descriptor, name)
                if size < at:
                    raise Unavailable(f"{self._path}/{name} was truncated by another process.")
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
    def _translate_errors(self, name: str) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise _translate_error(error, f"{self._path}/{name}") from error


@contextmanager
def open_folder(root: Path, governance: Governance) -> Generator[EvidenceFolder]:
    """Open and lock the evidence folder, creating it if needed. Waits a limited time for another writer."""
    parts = parse(governance.evidence)
    beneath = Beneath(root, ProtectedNames())
    try:
        beneath.make_directories(parts)
        opened = beneath.open(parts, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise _translate_error(error, governance.evidence) from error
    try:
        _lock(opened, governance.evidence)
        yield EvidenceFolder(opened, governance.evidence)
    finally:
        os.close(opened)


def _lock(descriptor: int, path: str) -> None:
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise Unavailable(
                    f"{path} has been locked by another process for {LOCK_TIMEOUT_S:.0f} s.",
                    hint="Try again later.",
                ) from None
            time.sleep(_RETRY_DELAY_S)
        else:
            return


def _regular_size(descriptor: int, name: str) -> int:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise PathRefused(f"{name} in the evidence folder is not a regular file.")
    return status.st_size


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _translate_error(error: OSError, path: str) -> ForgeError:
    match error.errno:
        case errno.ELOOP | errno.ENOTDIR:
            return PathRefused(
                f"{path} is not a directory or is reached through a link; evidence is never written through links.",
                hint="Replace it with a regular directory.",
            )
        case errno.EROFS | errno.EACCES | errno.EPERM:
            return Denied(
                f"{path} is not writable: {error.strerror}.",
                hint="Make the directory writable, or audit with --no-ledger.",
            )
        case _:
            return explain(error, path)
