"""Writing files of the history back into the workspace, beneath its root and through no link."""

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import compress
from operator import not_

from forge.errors import Conflict
from forge.workspace.beneath import Beneath
from forge.workspace.errors import explain
from forge.workspace.files import write_atomically
from forge.workspace.paths import Parts, ProtectedNames
from forge.workspace.staging import LINK_MODE, PROGRAM_MODE, parts_of

BATCH_BYTES = 16 << 20
BATCH_FILES = 100
_HEAD_BYTES = 100
"""Of a blob in a batch: its name, type and size."""


@dataclass(frozen=True, slots=True)
class Difference:
    """What has to be at a path; `mode` None: nothing."""

    path: bytes
    mode: str | None
    blob: str


def read_differences(raw: bytes) -> list[Difference]:
    """From `diff-tree --raw -r -z`: `:old-mode new-mode old-blob new-blob letter NUL path NUL`."""
    pieces = raw.split(b"\0")[:-1]
    return [_difference(*pair) for pair in zip(pieces[::2], pieces[1::2], strict=True)]


def _difference(head: bytes, path: bytes) -> Difference:
    _, mode, _, blob, letter = head.decode().split(" ")
    return Difference(path, None if letter == "D" else mode, blob)


@dataclass(slots=True)
class Batch:
    """What is asked of git at once."""

    differences: list[Difference] = field(default_factory=list[Difference])
    size: int = 0

    def names(self) -> bytes:
        return "".join(f"{one.blob}\n" for one in self.differences).encode()

    @property
    def most_bytes(self) -> int:
        return self.size + _HEAD_BYTES * len(self.differences)

    def has_room(self, size: int) -> bool:
        return not self.differences or (
            len(self.differences) < BATCH_FILES and self.size + size <= BATCH_BYTES
        )


def batches(wanted: list[Difference], sizes: list[int]) -> list[Batch]:
    """In order; what is larger than a batch may be is one by itself."""
    made: list[Batch] = []
    for one, size in zip(wanted, sizes, strict=True):
        if not made or not made[-1].has_room(size):
            made.append(Batch())
        made[-1].differences.append(one)
        made[-1].size += size
    return made


def removals(differences: list[Difference]) -> tuple[list[Difference], list[Difference]]:
    """Of what goes, that in whose place a directory comes or that is in a directory where a file comes; and the rest."""
    wanted = {one.path for one in differences if one.mode is not None}
    folders = {folder for path in wanted for folder in _folders(path)}
    gone = [one for one in differences if one.mode is None]
    is_in_the_way = [one.path in folders or not wanted.isdisjoint(_folders(one.path)) for one in gone]
    return list(compress(gone, is_in_the_way)), list(compress(gone, map(not_, is_in_the_way)))


def _folders(path: bytes) -> Iterator[bytes]:
    at = path.find(b"/")
    while at >= 0:
        yield path[:at]
        at = path.find(b"/", at + 1)


def read_blobs(batch: bytes) -> Iterator[bytes]:
    """From `cat-file --batch`: `id type size LF content LF`, one after the other."""
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
        """Deepest first; directories that are empty then go, too."""
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
    """A link is replaced, never written through; an empty directory goes; a full one holds what git does not know."""
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
