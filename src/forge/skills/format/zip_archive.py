"""Pack and unpack zip archives of skills.

Archives are untrusted: every entry is checked before it is unpacked and its size counted while it is. Nothing is written
to disk. When packing a local folder, links are not followed.
"""

import io
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from forge.errors import Invalid, NotFound, TooLarge
from forge.skills.format.contents import IGNORED_FOLDERS, MAX_ANY_BYTES
from forge.workspace.filesystem.errors import PathRefused
from forge.workspace.filesystem.paths import fold, parse

MAX_ENTRIES = 20_000
MAX_UNPACKED = 64 << 20
MAX_ARCHIVE = 64 << 20
MAX_ENTRY = MAX_ANY_BYTES
MAX_RATIO = 200
RATIO_COUNTS_FROM = 1 << 20
"""Unpacked bytes of an entry: below this, a high ratio is harmless."""

_END = struct.Struct("<4s4H2LH")
_LOCAL = struct.Struct("<4s5H3L2H")
_END_MARK, _END64_MARK, _ENTRY_MARK, _LOCAL_MARK = b"PK\x05\x06", b"PK\x06\x07", b"PK\x01\x02", b"PK\x03\x04"
_END64_BYTES = 20
_MAX_COMMENT = 0xFFFF
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_CHUNK = 1 << 18
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)
_NOT_OURS = "__MACOSX"
"""Metadata folder of macOS."""


def unpack(data: bytes) -> dict[str, bytes]:
    """Return all files of an archive, by path. Raises Invalid, naming the offending entry."""
    if len(data) > MAX_ARCHIVE:
        raise Invalid(f"The archive has more than {MAX_ARCHIVE >> 20} MB.", hint=_SMALLER)
    directory = _find_directory(data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            _check_places(data, entries, directory)
            _check_names(entries)
            return dict(_contents(archive, entries))
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        raise Invalid(f"The archive is damaged: {str(error)[:200]}", hint="Create it again.") from error


_SMALLER = "Pack fewer skills at once."


def _find_directory(data: bytes) -> int:
    """Return where the central directory begins. Its entries are counted before it is parsed."""
    end = data.rfind(_END_MARK, max(0, len(data) - _MAX_COMMENT - _END.size))
    if end < 0 or end + _END.size > len(data):
        raise Invalid("The file is not a zip archive.", hint="Use a .zip that contains skill folders.")
    if end >= _END64_BYTES and data.startswith(_END64_MARK, end - _END64_BYTES):
        raise Invalid("The archive is larger than 4 GB.", hint=_SMALLER)
    _, disk, first_disk, here, count, size, offset, _ = _END.unpack_from(data, end)
    if disk or first_disk or here != count or offset + size != end:
        raise Invalid(
            "The archive contains data outside its list of entries.", hint="Create it again, in one part."
        )
    if max(count, data.count(_ENTRY_MARK, offset, end)) > MAX_ENTRIES:
        raise Invalid(f"The archive has more than {MAX_ENTRIES:,} entries.", hint=_SMALLER)
    return offset


def _check_places(data: bytes, entries: list[zipfile.ZipInfo], directory: int) -> None:
    """Raise Invalid if entries overlap each other or the central directory."""
    by_place = sorted(entries, key=lambda entry: entry.header_offset)
    ends = [entry.header_offset for entry in by_place[1:]] + [directory]
    for entry, most in zip(by_place, ends, strict=True):
        start = entry.header_offset
        if start + _LOCAL.size > most or not data.startswith(_LOCAL_MARK, start):
            raise _refused(entry, "its position is wrong")
        name, extra = _LOCAL.unpack_from(data, start)[-2:]
        if start + _LOCAL.size + name + extra + entry.compress_size > most:
            raise _refused(entry, "it overlaps another entry")


def _check_names(entries: list[zipfile.ZipInfo]) -> None:
    files: dict[str, str] = {}
    for entry in entries:
        _check_kind(entry)
        name = entry.orig_filename
        _check_name(entry, name.removesuffix("/"))
        spelling = "/".join(fold(part) for part in name.rstrip("/").split("/"))
        if entry.is_dir():
            continue
        if spelling in files:
            raise _refused(entry, f"on some systems it is the same file as {files[spelling][:200]!r}")
        files[spelling] = name
    for spelling, name in files.items():
        parts = spelling.split("/")
        for depth in range(1, len(parts)):
            if (other := files.get("/".join(parts[:depth]))) is not None:
                raise Invalid(
                    f"{other[:200]!r} in the archive is both a file and a folder of {name[:200]!r}."
                )


def _check_kind(entry: zipfile.ZipInfo) -> None:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        raise _refused(entry, "it is a link")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise _refused(entry, "it is neither a file nor a folder")
    if entry.flag_bits & _ENCRYPTED:
        raise _refused(entry, "it is encrypted")
    if entry.compress_type not in _METHODS:
        raise _refused(entry, "its compression method is not supported")
    if entry.is_dir() and entry.file_size:
        raise _refused(entry, "it is a folder with content")


def _check_name(entry: zipfile.ZipInfo, name: str) -> None:
    if "\x00" in name:
        raise _refused(entry, "its name contains a NUL character")
    try:
        parts = parse(name)
    except PathRefused as error:
        raise Invalid(f"An archive entry was rejected. {error.message}") from error
    if "/".join(parts) != name:
        raise _refused(entry, "its name is not a plain path")
    for part in parts:
        if ":" in part:
            raise _refused(entry, "its name contains a colon")
        if part.endswith((".", " ")) or _RESERVED.fullmatch(part):
            raise _refused(entry, "its name is not allowed on some systems")


def _contents(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo]) -> Iterator[tuple[str, bytes]]:
    left = MAX_UNPACKED
    for entry in entries:
        if entry.is_dir() or entry.orig_filename.startswith(f"{_NOT_OURS}/"):
            continue
        data = _unpack(archive, entry, left)
        left -= len(data)
        yield entry.orig_filename, data


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, left: int) -> bytes:
    """Unpack an entry, counting bytes instead of trusting the declared size."""
    found = bytearray()
    with archive.open(entry) as source:
        while chunk := source.read(_CHUNK):
            found += chunk
            if len(found) > MAX_ENTRY:
                raise _refused(entry, f"it is larger than {MAX_ENTRY >> 20} MB")
            if len(found) > left:
                raise Invalid(f"The unpacked archive is larger than {MAX_UNPACKED >> 20} MB.", hint=_SMALLER)
            if len(found) > max(RATIO_COUNTS_FROM, MAX_RATIO * entry.compress_size):
                raise _refused(entry, f"its compression ratio exceeds {MAX_RATIO}")
    if len(found) != entry.file_size:
        raise _refused(entry, "its size differs from the declared size")
    return bytes(found)


def _refused(entry: zipfile.ZipInfo, reason: str) -> Invalid:
    return Invalid(f"The archive entry {entry.orig_filename[:200]!r} was rejected: {reason}.")


MAX_FILES = MAX_ENTRIES
MAX_BYTES = MAX_UNPACKED
"""All files together: enough for a large collection, but not for a home folder given by mistake."""

_WHEN = (1980, 1, 1, 0, 0, 0)
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class FolderContent:
    files: dict[str, bytes]
    """By path, with forward slashes, sorted."""
    left_out: list[str]
    """Links and special files."""


def read_folder(folder: Path) -> FolderContent:
    """Read all files except those that are never part of a skill, such as `.git` and `node_modules`."""
    if not folder.is_dir():
        raise NotFound(f"There is no folder {folder}.")
    files: dict[str, bytes] = {}
    left_out: list[str] = []
    total = 0
    for path, data in _walk(folder):
        if data is None:
            left_out.append(path)
            continue
        files[path] = data
        total += len(data)
        if len(files) > MAX_FILES or total > MAX_BYTES:
            raise TooLarge(
                f"{folder} has more than {MAX_FILES:,} files or {MAX_BYTES >> 20} MB.",
                hint="Name the folder of the skill itself.",
            )
    return FolderContent(dict(sorted(files.items())), sorted(left_out))


def pack(files: Mapping[str, bytes], *, below: str = "") -> bytes:
    """Return a reproducible zip. `below` is the folder inside the archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{below}/{path}" if below else path, _WHEN)
            entry.create_system = 3  # Unix, on every platform
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, data)
    return packed.getvalue()


def _walk(folder: Path) -> Iterator[tuple[str, bytes | None]]:
    """Yield path and content of each file; None for links and special files."""
    try:
        for place, folders, names, directory in os.fwalk(folder, onerror=_unreadable, follow_symlinks=False):
            below = os.path.relpath(place, folder)
            prefix = "" if below == "." else f"{below}/"
            for name in sorted(folders):
                if stat.S_ISLNK(os.lstat(name, dir_fd=directory).st_mode):
                    yield _text(f"{prefix}{name}"), None
            folders[:] = sorted(name for name in folders if name not in IGNORED_FOLDERS)
            for name in sorted(names):
                yield _text(f"{prefix}{name}"), _read(name, directory)
    except OSError as error:
        raise _unusable(error) from error


def _read(name: str, directory: int) -> bytes | None:
    if not stat.S_ISREG(os.lstat(name, dir_fd=directory).st_mode):
        return None
    with open(os.open(name, _OPEN, dir_fd=directory), "rb") as file:  # noqa: PTH123 - beneath a descriptor
        return file.read(MAX_BYTES + 1)


def _text(path: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise Invalid(f"The file name {path!r} is not valid UTF-8.", hint="Rename it.") from error
    return path


def _unreadable(error: OSError) -> None:
    raise error


def _unusable(error: OSError) -> Invalid:
    return Invalid(f"{error.filename} cannot be read: {error.strerror}.")
