"""Prevent commands from creating protected names that do not exist.

A read-only mount needs a mount point, so an empty folder is created while commands run and removed after the
last one. Removing it would end the protection of other commands that have it mounted, possibly in other
processes. So each holds a shared lock, which the system releases however the process ends, and only the
holder of an exclusive lock removes it.
"""

import fcntl
import os
import stat
from collections.abc import Generator, Iterable
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from forge.errors import Invalid
from forge.kernel.tree_removal import OPEN_FOLDER
from forge.sandbox.models import PROTECTED

MODE = stat.S_ISVTX | 0o777
"""The sticky bit has no effect on an empty folder; it identifies placeholders of a dead process."""


@contextmanager
def placeholders(workdir: Path, names: Iterable[str]) -> Generator[None]:
    with ExitStack() as stack:
        for path in (workdir / name for name in names):
            if (folder := _hold(path)) is not None:
                stack.callback(_release, path, folder)
        yield


def _hold(path: Path) -> int | None:
    """Open and lock the placeholder; None if something else exists there or its parent does not exist."""
    while (folder := _open(path)) is not None:
        with ExitStack() as stack:
            stack.callback(os.close, folder)
            if not _is_placeholder(path, folder):
                return None
            fcntl.flock(folder, fcntl.LOCK_SH)
            if _is_at(path, folder):  # it was not removed before it was locked
                stack.pop_all()
                return folder
    return None


def _open(path: Path) -> int | None:
    """Open the folder, creating it if needed; None if it is not a readable folder."""
    while path.parent.is_dir():
        try:
            return os.open(path, OPEN_FOLDER)
        except FileNotFoundError:
            _make(path)
        except (NotADirectoryError, PermissionError):
            return None
    return None


def _make(path: Path) -> None:
    try:
        path.mkdir(MODE)
    except FileExistsError:
        return
    except OSError as error:
        raise Invalid(
            f"{path.name} cannot be protected, because {path.parent} is not writable: {error.strerror}",
            field="workdir",
        ) from error


def _is_placeholder(path: Path, folder: int) -> bool:
    """Return whether an empty folder is a placeholder. Any empty `.git` counts; others need the sticky bit."""
    is_ours = path.name in PROTECTED or bool(os.fstat(folder).st_mode & stat.S_ISVTX)
    return is_ours and not os.listdir(folder)  # the open folder, even if its path was replaced


def _is_at(path: Path, folder: int) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(folder), path.lstat())
    return False


def _release(path: Path, folder: int) -> None:
    with suppress(OSError):  # still in use or not empty
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(path, folder):
            path.rmdir()
    os.close(folder)
