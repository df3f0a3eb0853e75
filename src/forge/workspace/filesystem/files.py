"""Read and write the files of one workspace. Tools, pages and commands have no other access.

Every path is checked as text, then opened beneath the root (see `beneath`). Writes are atomic: readers and a
crash see the old content or the new, never a part. All methods block: call them with `asyncio.to_thread`.
"""

import os
import secrets
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from forge.errors import Unavailable
from forge.kernel.hashing import hash_bytes
from forge.workspace.filesystem.beneath import DIRECTORY, READ, Beneath
from forge.workspace.filesystem.entries import (
    TEMPORARY,
    Bounds,
    Entry,
    Piece,
    ScannedFile,
    entry_of,
    list_entries,
    pieces,
    read_piece,
    walk_entries,
)
from forge.workspace.filesystem.errors import Changed, NotAFile, PathRefused, explain
from forge.workspace.filesystem.paths import Parts, ProtectedNames, parse
from forge.workspace.filesystem.quota import Quota, Usage

_TEMPORARY_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_PERMISSIONS = 0o777


@dataclass(frozen=True, slots=True)
class FileContent:
    data: bytes
    """At most `limit` bytes."""
    size: int
    """Size of the whole file."""
    hash: str | None
    """SHA-256 of the whole content; None if the file is longer than `limit`."""


@dataclass(frozen=True, slots=True)
class Written:
    created: bool
    unchanged: bool
    size: int
    hash: str


class Files:
    """Files below one root. `kernel=False` forces the component walk, `None` detects `openat2`.

    `private`: new files and directories are accessible only to the user of this process.
    """

    def __init__(
        self,
        root: Path,
        *,
        quota: Quota = Quota(),  # noqa: B008 - immutable
        kernel: bool | None = None,
        private: bool = False,
    ) -> None:
        self.root = root
        self._private = private
        self._protected = ProtectedNames()
        self._open_beneath: Beneath | None = Beneath(root, self._protected, kernel=kernel)
        self._quota = quota
        self._usage = Usage(self._open_beneath, quota, self._protected)
        self._writing = Lock()

    def __enter__(self) -> "Files":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Refuse new operations; running ones finish."""
        self._open_beneath = None

    def read(self, path: str, *, limit: int, follow: bool = True) -> FileContent:
        """Read up to `limit` bytes. `follow=False` refuses all links, even those that stay inside."""
        with _explained(path):
            parts = self._parts(path)
            descriptor = (
                self._beneath.open_following(parts, READ)
                if follow
                else self._open_unlinked(parts, READ, "links are not followed here")
            )
            try:
                return _read(descriptor, path, limit)
            finally:
                os.close(descriptor)

    def stat(self, path: str) -> Entry:
        """Describe a path. The last component is not followed if it is a link; earlier ones are."""
        parts = self._parts(path)
        with _explained(path), self._beneath.directory(parts[:-1]) as directory:
            if not parts:
                return entry_of(parts, os.fstat(directory))
            return entry_of(parts, os.stat(parts[-1], dir_fd=directory, follow_symlinks=False))

    def list(self, path: str = ".") -> list[Entry]:
        """List a directory sorted by name, without protected names."""
        parts = self._parts(path)
        with _explained(path):
            return list_entries(self._beneath, parts, self._protected)

    def walk(self, path: str = ".", *, bounds: Bounds = Bounds()) -> Iterator[Entry]:  # noqa: B008 - immutable
        """Iterate over everything below a directory, depth first, without following links."""
        parts = self._parts(path)
        with _explained(path):
            yield from walk_entries(self._beneath, parts, self._protected, bounds)

    def pieces(self, path: str = ".") -> Iterator[Piece]:
        """Iterate over the file names below a directory in batches for `read_piece`."""
        self.stat(path)
        return pieces(self._beneath, self._parts(path), self._protected)

    def read_piece(
        self, piece: Piece, *, wanted: Callable[[str], bool], max_bytes: int
    ) -> Iterator[ScannedFile]:
        """Read the files of a batch that are wanted and not larger than `max_bytes`."""
        return read_piece(self._beneath, piece, wanted, max_bytes)

    def write(self, path: str, data: bytes, *, expect: str | None = None) -> Written:
        """Write a file. `expect`: the hash it must have now, "" if it must not exist."""
        parts = self._leaf(path)
        self._usage.check_file(path, len(data))
        with self._writing, _explained(path):
            old = self._read_existing(parts, path, content=expect is not None, size=len(data))
            _check_expected(old, expect, path)
            if old and old.has(data):
                return Written(created=False, unchanged=True, size=len(data), hash=hash_bytes(data))
            more = {"files": 0 if old else 1, "size": len(data) - (old.size if old else 0)}
            self._usage.check(**more)
            self._replace(parts, data, old, path, expect)
            self._usage.add(**more)
        return Written(created=old is None, unchanged=False, size=len(data), hash=hash_bytes(data))

    def delete(self, path: str) -> None:
        """Delete a file, a link (not its target) or an empty directory."""
        parts = self._leaf(path)
        with self._writing, _explained(path), self._directory_for_writing(parts) as directory:
            status = os.stat(parts[-1], dir_fd=directory, follow_symlinks=False)
            if stat.S_ISDIR(status.st_mode):
                os.rmdir(parts[-1], dir_fd=directory)
                return
            os.unlink(parts[-1], dir_fd=directory)
            self._usage.add(files=-1, size=-status.st_size)

    @property
    def _beneath(self) -> Beneath:
        if self._open_beneath is None:
            raise Unavailable("This workspace has been closed.")
        return self._open_beneath

    def _parts(self, path: str) -> Parts:
        parts = parse(path)
        self._protected.check(parts)
        return parts

    def _leaf(self, path: str) -> Parts:
        parts = self._parts(path)
        if not parts:
            raise NotAFile("The path is the workspace itself, not a file in it.")
        return parts

    def _read_existing(self, parts: Parts, path: str, *, content: bool, size: int) -> "_ExistingFile | None":
        """Return the current file, with its content if requested or if its size equals the new one."""
        try:
            with self._directory_for_writing(parts) as directory:
                status = os.stat(parts[-1], dir_fd=directory, follow_symlinks=False)
                _check_replaceable(status, path)
                if not content and status.st_size != size:
                    return _ExistingFile(status.st_size, status.st_mode)
                found = _read_in(directory, parts[-1], path, limit=self._quota.file_bytes)
                return _ExistingFile(found.size, status.st_mode, found)
        except FileNotFoundError:
            return None

    @contextmanager
    def _directory_for_writing(self, parts: Parts) -> Generator[int]:
        directory = self._open_unlinked(parts[:-1], DIRECTORY, "links are not followed when writing")
        try:
            yield directory
        finally:
            os.close(directory)

    def _open_unlinked(self, parts: Parts, flags: int, rule: str) -> int:
        try:
            return self._beneath.open(parts, flags)
        except FileNotFoundError:
            raise
        except OSError as error:
            if link := _find_link(self._beneath, parts):
                raise PathRefused(
                    f"{link[:200]!r} is a link; {rule}.",
                    hint="Use the path of the target.",
                ) from error
            raise

    def _replace(
        self, parts: Parts, data: bytes, old: "_ExistingFile | None", path: str, expect: str | None
    ) -> None:
        def look_again() -> None:
            """Check again, because another write may have happened while the new content was written."""
            if expect is not None:
                _check_expected(self._read_existing(parts, path, content=True, size=len(data)), expect, path)

        self._beneath.make_directories(parts[:-1], mode=0o700 if self._private else 0o777)
        mode = old.mode if old else 0o600 if self._private else None
        with self._directory_for_writing(parts) as directory:
            write_atomically(directory, parts[-1], data, mode=mode, before_rename=look_again)


@dataclass(frozen=True, slots=True)
class _ExistingFile:
    size: int
    mode: int
    content: FileContent | None = None

    def has(self, data: bytes) -> bool:
        return self.content is not None and self.content.size == len(data) and self.content.data == data


def write_atomically(
    directory: int,
    name: str,
    data: bytes,
    *,
    mode: int | None,
    before_rename: Callable[[], None] = lambda: None,
) -> None:
    """Write a temporary file, sync it and rename it. Links and other hard links of the old file stay
    unchanged."""
    temporary = f"{TEMPORARY}{secrets.token_hex(8)}"
    descriptor = os.open(temporary, _TEMPORARY_FLAGS, 0o666, dir_fd=directory)
    try:
        try:
            if mode is not None:
                os.fchmod(descriptor, mode & _PERMISSIONS)
            _write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        before_rename()
        os.rename(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary, dir_fd=directory)
        raise
    os.fsync(directory)


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _read(descriptor: int, path: str, limit: int) -> FileContent:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        is_directory = stat.S_ISDIR(status.st_mode)
        raise NotAFile(f"{path[:200]!r} is {'a directory' if is_directory else 'not a regular file'}.")
    wanted = limit + 1  # one more byte shows whether the file is longer
    chunks: list[bytes] = []
    while wanted > 0 and (chunk := os.read(descriptor, min(wanted, status.st_size + 1, 1 << 20))):
        chunks.append(chunk)
        wanted -= len(chunk)
    data = chunks[0] if len(chunks) == 1 else b"".join(chunks)
    if len(data) <= limit:
        return FileContent(data, len(data), hash_bytes(data))
    return FileContent(data[:limit], max(status.st_size, len(data)), None)


def _read_in(directory: int, name: str, path: str, *, limit: int) -> FileContent:
    descriptor = os.open(name, READ, dir_fd=directory)
    try:
        return _read(descriptor, path, limit)
    finally:
        os.close(descriptor)


def _check_replaceable(status: os.stat_result, path: str) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise PathRefused(
            f"{path[:200]!r} is a link; links are not followed when writing.",
            hint="Write to the file it points to, or delete the link first.",
        )
    if not stat.S_ISREG(status.st_mode):
        is_directory = stat.S_ISDIR(status.st_mode)
        raise NotAFile(f"{path[:200]!r} is {'a directory' if is_directory else 'not a regular file'}.")


def _check_expected(old: _ExistingFile | None, expect: str | None, path: str) -> None:
    if expect is None:
        return
    found = "" if old is None else old.content and old.content.hash
    if found != expect:
        what = "already exists" if expect == "" else "has changed" if old else "no longer exists"
        raise Changed(f"{path[:200]!r} {what}.", hint="Read it again, then decide.")


def _find_link(beneath: Beneath, parts: Parts) -> str | None:
    try:
        return beneath.first_link(parts)
    except OSError:
        return None


@contextmanager
def _explained(path: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise explain(error, path) from error
