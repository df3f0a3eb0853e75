"""Copy files between the work tree and git without letting git open them.

git only reports the names of changed files; their content is read and written here, beneath the root. So a
name that is replaced by a link concurrently never brings a file from elsewhere into the history.
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import compress
from operator import not_
from pathlib import Path

from forge.errors import Conflict
from forge.workspace.filesystem.beneath import READ, Beneath
from forge.workspace.filesystem.errors import explain
from forge.workspace.filesystem.files import write_atomically
from forge.workspace.filesystem.paths import Parts, ProtectedNames

MAX_FILE_BYTES = 64 << 20
"""Larger files are left out of the history."""

LINK_MODE, FILE_MODE, PROGRAM_MODE = "120000", "100644", "100755"
_CHUNK = 1 << 20
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EINVAL, errno.ENXIO)
"""The path does not exist, contains a link now, is no longer a link, or is a socket. Other errors must not
be treated as a deletion."""


@dataclass(frozen=True, slots=True)
class SpooledFile:
    path: bytes
    mode: str | None
    """None if the file does not exist."""
    spooled: Path | None = None


def parts_of(path: bytes) -> Parts:
    """Split a path of git, which may contain any bytes but NUL."""
    return tuple(os.fsdecode(path).split("/"))


def spool_files(
    beneath: Beneath, paths: Iterable[bytes], spool: Path, protected: ProtectedNames
) -> list[SpooledFile]:
    """Copy the current files into the spool directory."""
    wanted = (path for path in sorted(set(paths)) if not any(part in protected for part in parts_of(path)))
    taken = (_spool_file(beneath, path, spool / str(number)) for number, path in enumerate(wanted))
    return [one for one in taken if one is not None]


def _spool_file(beneath: Beneath, path: bytes, spooled: Path) -> SpooledFile | None:
    parts = parts_of(path)
    try:
        with beneath.directory(parts[:-1], follow=False) as directory:
            status = os.stat(parts[-1], dir_fd=directory, follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                spooled.write_bytes(os.fsencode(os.readlink(parts[-1], dir_fd=directory)))
                return SpooledFile(path, LINK_MODE, spooled)
            if not stat.S_ISREG(status.st_mode):
                return SpooledFile(path, None)
            return _copy(directory, parts[-1], path, spooled)
    except OSError as error:
        if error.errno not in _GONE:
            raise explain(error, "/".join(parts)) from error
        return SpooledFile(path, None)


def _copy(directory: int, name: str, path: bytes, spooled: Path) -> SpooledFile | None:
    descriptor = os.open(name, READ, dir_fd=directory)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_FILE_BYTES:
            return None
        with spooled.open("wb") as copy:
            left = MAX_FILE_BYTES
            while left > 0 and (chunk := os.read(descriptor, min(_CHUNK, left))):
                copy.write(chunk)
                left -= len(chunk)
        return SpooledFile(path, PROGRAM_MODE if status.st_mode & stat.S_IXUSR else FILE_MODE, spooled)
    finally:
        os.close(descriptor)


def index_lines(taken: list[SpooledFile], hashes: list[str]) -> bytes:
    """Format input for `update-index -z --index-info`; removals come first, so that a directory can
    replace a file."""
    removed = [b"0 %s\t%s\0" % (b"0" * 40, one.path) for one in taken if one.mode is None]
    here = (one for one in taken if one.mode is not None)
    return b"".join(removed) + b"".join(
        f"{one.mode} {name}\t".encode() + one.path + b"\0" for one, name in zip(here, hashes, strict=True)
    )


def clear_spool(spool: Path) -> None:
    for spooled in spool.glob("*"):
        with suppress(OSError):
            spooled.unlink()


BATCH_BYTES = 16 << 20
BATCH_FILES = 100
_HEAD_BYTES = 100
"""Header of a blob in `cat-file --batch` output: id, type and size."""


@dataclass(frozen=True, slots=True)
class Difference:
    """Target state of a path; `mode` None means that it must not exist."""

    path: bytes
    mode: str | None
    blob: str


def read_differences(raw: bytes) -> list[Difference]:
    """Parse `diff-tree --raw -r -z`: `:old-mode new-mode old-blob new-blob letter NUL path NUL`."""
    pieces = raw.split(b"\0")[:-1]
    return [_difference(*pair) for pair in zip(pieces[::2], pieces[1::2], strict=True)]


def _difference(head: bytes, path: bytes) -> Difference:
    _, mode, _, blob, letter = head.decode().split(" ")
    return Difference(path, None if letter == "D" else mode, blob)


@dataclass(slots=True)
class Batch:
    """Blobs requested from git in one call."""

    differences: list[Difference] = field(default_factory=list[Difference])
    size: int = 0

    def names(self) -> bytes:
        return "".join(f"{one.blob}\n" for one in self.differences).encode()

    @property
    def max_bytes(self) -> int:
        return self.size + _HEAD_BYTES * len(self.differences)

    def has_room(self, size: int) -> bool:
        return not self.differences or (
            len(self.differences) < BATCH_FILES and self.size + size <= BATCH_BYTES
        )


def batches(wanted: list[Difference], sizes: list[int]) -> list[Batch]:
    """Group blobs into batches, in order; an oversized blob gets its own batch."""
    batches_: list[Batch] = []
    for one, size in zip(wanted, sizes, strict=True):
        if not batches_ or not batches_[-1].has_room(size):
            batches_.append(Batch())
        batches_[-1].differences.append(one)
        batches_[-1].size += size
    return batches_


def removals(differences: list[Difference]) -> tuple[list[Difference], list[Difference]]:
    """Split removals into those that block a new file or directory and the rest."""
    wanted = {one.path for one in differences if one.mode is not None}
    folders = {folder for path in wanted for folder in _folders(path)}
    removed = [one for one in differences if one.mode is None]
    is_in_the_way = [one.path in folders or not wanted.isdisjoint(_folders(one.path)) for one in removed]
    return list(compress(removed, is_in_the_way)), list(compress(removed, map(not_, is_in_the_way)))


def _folders(path: bytes) -> Iterator[bytes]:
    at = path.find(b"/")
    while at >= 0:
        yield path[:at]
        at = path.find(b"/", at + 1)


def read_blobs(batch: bytes) -> Iterator[bytes]:
    """Parse `cat-file --batch` output: repeated `id type size LF content LF`."""
    at = 0
    while at < len(batch):
        end = batch.index(b"\n", at)
        size = int(batch[at:end].rsplit(b" ", 1)[1])
        yield batch[end + 1 : end + 1 + size]
        at = end + size + 2


class Restorer:
    def __init__(self, beneath: Beneath, protected: ProtectedNames) -> None:
        self._beneath = beneath
        self._protected = protected

    def remove(self, differences: list[Difference]) -> None:
        """Remove files, deepest first, and directories that become empty."""
        for difference in sorted(differences, key=lambda one: one.path, reverse=True):
            parts = self._parts(difference)
            with suppress(FileNotFoundError, NotADirectoryError):
                self._remove(parts)

    def write(self, difference: Difference, content: bytes) -> None:
        parts = self._parts(difference)
        try:
            self._beneath.make_directories(parts[:-1])
            with self._beneath.directory(parts[:-1], follow=False) as directory:
                is_link = difference.mode == LINK_MODE
                _make_room(directory, parts, is_link=is_link)
                if is_link:
                    os.symlink(os.fsdecode(content), parts[-1], dir_fd=directory)
                else:
                    mode = 0o755 if difference.mode == PROGRAM_MODE else 0o644
                    write_atomically(directory, parts[-1], content, mode=mode)
        except OSError as error:
            raise explain(error, "/".join(parts)) from error

    def _parts(self, difference: Difference) -> Parts:
        parts = parts_of(difference.path)
        self._protected.check(parts)
        return parts

    def _remove(self, parts: Parts) -> None:
        with self._beneath.directory(parts[:-1], follow=False) as directory:
            os.unlink(parts[-1], dir_fd=directory)
        with suppress(OSError):
            for depth in range(len(parts) - 1, 0, -1):
                with self._beneath.directory(parts[: depth - 1], follow=False) as directory:
                    os.rmdir(parts[depth - 1], dir_fd=directory)


def _make_room(directory: int, parts: Parts, *, is_link: bool) -> None:
    """Clear the target path: replace a link or an empty directory; refuse a directory with ignored files."""
    try:
        status = os.stat(parts[-1], dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return
    if stat.S_ISDIR(status.st_mode):
        try:
            os.rmdir(parts[-1], dir_fd=directory)
        except OSError:
            raise Conflict(f"{'/'.join(parts)[:200]!r} is a directory with ignored files in it.") from None
    elif is_link or not stat.S_ISREG(status.st_mode):
        os.unlink(parts[-1], dir_fd=directory)
