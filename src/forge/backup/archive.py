"""The archive format: a gzipped tar. Each member is hashed when written and verified when read."""

import contextlib
import errno
import gzip
import hashlib
import io
import os
import shutil
import tarfile
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, cast

from pydantic import ValidationError

from forge.backup.layout import MANIFEST, check_member
from forge.backup.models import FORMAT, Entry, Kind, Manifest
from forge.errors import Invalid, NotFound, Unavailable
from forge.kernel.hashing import hash_bytes

CHUNK = 1 << 20
COMPRESSION = 3
NOTHING = hash_bytes(b"")
MAX_ENTRIES = 1_000_000
MAX_MANIFEST = 256 << 20
MANIFEST_BASE = 16 << 20
"""Size of a manifest without its entries, and of the text of an entry without its path. Both are rarely reached."""
MAX_ENTRY = 300
MAX_HEADER = 1 << 20
"""Of an extended header of tar, which is read into memory."""
MIN_FREE = 256 << 20
"""Disk space that unpacking leaves free."""


class ArchiveWriter:
    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self.entries: list[Entry] = []

    def add_file(self, path: str, file: IO[bytes], *, mode: int = 0o600, mtime: int = 0) -> None:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        reading = _Hashing(file)
        self._tar.addfile(_member(path, tarfile.REGTYPE, mode=mode, mtime=mtime, size=size), reading)
        self.entries.append(
            Entry(path=escaped_name(path), kind=Kind.FILE, size=size, sha256=reading.digest())
        )

    def add_bytes(self, path: str, data: bytes) -> None:
        self.add_file(path, io.BytesIO(data))

    def add_link(self, path: str, target: str) -> None:
        member = _member(path, tarfile.SYMTYPE)
        member.linkname = target
        self._tar.addfile(member)
        self.entries.append(
            Entry(path=escaped_name(path), kind=Kind.LINK, size=0, sha256=_hash_target(target))
        )

    def add_folder(self, path: str, *, mode: int) -> None:
        self._tar.addfile(_member(path, tarfile.DIRTYPE, mode=mode))
        self.entries.append(Entry(path=escaped_name(path), kind=Kind.FOLDER, size=0, sha256=NOTHING))

    def finish(self, manifest: Manifest) -> Manifest:
        whole = manifest.model_copy(update={"entries": self.entries})
        text = whole.model_dump_json(indent=1).encode()
        if len(self.entries) > MAX_ENTRIES or len(text) > MAX_MANIFEST:
            raise Unavailable(
                f"A backup can contain at most {MAX_ENTRIES:,} files, and there are {len(self.entries):,}.",
                hint="Remove workspaces that are no longer needed, or generated folders in them.",
            )
        self._tar.addfile(_member(MANIFEST, tarfile.REGTYPE, size=len(text)), io.BytesIO(text))
        return whole


class ArchiveExtractor:
    """Creates links last, in `finish`: until then no path can lead out of the folder.

    `only` limits it to members below this top-level folder.
    """

    def __init__(self, root: Path, only: str | None = None) -> None:
        self._root = root
        self._only = only
        self._links: list[tuple[Path, str]] = []
        self._modes: list[tuple[Path, int]] = []
        root.mkdir(mode=0o700)

    def wants(self, path: PurePosixPath) -> bool:
        return self._only is None or path.parts[0] == self._only

    @contextlib.contextmanager
    def file(self, path: PurePosixPath, mode: int, mtime: float, size: int) -> Generator[IO[bytes]]:
        if shutil.disk_usage(self._root).free < size + MIN_FREE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self._root))
        target = self._create_parent(path)
        descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            os.fchmod(file.fileno(), mode & 0o777)
        os.utime(target, (mtime, mtime))

    def link(self, path: PurePosixPath, target: str) -> None:
        self._links.append((self._create_parent(path), target))

    def folder(self, path: PurePosixPath, mode: int) -> None:
        folder = self._create_parent(path)
        folder.mkdir(mode=0o700, exist_ok=True)
        self._modes.append((folder, mode & 0o777))

    def finish(self) -> None:
        for path, target in self._links:
            path.symlink_to(target)
        for path, mode in reversed(self._modes):
            path.chmod(mode)
        os.sync()

    def _create_parent(self, path: PurePosixPath) -> Path:
        target = self._root / path
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return target


@contextlib.contextmanager
def create_archive(path: Path) -> Generator[ArchiveWriter]:
    """Write a draft beside `path`, private to this user, and link it to `path` when it is complete."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                with (
                    gzip.GzipFile("", "wb", COMPRESSION, file) as packed,
                    tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
                ):
                    yield ArchiveWriter(tar)
                file.flush()
                os.fsync(file.fileno())
            path.hardlink_to(draft)
        finally:
            draft.unlink()
    except OSError as error:
        raise _failed(path, draft, error) from error


def _failed(path: Path, draft: Path, error: OSError) -> Unavailable:
    why = error.strerror or str(error)
    if error.filename is None or str(error.filename) in {str(path), str(draft)}:
        return Unavailable(
            f"Cannot write the backup to {path}: {why}.",
            hint="Choose a writable location with enough free space.",
        )
    return Unavailable(f"Cannot create the backup: {error.filename}: {why}.")


def read_archive(path: Path, extractor: ArchiveExtractor | None = None) -> Manifest:
    """Read and verify an archive. Raise Invalid if a member differs from the manifest."""
    found = _Entries()
    manifest: bytes | None = None
    try:
        with gzip.open(path) as packed, tarfile.open(fileobj=packed, mode="r|", tarinfo=_Member) as tar:
            for member in tar:
                where = check_member(member)
                if manifest is not None:
                    raise tarfile.TarError("its manifest is not its last member")
                if str(where) == MANIFEST:
                    manifest = _read_manifest(tar, member, found.max_manifest)
                else:
                    found.expect(escaped_name(member.name), is_folder=member.isdir())
                    wanted = extractor if extractor and extractor.wants(where) else None
                    found.entries.append(_take(tar, member, where, wanted))
            while packed.read(CHUNK):  # to the end, where gzip has its checksum
                pass
    except FileNotFoundError as error:
        raise NotFound(f"{path} does not exist.") from error
    except (tarfile.TarError, zlib.error, EOFError, ValueError, OverflowError, RecursionError) as error:
        raise _damaged(path, str(error)) from error
    except OSError as error:
        if error.errno is None:  # gzip's error for a file in another format
            raise _damaged(path, str(error)) from error
        raise Unavailable(f"{error.filename or path}: {error.strerror}.") from error
    if manifest is None:
        raise _damaged(path, "it is truncated")
    return _compared(path, _parse(path, manifest), found.entries)


class _Entries:
    """The members read so far, whose paths may not fill the memory."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self._leaves: set[str] = set()
        self._folders: set[str] = set()
        self._size = 0

    @property
    def max_manifest(self) -> int:
        """Return the size of the largest manifest that could describe them: a path is escaped in it."""
        return min(MANIFEST_BASE + 6 * self._size + MAX_ENTRY * len(self.entries), MAX_MANIFEST)

    def expect(self, path: str, *, is_folder: bool) -> None:
        """Check the path of the next member: it must be new, and only folders may contain others."""
        self._size += len(path)
        if len(self.entries) == MAX_ENTRIES or self._size > MAX_MANIFEST:
            raise tarfile.TarError(f"it contains more than {MAX_ENTRIES:,} files, or paths that are too long")
        if path in self._leaves or (path in self._folders and not is_folder):
            raise tarfile.TarError(f"it contains {path!r} twice")
        (self._folders if is_folder else self._leaves).add(path)
        self._add_parents(path)

    def _add_parents(self, path: str) -> None:
        folder = path.rpartition("/")[0]
        while folder and folder not in self._folders:
            if folder in self._leaves:
                raise tarfile.TarError(f"it contains files in {folder!r}, which is not a folder")
            self._folders.add(folder)
            folder = folder.rpartition("/")[0]


class _Member(tarfile.TarInfo):
    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> "_Member":
        """Parse a header; reject extended headers that would fill the memory."""
        member = super().frombuf(buf, encoding, errors)
        if member.type not in (*tarfile.REGULAR_TYPES, tarfile.DIRTYPE) and member.size > MAX_HEADER:
            raise tarfile.ReadError("it contains a header that is too large")
        return member


def _read_manifest(tar: tarfile.TarFile, member: tarfile.TarInfo, max_size: int) -> bytes:
    if member.size > max_size:
        raise tarfile.TarError("its manifest is too large")
    content = tar.extractfile(member)
    return content.read() if content else b""


def _take(
    tar: tarfile.TarFile, member: tarfile.TarInfo, where: PurePosixPath, extractor: ArchiveExtractor | None
) -> Entry:
    if member.isdir():
        if extractor:
            extractor.folder(where, member.mode)
        return Entry(path=escaped_name(member.name), kind=Kind.FOLDER, size=0, sha256=NOTHING)
    if member.issym():
        if extractor:
            extractor.link(where, member.linkname)
        return Entry(
            path=escaped_name(member.name), kind=Kind.LINK, size=0, sha256=_hash_target(member.linkname)
        )
    content = cast("IO[bytes]", tar.extractfile(member))  # `check_member` admits no other types
    digest, size = hashlib.sha256(), 0
    with (
        extractor.file(where, member.mode, member.mtime, member.size)
        if extractor
        else contextlib.nullcontext() as target
    ):
        for chunk in _chunks(content):
            digest.update(chunk)
            size += len(chunk)
            if target:
                target.write(chunk)
    return Entry(path=escaped_name(member.name), kind=Kind.FILE, size=size, sha256=digest.hexdigest())


def _parse(path: Path, text: bytes) -> Manifest:
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        if any(problem["loc"] == ("format",) for problem in error.errors()):
            raise Invalid(
                f"{path} was created by a newer Forge; this version reads format {FORMAT} only.",
                hint="Restore it with the version of Forge that created it, or a newer one.",
            ) from error
        raise _damaged(path, "its manifest is invalid") from error


def _compared(path: Path, manifest: Manifest, found: list[Entry]) -> Manifest:
    manifest_file = {entry.path: entry for entry in manifest.entries}
    for entry in found:
        if manifest_file.pop(entry.path, None) != entry:
            raise _damaged(path, f"{entry.path} differs from the manifest")
    if manifest_file:
        raise _damaged(path, f"{next(iter(manifest_file))} is missing")
    return manifest


def _damaged(path: Path, why: str) -> Invalid:
    return Invalid(
        f"{path} is not an intact backup of Forge: {why}.",
        hint="Nothing was changed. Use another backup, or copy this one again.",
    )


def escaped_name(path: str) -> str:
    """Return a name as the manifest contains it: escaped where it is not valid UTF-8."""
    return os.fsencode(path).replace(b"\\", rb"\\").decode("utf-8", "backslashreplace")


def _member(path: str, kind: bytes, *, mode: int = 0o700, mtime: int = 0, size: int = 0) -> tarfile.TarInfo:
    member = tarfile.TarInfo(path)
    member.type, member.mode, member.mtime, member.size = kind, mode, mtime, size
    return member


def _hash_target(target: str) -> str:
    return hash_bytes(os.fsencode(target))


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(CHUNK):
        yield chunk


class _Hashing(io.RawIOBase):
    """Hashes the data read through it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._hash = hashlib.sha256()

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read(size)
        self._hash.update(data)
        return data

    def digest(self) -> str:
        return self._hash.hexdigest()
