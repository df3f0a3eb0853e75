"""What can be wrong with a path, a file or a command of git, in the words of the one error tree."""

import errno

from forge.errors import Conflict, Denied, DiskFull, ForgeError, Invalid, NotFound, TooLarge, Unavailable


class PathRefused(Denied):
    """Not a path inside the workspace, or one that is protected."""


class NoSuchPath(NotFound):
    """Nothing is there."""


class NotAFile(Invalid):
    """A directory, link, pipe or device where a file was asked for, or the other way round."""


class FileTooLarge(TooLarge):
    """One file with more bytes than a file may have."""


class QuotaExceeded(TooLarge):
    """The workspace would hold more files or bytes than it may."""


class Changed(Conflict):
    """The file is not the one the caller has seen."""


def explain(error: OSError, path: str) -> ForgeError:
    """What the system said about a path, as an error a person or a model can act on."""
    shown = f"{path[:200]!r}"
    match error.errno:
        case errno.ENOENT:
            return NoSuchPath(f"There is no {shown}.", hint="List the directory to see what is there.")
        case errno.ENOTDIR:
            return NoSuchPath(f"A part of {shown} is not a directory.")
        case errno.EISDIR:
            return NotAFile(f"{shown} is a directory.")
        case errno.ENXIO | errno.ENODEV:
            return NotAFile(f"{shown} is not a regular file.")
        case errno.ENOTEMPTY | errno.EEXIST:
            return Conflict(f"{shown} is a directory with something in it.", hint="Delete its files first.")
        case errno.ELOOP | errno.EXDEV | errno.EACCES | errno.EPERM | errno.ENAMETOOLONG | errno.EINVAL:
            return PathRefused(f"{shown} cannot be used: {error.strerror}.")
        case errno.EROFS:
            return PathRefused("This workspace cannot be written to: its file system is read-only.")
        case errno.ENOSPC | errno.EDQUOT:
            return DiskFull()
        case errno.EFBIG:
            return QuotaExceeded(f"There is no room for {shown}: {error.strerror}.")
        case _:
            return Unavailable(f"{shown} cannot be used now: {error.strerror}.")
