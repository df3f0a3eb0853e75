"""The files of the data directory: which of them are worth keeping, and how to read one that may be written to."""

import contextlib
import os
import stat
import tempfile
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO

from forge.backup.archive import Writer, shown
from forge.backup.models import DATA

TRIES = 5
PAUSE_S = 0.05
IN_MEMORY = 8 << 20

NOT_KEPT = frozenset(
    {
        "lock",
        "server.json",
        "credentials.json",  # of whoever logs in from here to other servers
        "vault.key",
        "logs",
        "wasm",
        "registries",
        "skill-staging",
        "audit/facts.db",
        "audit/facts.db-wal",
        "audit/facts.db-shm",
    }
)
"""Belongs to a process or a machine, or is made again when it is missing. Whatever else is there is kept, known or not."""
NOT_KEPT_BEGINNINGS = ("forge.db", "restore-", "before-restore-", ".vault.key.", ".server.json.")
"""Of names at the top: the database has a way of its own, with the copies that were made before migrations."""


@dataclass(frozen=True)
class Gaps:
    """What is not in the archive as it is on the disk: see `Manifest`."""

    restless: list[str] = field(default_factory=list[str])
    unreadable: list[str] = field(default_factory=list[str])

    @contextlib.contextmanager
    def noting(self, path: PurePosixPath) -> Generator[None]:
        """One file that is closed to us must not cost the backup of all others."""
        try:
            yield
        except PermissionError as error:
            if error.filename is None:  # not of opening it, but of writing what it holds
                raise
            self.unreadable.append(shown(str(path)))


def is_kept(path: PurePosixPath) -> bool:
    return str(path) not in NOT_KEPT and not path.parts[0].startswith(NOT_KEPT_BEGINNINGS)


def add_data_files(writer: Writer, data_dir: Path, spool_dir: Path) -> Gaps:
    """Everything that is kept. What is removed meanwhile is not missed."""
    gaps = Gaps()
    for path in _walk(data_dir, PurePosixPath(), gaps):
        name = f"{DATA}/{path}"
        with gaps.noting(path), contextlib.suppress(FileNotFoundError, NotADirectoryError):
            found = (data_dir / path).lstat()
            if stat.S_ISLNK(found.st_mode):
                writer.add_link(name, os.readlink(data_dir / path))  # noqa: PTH115  # as bytes that need not be a path
            elif stat.S_ISDIR(found.st_mode):
                writer.add_folder(name, mode=stat.S_IMODE(found.st_mode))
            elif stat.S_ISREG(found.st_mode) and _add_file(writer, name, data_dir / path, spool_dir):
                gaps.restless.append(shown(str(path)))
    return gaps


def _walk(data_dir: Path, folder: PurePosixPath, gaps: Gaps) -> Iterator[PurePosixPath]:
    """Folders before what is in them. Of git, `objects` comes last: what a name refers to was written before the name,
    so that every commit that is named in the copy is in it as well."""
    entries: list[os.DirEntry[str]] = []
    with (
        gaps.noting(folder),
        contextlib.suppress(FileNotFoundError, NotADirectoryError),
        os.scandir(data_dir / folder) as found,
    ):
        entries = sorted(found, key=lambda entry: (entry.name == "objects", entry.name))
    for entry in entries:
        path = folder / entry.name
        if not is_kept(path):
            continue
        yield path
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(data_dir, path, gaps)


def _add_file(writer: Writer, name: str, path: Path, spool_dir: Path) -> bool:
    """Read aside until nothing was written to it meanwhile; whether it never held still."""
    for tries in range(1, TRIES + 1):
        with _read_aside(path, spool_dir) as (copy, before, after):
            if before == after or tries == TRIES:
                writer.add_file(name, copy, mode=before[0], mtime=before[1] // 1_000_000_000)
                return before != after
        time.sleep(PAUSE_S * tries)
    return True


@contextlib.contextmanager
def _read_aside(path: Path, spool_dir: Path) -> Generator[tuple[IO[bytes], tuple[int, ...], tuple[int, ...]]]:
    with contextlib.ExitStack() as stack:
        source = stack.enter_context(open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb"))  # noqa: PTH123
        copy = stack.enter_context(tempfile.SpooledTemporaryFile(IN_MEMORY, dir=str(spool_dir)))
        before = _looks(source)
        while chunk := source.read(IN_MEMORY):
            copy.write(chunk)
        yield copy, before, _looks(source)


def _looks(file: IO[bytes]) -> tuple[int, ...]:
    found = os.fstat(file.fileno())
    return stat.S_IMODE(found.st_mode), found.st_mtime_ns, found.st_size, found.st_ctime_ns
