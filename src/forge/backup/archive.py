"""The archive itself: a tar with gzip, whose every member is hashed on the way in and compared on the way out."""

import contextlib
import gzip
import hashlib
import io
import os
import tarfile
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Protocol

from pydantic import ValidationError

from forge.backup.models import FORMAT, MANIFEST, Entry, Kind, Manifest
from forge.errors import Invalid, NotFound, Unavailable
from forge.kernel.hashing import hash_bytes

CHUNK = 1 << 20
COMPRESSION = 3
NOTHING = hash_bytes(b"")


class Writer:
    def __init__(self, tar: tarfile.TarFile) -> None:
        self._tar = tar
        self.entries: list[Entry] = []

    def add_file(self, path: str, file: IO[bytes], *, mode: int = 0o600, mtime: int = 0) -> None:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        reading = _Hashing(file)
        self._tar.addfile(_member(path, tarfile.REGTYPE, mode=mode, mtime=mtime, size=size), reading)
        self.entries.append(Entry(path=shown(path), kind=Kind.FILE, size=size, sha256=reading.digest()))

    def add_bytes(self, path: str, data: bytes) -> None:
        self.add_file(path, io.BytesIO(data))

    def add_link(self, path: str, target: str) -> None:
        member = _member(path, tarfile.SYMTYPE)
        member.linkname = target
        self._tar.addfile(member)
        self.entries.append(Entry(path=shown(path), kind=Kind.LINK, size=0, sha256=_hash_target(target)))

    def add_folder(self, path: str, *, mode: int) -> None:
        self._tar.addfile(_member(path, tarfile.DIRTYPE, mode=mode))
        self.entries.append(Entry(path=shown(path), kind=Kind.FOLDER, size=0, sha256=NOTHING))

    def finish(self, manifest: Manifest) -> Manifest:
        whole = manifest.model_copy(update={"entries": self.entries})
        text = whole.model_dump_json(indent=1).encode()
        self._tar.addfile(_member(MANIFEST, tarfile.REGTYPE, size=len(text)), io.BytesIO(text))
        return whole


class Sink(Protocol):
    """Where members go that have a place; `forge backup --verify` has none."""

    def file(
        self, path: PurePosixPath, mode: int, mtime: float
    ) -> contextlib.AbstractContextManager[IO[bytes]]: ...

    def link(self, path: PurePosixPath, target: str) -> None: ...

    def folder(self, path: PurePosixPath, mode: int) -> None: ...


@contextlib.contextmanager
def create_archive(path: Path) -> Generator[Writer]:
    """Written beside its place and for this user alone; it appears when it is whole."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                with (
                    gzip.GzipFile("", "wb", COMPRESSION, file) as packed,
                    tarfile.open(fileobj=packed, mode="w|", format=tarfile.PAX_FORMAT) as tar,
                ):
                    yield Writer(tar)
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
            f"The backup could not be written to {path}: {why}.",
            hint="Nothing was left behind. Choose a place with more room, or one you may write to.",
        )
    return Unavailable(
        f"The backup could not be made: {error.filename}: {why}.", hint="Nothing was left behind."
    )


def read_archive(path: Path, sink: Sink | None = None) -> Manifest:
    """Every member, hashed while it is read; refused as a whole when one is not what the manifest says."""
    found: list[Entry] = []
    manifest: bytes | None = None
    try:
        with gzip.open(path) as packed, tarfile.open(fileobj=packed, mode="r|") as tar:
            for member in tar:
                if member.name == MANIFEST and (told := tar.extractfile(member)):
                    manifest = told.read()
                else:
                    found.append(_take(tar, member, sink))
            while packed.read(CHUNK):  # to its end, where its checksum is
                pass
    except FileNotFoundError as error:
        raise NotFound(f"There is no file {path}.") from error
    except (tarfile.TarError, zlib.error, EOFError, ValueError) as error:
        raise _damaged(path, str(error)) from error
    except OSError as error:
        if error.errno is None:  # what gzip says of a file that is none
            raise _damaged(path, str(error)) from error
        raise Unavailable(f"{error.filename or path}: {error.strerror}.") from error
    if manifest is None:
        raise _damaged(path, "it ends too early")
    return _compared(path, _parse(path, manifest), found)


def _take(tar: tarfile.TarFile, member: tarfile.TarInfo, sink: Sink | None) -> Entry:
    where = PurePosixPath(member.name)
    if where.is_absolute() or ".." in where.parts:
        raise tarfile.TarError(f"it names a file outside: {member.name!r}")
    if member.isdir():
        if sink:
            sink.folder(where, member.mode)
        return Entry(path=shown(member.name), kind=Kind.FOLDER, size=0, sha256=NOTHING)
    if member.issym():
        if sink:
            sink.link(where, member.linkname)
        return Entry(path=shown(member.name), kind=Kind.LINK, size=0, sha256=_hash_target(member.linkname))
    content = tar.extractfile(member)
    if content is None:
        raise tarfile.TarError(f"it has something that is neither file nor folder: {member.name!r}")
    digest, size = hashlib.sha256(), 0
    with sink.file(where, member.mode, member.mtime) if sink else contextlib.nullcontext() as target:
        for chunk in _chunks(content):
            digest.update(chunk)
            size += len(chunk)
            if target:
                target.write(chunk)
    return Entry(path=shown(member.name), kind=Kind.FILE, size=size, sha256=digest.hexdigest())


def _parse(path: Path, text: bytes) -> Manifest:
    try:
        return Manifest.model_validate_json(text)
    except ValidationError as error:
        if any(problem["loc"] == ("format",) for problem in error.errors()):
            raise Invalid(
                f"{path} was made by a newer Forge: this one reads format {FORMAT} only.",
                hint="Restore it with the version of Forge that made it, or a newer one.",
            ) from error
        raise _damaged(path, "its manifest cannot be read") from error


def _compared(path: Path, manifest: Manifest, found: list[Entry]) -> Manifest:
    told = {entry.path: entry for entry in manifest.entries}
    for entry in found:
        if told.pop(entry.path, None) != entry:
            raise _damaged(path, f"{entry.path} is not what was put in")
    if told:
        raise _damaged(path, f"{next(iter(told))} is missing")
    return manifest


def _damaged(path: Path, why: str) -> Invalid:
    return Invalid(
        f"{path} is not a whole backup of Forge: {why}.",
        hint="Nothing was changed. Take another backup, or fetch this one again.",
    )


def shown(path: str) -> str:
    """A name as the manifest has it: a file may have one that is no text."""
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
    """Hashes what is read through it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._hash = hashlib.sha256()

    def read(self, size: int = -1, /) -> bytes:
        data = self._file.read(size)
        self._hash.update(data)
        return data

    def digest(self) -> str:
        return self._hash.hexdigest()
