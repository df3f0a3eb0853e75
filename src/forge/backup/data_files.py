"""The files of the data directory: which ones a backup contains, and how to copy a file that is being written."""

import contextlib
import os
import stat
import tempfile
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from forge.backup.archive import ArchiveWriter, escaped_name
from forge.backup.layout import DATA, is_included, may_be_link

MAX_ATTEMPTS = 5
RETRY_S = 0.05
MAX_IN_MEMORY = 8 << 20


@dataclass(frozen=True)
class CopyGaps:
    """Files that could not be copied consistently, or at all: see `Manifest`."""

    restless: list[str] = field(default_factory=list[str])
    unreadable: list[str] = field(default_factory=list[str])
    links: list[str] = field(default_factory=list[str])

    @contextlib.contextmanager
    def recording(self, path: PurePosixPath) -> Generator[None]:
        """Record an unreadable file instead of failing the whole backup."""
        try:
            yield
        except PermissionError as error:
            if error.filename is None:  # from writing the archive, not from opening the file
                raise
            self.unreadable.append(escaped_name(str(path)))


def add_data_files(writer: ArchiveWriter, data_dir: Path, spool_dir: Path) -> CopyGaps:
    """Add all files a backup contains, except those deleted while it is created."""
    gaps = CopyGaps()
    for path in _walk(data_dir, PurePosixPath(), gaps):
        name = f"{DATA}/{path}"
        with gaps.recording(path), contextlib.suppress(FileNotFoundError, NotADirectoryError):
            found = (data_dir / path).lstat()
            if stat.S_ISLNK(found.st_mode) and not may_be_link(path):
                gaps.links.append(escaped_name(str(path)))
            elif stat.S_ISLNK(found.st_mode):
                writer.add_link(name, os.readlink(data_dir / path))  # noqa: PTH115  # as bytes that need not be a path
            elif stat.S_ISDIR(found.st_mode):
                writer.add_folder(name, mode=stat.S_IMODE(found.st_mode))
            elif stat.S_ISREG(found.st_mode) and _add_file(writer, name, data_dir / path, spool_dir):
                gaps.restless.append(escaped_name(str(path)))
    return gaps


def _walk(data_dir: Path, folder: PurePosixPath, gaps: CopyGaps) -> Iterator[PurePosixPath]:
    """Yield folders before their contents. git's `objects` come last: git writes objects before the refs that name them,
    so the copy contains every commit that its refs name."""
    entries: list[os.DirEntry[str]] = []
    with (
        gaps.recording(folder),
        contextlib.suppress(FileNotFoundError, NotADirectoryError),
        os.scandir(data_dir / folder) as found,
    ):
        entries = sorted(found, key=lambda entry: (entry.name == "objects", entry.name))
    for entry in entries:
        path = folder / entry.name
        if not is_included(path):
            continue
        yield path
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(data_dir, path, gaps)


def _add_file(writer: ArchiveWriter, name: str, path: Path, spool_dir: Path) -> bool:
    """Copy the file until it did not change during the copy. Return True if it changed each time."""
    for attempt in range(1, MAX_ATTEMPTS + 1):
        with _copied_file(path, spool_dir) as (copy, before, after):
            if before == after or attempt == MAX_ATTEMPTS:
                writer.add_file(name, copy, mode=before[0], mtime=before[1] // 1_000_000_000)
                return before != after
        time.sleep(RETRY_S * attempt)
    return True


@contextlib.contextmanager
def _copied_file(
    path: Path, spool_dir: Path
) -> Generator[tuple[IO[bytes], tuple[int, ...], tuple[int, ...]]]:
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb"))  # noqa: PTH123
        copy = stack.enter_context(tempfile.SpooledTemporaryFile(MAX_IN_MEMORY, dir=str(spool_dir)))
        before = _fingerprint(source)
        while chunk := source.read(MAX_IN_MEMORY):
            copy.write(chunk)
        yield copy, before, _fingerprint(source)


def _fingerprint(file: IO[bytes]) -> tuple[int, ...]:
    found = os.fstat(file.fileno())
    return stat.S_IMODE(found.st_mode), found.st_mtime_ns, found.st_size, found.st_ctime_ns
