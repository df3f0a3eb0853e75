"""Unpacks zip archives with skills. They were made by somebody else: every entry is checked before it is unpacked, and
counted while it is; nothing is written anywhere."""

import io
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator

from forge.errors import Invalid
from forge.skills.contents import MAX_ANY_BYTES
from forge.workspace.errors import PathRefused
from forge.workspace.paths import fold, parse

MAX_ENTRIES = 20_000
MAX_UNPACKED = 64 << 20
MAX_ARCHIVE = 64 << 20
MAX_ENTRY = MAX_ANY_BYTES
MAX_RATIO = 200
RATIO_COUNTS_FROM = 1 << 20
"""Of bytes that come out of one entry: small files of one letter are harmless."""

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
"""Where macOS keeps what only it can use."""


def unpack(data: bytes) -> dict[str, bytes]:
    """All files of an archive, by path. Raises Invalid, naming the entry that is the reason."""
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
        raise Invalid(f"The archive is damaged: {str(error)[:200]}", hint="Make it again.") from error


_SMALLER = "Pack fewer skills at once."


def _find_directory(data: bytes) -> int:
    """Where the list of entries begins. It is counted before it is read."""
    end = data.rfind(_END_MARK, max(0, len(data) - _MAX_COMMENT - _END.size))
    if end < 0 or end + _END.size > len(data):
        raise Invalid("That is no zip archive.", hint="Give a .zip with the folders of skills in it.")
    if end >= _END64_BYTES and data.startswith(_END64_MARK, end - _END64_BYTES):
        raise Invalid("The archive says it is larger than 4 GB.", hint=_SMALLER)
    _, disk, first_disk, here, count, size, offset, _ = _END.unpack_from(data, end)
    if disk or first_disk or here != count or offset + size != end:
        raise Invalid(
            "The archive has more in it than its list of entries tells.", hint="Make it again, in one part."
        )
    if max(count, data.count(_ENTRY_MARK, offset, end)) > MAX_ENTRIES:
        raise Invalid(f"The archive has more than {MAX_ENTRIES:,} entries.", hint=_SMALLER)
    return offset


def _check_places(data: bytes, entries: list[zipfile.ZipInfo], directory: int) -> None:
    """No two entries share their bytes, and none has them in the list."""
    by_place = sorted(entries, key=lambda entry: entry.header_offset)
    ends = [entry.header_offset for entry in by_place[1:]] + [directory]
    for entry, most in zip(by_place, ends, strict=True):
        start = entry.header_offset
        if start + _LOCAL.size > most or not data.startswith(_LOCAL_MARK, start):
            raise _refused(entry, "it is not where the archive says")
        name, extra = _LOCAL.unpack_from(data, start)[-2:]
        if start + _LOCAL.size + name + extra + entry.compress_size > most:
            raise _refused(entry, "it overlaps with another")


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
            raise _refused(entry, f"on some machines it is the same file as {files[spelling][:200]!r}")
        files[spelling] = name
    for spelling, name in files.items():
        parts = spelling.split("/")
        for depth in range(1, len(parts)):
            if (other := files.get("/".join(parts[:depth]))) is not None:
                raise Invalid(f"{other[:200]!r} in the archive is a file, and a folder of {name[:200]!r}.")


def _check_kind(entry: zipfile.ZipInfo) -> None:
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind == stat.S_IFLNK:
        raise _refused(entry, "it is a link")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise _refused(entry, "it is neither a file nor a folder")
    if entry.flag_bits & _ENCRYPTED:
        raise _refused(entry, "it is encrypted")
    if entry.compress_type not in _METHODS:
        raise _refused(entry, "it is packed in an unusual way")
    if entry.is_dir() and entry.file_size:
        raise _refused(entry, "it is a folder with a content")


def _check_name(entry: zipfile.ZipInfo, name: str) -> None:
    if "\x00" in name:
        raise _refused(entry, "its name has a NUL character")
    try:
        parts = parse(name)
    except PathRefused as error:
        raise Invalid(f"An entry of the archive is refused. {error.message}") from error
    if "/".join(parts) != name:
        raise _refused(entry, "its name is not a plain path")
    for part in parts:
        if ":" in part:
            raise _refused(entry, "its name has a colon")
        if part.endswith((".", " ")) or _RESERVED.fullmatch(part):
            raise _refused(entry, "some machines cannot have a file of its name")


def _contents(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo]) -> Iterator[tuple[str, bytes]]:
    left = MAX_UNPACKED
    for entry in entries:
        if entry.is_dir() or entry.orig_filename.startswith(f"{_NOT_OURS}/"):
            continue
        data = _unpack(archive, entry, left)
        left -= len(data)
        yield entry.orig_filename, data


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, left: int) -> bytes:
    """Counted as it comes out, whatever the archive said before."""
    found = bytearray()
    with archive.open(entry) as source:
        while chunk := source.read(_CHUNK):
            found += chunk
            if len(found) > MAX_ENTRY:
                raise _refused(entry, f"it has more than {MAX_ENTRY >> 20} MB")
            if len(found) > left:
                raise Invalid(f"The archive holds more than {MAX_UNPACKED >> 20} MB.", hint=_SMALLER)
            if len(found) > max(RATIO_COUNTS_FROM, MAX_RATIO * entry.compress_size):
                raise _refused(entry, f"it is more than {MAX_RATIO} times as large as it is packed")
    if len(found) != entry.file_size:
        raise _refused(entry, "it is not as large as the archive says")
    return bytes(found)


def _refused(entry: zipfile.ZipInfo, reason: str) -> Invalid:
    return Invalid(f"The entry {entry.orig_filename[:200]!r} of the archive is refused: {reason}.")
