"""Unpacks an archive into a folder that nothing else looks at yet."""

import contextlib
import os
from collections.abc import Generator
from pathlib import Path, PurePosixPath
from typing import IO


class Unpacking:
    """Links come last (`finish`): until then nothing in the folder is one, and no path leads out of it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._links: list[tuple[Path, str]] = []
        self._modes: list[tuple[Path, int]] = []
        root.mkdir(mode=0o700)

    @contextlib.contextmanager
    def file(self, path: PurePosixPath, mode: int, mtime: float) -> Generator[IO[bytes]]:
        target = self._make_room(path)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            os.fchmod(file.fileno(), mode & 0o777)
        os.utime(target, (mtime, mtime))

    def link(self, path: PurePosixPath, target: str) -> None:
        self._links.append((self._make_room(path), target))

    def folder(self, path: PurePosixPath, mode: int) -> None:
        folder = self._make_room(path)
        folder.mkdir(mode=0o700, exist_ok=True)
        self._modes.append((folder, mode & 0o777))

    def finish(self) -> None:
        for path, target in self._links:
            path.symlink_to(target)
        for path, mode in reversed(self._modes):
            path.chmod(mode)
        os.sync()

    def _make_room(self, path: PurePosixPath) -> Path:
        target = self._root / path
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return target
