"""Errors of workspace files and paths."""

import errno

from forge.errors import Conflict, Denied, DiskFull, ForgeError, Invalid, NotFound, TooLarge, Unavailable


class PathRefused(Denied):
    """Not a path inside the workspace, or one that is protected."""


class NoSuchPath(NotFound):
    """The path does not exist."""


class NotAFile(Invalid):
    """The path has another type than expected, such as a directory instead of a file."""


class FileTooLarge(TooLarge):
    """A file exceeds the size limit."""


class QuotaExceeded(TooLarge):
    """The workspace would exceed its limit of files or bytes."""


class Changed(Conflict):
    """The file changed since the caller read it."""


def explain(error: OSError, path: str) -> ForgeError:
    """Convert an OSError into an error that a person or a model can act on."""
    shown = f"{path[:200]!r}"
    match error.errno:
        case errno.ENOENT:
            return NoSuchPath(f"{shown} does not exist.", hint="List the directory to see its files.")
        case errno.ENOTDIR:
            return NoSuchPath(f"A part of {shown} is not a directory.")
        case errno.EISDIR:
            return NotAFile(f"{shown} is a directory.")
        case errno.ENXIO | errno.ENODEV:
            return NotAFile(f"{shown} is not a regular file.")
        case errno.ENOTEMPTY | errno.EEXIST:
            return Conflict(f"{shown} is not empty.", hint="Delete its files first.")
        case errno.ELOOP | errno.EXDEV | errno.EACCES | errno.EPERM | errno.ENAMETOOLONG | errno.EINVAL:
            return PathRefused(f"{shown} cannot be used: {error.strerror}.")
        case errno.EROFS:
            return PathRefused("The workspace is on a read-only file system.")
        case errno.ENOSPC | errno.EDQUOT:
            return DiskFull()
        case errno.EFBIG:
            return QuotaExceeded(f"{shown} cannot be written: {error.strerror}.")
        case _:
            return Unavailable(f"{shown} cannot be accessed: {error.strerror}.")
