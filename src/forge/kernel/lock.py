"""An advisory lock on a directory; the system releases it when the process ends."""

import fcntl
import os
from pathlib import Path
from types import TracebackType


class LockHeld(Exception):
    def __init__(self, pid: str) -> None:
        super().__init__(f"held by process {pid}")
        self.pid = pid


class DirectoryLock:
    def __init__(self, directory: Path) -> None:
        self._path = directory / "lock"
        self._descriptor: int | None = None

    def __enter__(self) -> "DirectoryLock":
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
            os.close(descriptor)
            raise LockHeld(holder) from None
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()}\n".encode())
        self._descriptor = descriptor
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
