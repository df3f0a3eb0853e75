"""Packs the files of a skill: those of the library, or of a folder on the machine of whoever types, since the server may
be elsewhere.

Links are not followed, wherever they lead: what is sent is what lies in the folder.
"""

import io
import os
import stat
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from forge.errors import Invalid, NotFound, TooLarge
from forge.skills.contents import LEFT_OUT
from forge.skills.installing.archive import MAX_ENTRIES, MAX_UNPACKED

MAX_FILES = MAX_ENTRIES
MAX_BYTES = MAX_UNPACKED
"""Of all files together: a collection may be large, a home folder given by mistake is larger."""

_WHEN = (1980, 1, 1, 0, 0, 0)
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class FolderContent:
    files: dict[str, bytes]
    """By path, with forward slashes, sorted."""
    left_out: list[str]
    """Links, and what is neither file nor folder."""


def read_folder(folder: Path) -> FolderContent:
    """All of it but what never belongs to a skill, such as `.git` and `node_modules`."""
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
    """The same bytes for the same files. `below` is the name of the folder they are in, inside the archive."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{below}/{path}" if below else path, _WHEN)
            entry.create_system = 3  # Unix, wherever it is made
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(entry, data)
    return packed.getvalue()


def _walk(folder: Path) -> Iterator[tuple[str, bytes | None]]:
    """Path and bytes of each file; None for what is not taken along."""
    try:
        for place, folders, names, directory in os.fwalk(folder, onerror=_unreadable, follow_symlinks=False):
            below = os.path.relpath(place, folder)
            prefix = "" if below == "." else f"{below}/"
            for name in sorted(folders):
                if stat.S_ISLNK(os.lstat(name, dir_fd=directory).st_mode):
                    yield _text(f"{prefix}{name}"), None
            folders[:] = sorted(name for name in folders if name not in LEFT_OUT)
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
        raise Invalid(f"The name of {path!r} is not text in UTF-8.", hint="Give it another name.") from error
    return path


def _unreadable(error: OSError) -> None:
    raise error


def _unusable(error: OSError) -> Invalid:
    return Invalid(f"{error.filename} cannot be read: {error.strerror}.")
