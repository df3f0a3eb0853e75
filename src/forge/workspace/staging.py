"""Bringing files of the workspace into git without letting git open them.

git finds out by name what has changed; the content is read here, beneath the root, and handed over. So a name that is
exchanged for a link meanwhile never brings a file from elsewhere into the history.
"""

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from forge.workspace.beneath import READ, Beneath
from forge.workspace.errors import explain
from forge.workspace.paths import Parts, ProtectedNames

MAX_FILE_BYTES = 64 << 20
"""Larger files are left out of the history."""

LINK_MODE, FILE_MODE, PROGRAM_MODE = "120000", "100644", "100755"
_CHUNK = 1 << 20
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EINVAL, errno.ENXIO)
"""Nothing is there, a link came into the path, what was a link is none any more, or it is a socket. Whatever else the
system says is no reason to forget a file."""


@dataclass(frozen=True, slots=True)
class Taken:
    path: bytes
    mode: str | None
    """None: it is not there (any more)."""
    spooled: Path | None = None


def parts_of(path: bytes) -> Parts:
    """As git names it: any bytes but NUL are a name."""
    return tuple(os.fsdecode(path).split("/"))


def take_all(beneath: Beneath, paths: Iterable[bytes], spool: Path, protected: ProtectedNames) -> list[Taken]:
    """Copies of what is there now, in a directory of ours."""
    wanted = (path for path in sorted(set(paths)) if not any(part in protected for part in parts_of(path)))
    taken = (_take(beneath, path, spool / str(number)) for number, path in enumerate(wanted))
    return [one for one in taken if one is not None]


def _take(beneath: Beneath, path: bytes, spooled: Path) -> Taken | None:
    parts = parts_of(path)
    try:
        with beneath.directory(parts[:-1], follow=False) as directory:
            status = os.stat(parts[-1], dir_fd=directory, follow_symlinks=False)
            if stat.S_ISLNK(status.st_mode):
                spooled.write_bytes(os.fsencode(os.readlink(parts[-1], dir_fd=directory)))
                return Taken(path, LINK_MODE, spooled)
            if not stat.S_ISREG(status.st_mode):
                return Taken(path, None)
            return _copy(directory, parts[-1], path, spooled)
    except OSError as error:
        if error.errno not in _GONE:
            raise explain(error, "/".join(parts)) from error
        return Taken(path, None)


def _copy(directory: int, name: str, path: bytes, spooled: Path) -> Taken | None:
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
        return Taken(path, PROGRAM_MODE if status.st_mode & stat.S_IXUSR else FILE_MODE, spooled)
    finally:
        os.close(descriptor)


def index_lines(taken: list[Taken], hashes: list[str]) -> bytes:
    """For `update-index -z --index-info`: what goes first, so that a directory can take the place of a file."""
    gone = [b"0 %s\t%s\0" % (b"0" * 40, one.path) for one in taken if one.mode is None]
    here = (one for one in taken if one.mode is not None)
    return b"".join(gone) + b"".join(
        f"{one.mode} {name}\t".encode() + one.path + b"\0" for one, name in zip(here, hashes, strict=True)
    )


def discard(spool: Path) -> None:
    for spooled in spool.glob("*"):
        with suppress(OSError):
            spooled.unlink()
